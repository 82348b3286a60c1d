import { fromBase64, fromUtf8, toBase64 } from '#base/bytes.ts';
import { timestamp } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { parseCertificateRequest } from '#contract/csr-request.ts';
import { certificateSigningRequests } from '#kube/resources.ts';
import type { CertificateAuthority } from '../auth/ca.ts';
import { readKeyUsages } from '../auth/key-usages.ts';
import { signRequest } from '../auth/signing-request.ts';
import { hasCondition, listAt, memberAt, recordAt, textAt } from '../object.ts';
import type { Controller, LocalApi, StoredObject } from '../ports.ts';
import { signerRules } from './signer-rules.ts';
import { createController } from './worker.ts';

/** Signs approved requests of the built-in signers; never approves. */
export function createCertificateSigner(authority: CertificateAuthority, log?: Log): Controller {
  return createController(
    {
      name: 'certificate-signer',
      resource: certificateSigningRequests,
      reconcile: (key, api) => {
        const request = api.get(certificateSigningRequests, key);
        if (request !== undefined && isWaiting(request)) answer(request, authority, api);
      },
    },
    log,
  );
}

/** Approved, not denied, not failed, and without a certificate. */
function isWaiting(request: StoredObject): boolean {
  const has = (type: string) => hasCondition(request, type);
  return has('Approved') && !has('Denied') && !has('Failed') && textAt(request, 'status.certificate') === '';
}

function answer(request: StoredObject, authority: CertificateAuthority, api: LocalApi): void {
  const signer = textAt(request, 'spec.signerName');
  const rule = Object.hasOwn(signerRules, signer) ? signerRules[signer] : undefined;
  if (rule === undefined) return;
  const text = fromUtf8(fromBase64(textAt(request, 'spec.request')) ?? new Uint8Array()) ?? '';
  const usages = listAt(request, 'spec.usages').filter(usage => typeof usage === 'string');
  const parsed = parseCertificateRequest(text, `CSR ${request.metadata.name}`);
  const problem = rule(parsed, usages);
  if (problem !== undefined) return fail(request, problem, api);
  if (readKeyUsages(usages).unknown.length > 0) return;
  const asked = memberAt(request, 'spec.expirationSeconds');
  const certificate = signRequest(authority, parsed, {
    usages,
    now: api.clock.now(),
    ...(typeof asked === 'number' ? { expirationSeconds: asked } : {}),
  });
  writeStatus(request, { certificate: toBase64(certificate) }, api);
}

function fail(request: StoredObject, message: string, api: LocalApi): void {
  const now = timestamp(api.clock.now());
  const failed = {
    type: 'Failed',
    status: 'True',
    reason: 'SignerValidationFailure',
    message,
    lastUpdateTime: now,
    lastTransitionTime: now,
  };
  writeStatus(request, { conditions: [...listAt(request, 'status.conditions'), failed] }, api);
}

function writeStatus(request: StoredObject, members: Record<string, unknown>, api: LocalApi): void {
  const status = { ...recordAt(request, 'status'), ...members };
  const next: StoredObject = { ...request, status };
  api.replace(certificateSigningRequests, next, { subresource: 'status' });
}
