import { createPublicKey, type KeyObject, sign } from 'node:crypto';
import { toBase64 } from '#base/bytes.ts';
import { bitString, element, integer, oid, sequence, set, utf8String } from '#base/der-write.ts';
import { printPem } from '#base/pem.ts';
import { certificateSeconds } from '#contract/certificate-lifetime.ts';
import { signer } from '#contract/names.ts';
import type { CertificateSigningRequest } from '#kube/resources.ts';
import type { Subject } from './kept-identity.ts';

const usages = ['digital signature', 'client auth', 'key encipherment'];

/** A request for a client certificate for this subject and key. */
export function prepareRequest(
  { user, group }: Subject,
  key: KeyObject,
  durationMs: number,
): CertificateSigningRequest {
  const info = sequence(
    integer([0]),
    subject([
      ['2.5.4.10', group],
      ['2.5.4.3', user],
    ]),
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    // No attributes: the approver rejects alternative names.
    element(0xa0),
  );
  const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));
  const request = sequence(info, ecdsaWithSha256, bitString(sign('sha256', info, key)));
  return {
    metadata: { generateName: 'csr-' },
    spec: {
      request: toBase64(printPem('CERTIFICATE REQUEST', request)),
      signerName: signer.apiClient,
      usages,
      // Ignored by servers before 1.22.
      expirationSeconds: certificateSeconds(durationMs),
    },
  };
}

function subject(attributes: readonly (readonly [type: string, text: string])[]): Uint8Array {
  return sequence(...attributes.map(([type, text]) => set(sequence(oid(type), utf8String(text)))));
}
