import { generateKeyPairSync, sign } from 'node:crypto';
import { toBase64 } from '#base/bytes.ts';
import { bitString, element, integer, oid, sequence, set, utf8String } from '#base/der-write.ts';
import { printPem } from '#base/pem.ts';
import { Secret } from '#base/secret.ts';
import { identity, signer } from '#contract/names.ts';
import type { CertificateSigningRequest } from '#kube/resources.ts';

export interface PreparedRequest {
  object: CertificateSigningRequest;
  /** SEC 1 in PEM form; it never leaves the host. */
  key: Secret;
}

/** The API server refuses to hear of less. What is issued may live shorter all the same: the signer decides. */
const minSeconds = 600;

const usages = ['digital signature', 'client auth', 'key encipherment'];

/** A request for the certificate of this node's agent, with a key made for it alone. */
export function prepareRequest(nodeName: string, durationMs: number): PreparedRequest {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const info = sequence(
    integer([0]),
    subject([
      ['2.5.4.10', identity.agentsGroup],
      ['2.5.4.3', `${identity.agentUserPrefix}${nodeName}`],
    ]),
    publicKey.export({ type: 'spki', format: 'der' }),
    // No attributes: the approver takes no alternative names.
    element(0xa0),
  );
  const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'));
  const request = sequence(info, ecdsaWithSha256, bitString(sign('sha256', info, privateKey)));
  return {
    object: {
      metadata: { generateName: 'csr-' },
      spec: {
        request: toBase64(printPem('CERTIFICATE REQUEST', request)),
        signerName: signer.apiClient,
        usages,
        // Servers before 1.22 do not know it and leave it out.
        expirationSeconds: Math.max(minSeconds, Math.floor(durationMs / 1000)),
      },
    },
    key: new Secret(privateKey.export({ type: 'sec1', format: 'pem' })),
  };
}

function subject(attributes: readonly (readonly [type: string, text: string])[]): Uint8Array {
  return sequence(...attributes.map(([type, text]) => set(sequence(oid(type), utf8String(text)))));
}
