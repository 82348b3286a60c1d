import { generateKeyPairSync } from 'node:crypto';
import { certificateExtension as extension, distinguishedName, writeCertificate } from '#base/certificate-write.ts';
import { element, namedBits, oid, sequence } from '#base/der-write.ts';
import { Secret } from '#base/secret.ts';

export interface KeyPair {
  /** PEM. */
  certificate: string;
  key: Secret;
}

const dayMs = 86_400_000;
const lifeMs = 3650 * dayMs;
const usage = { digitalSignature: 0, serverAuth: '1.3.6.1.5.5.7.3.1' } as const;

/** A self-signed serving certificate, created at every start and kept in memory only. */
export function selfSigned(name: string, nowMs: number): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = distinguishedName({ commonName: name });
  const fields = {
    issuer: subject,
    subject,
    publicKey: new Uint8Array(publicKey.export({ type: 'spki', format: 'der' })),
    notBefore: nowMs - dayMs,
    notAfter: nowMs + lifeMs,
    extensions: extensions(name),
  };
  return {
    certificate: writeCertificate(fields, privateKey),
    key: new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

function extensions(name: string): Uint8Array[] {
  return [
    extension('2.5.29.19', sequence(), true),
    extension('2.5.29.15', namedBits([usage.digitalSignature]), true),
    extension('2.5.29.37', sequence(oid(usage.serverAuth))),
    extension('2.5.29.17', sequence(element(0x82, new TextEncoder().encode(name)))),
  ];
}
