import { fromBase64, fromUtf8 } from '#base/bytes.ts';
import { sameData } from '#base/compare.ts';
import { attempt } from '#base/errors.ts';
import { parseCertificateRequest } from '#contract/csr-request.ts';
import { certificateSigningRequests } from '#kube/resources.ts';
import { listAt, textAt } from '../object.ts';
import type { AdmissionRequest, Authorizer, StoredObject } from '../ports.ts';
import { forbidden } from '../status.ts';
import { isAllowed } from './is-allowed.ts';
import { isKind } from './is-kind.ts';

const clientSigner = 'kubernetes.io/kube-apiserver-client';

/** Requires permission on the signer to approve and sign, and rejects requests for system:masters. */
export function guardSigners(request: AdmissionRequest, authorizer: Authorizer): void {
  const { resource, operation, subresource, object, old } = request;
  if (!isKind(resource, certificateSigningRequests) || operation === 'delete') return;
  const problem =
    (subresource === '' && operation === 'create' ? mastersProblem(object) : undefined) ??
    (old === undefined ? undefined : signerProblem(request, old, authorizer));
  if (problem !== undefined) throw forbidden(resource, object.metadata.name ?? '', problem);
}

function signerProblem(request: AdmissionRequest, old: StoredObject, authorizer: Authorizer): string | undefined {
  const signer = textAt(old, 'spec.signerName');
  if (request.subresource === 'approval' && !mayUseSigner(request, 'approve', signer, authorizer)) {
    return `user not permitted to approve requests with signerName "${signer}"`;
  }
  const signs = request.subresource === 'status' && !sameResult(request.object, old);
  return signs && !mayUseSigner(request, 'sign', signer, authorizer)
    ? `user not permitted to sign requests with signerName "${signer}"`
    : undefined;
}

/** Permission on the signer or on all signers of its domain. */
function mayUseSigner({ user }: AdmissionRequest, verb: string, signer: string, authorizer: Authorizer): boolean {
  const domain = signer.split('/')[0] ?? '';
  return [signer, `${domain}/*`].some(name =>
    isAllowed(authorizer, user, verb, { group: 'certificates.k8s.io', plural: 'signers', namespace: '', name }),
  );
}

function mastersProblem(object: StoredObject): string | undefined {
  if (textAt(object, 'spec.signerName') !== clientSigner) return undefined;
  const bytes = fromBase64(textAt(object, 'spec.request'));
  const parsed = attempt(() => parseCertificateRequest((bytes && fromUtf8(bytes)) ?? ''));
  if (!parsed.ok) return `failed to parse CSR: ${parsed.error.message}`;
  return parsed.value.organizations.includes('system:masters')
    ? `use of ${clientSigner} signer with system:masters group is not allowed`
    : undefined;
}

function sameResult(one: StoredObject, other: StoredObject): boolean {
  const sameCertificate = textAt(one, 'status.certificate') === textAt(other, 'status.certificate');
  return sameCertificate && sameData(listAt(one, 'status.conditions'), listAt(other, 'status.conditions'));
}
