import { generateKeyPairSync } from 'node:crypto';
import { distinguishedName, writeCertificate } from '#base/certificate-write.ts';
import { Secret } from '#base/secret.ts';
import { servingExtensions } from '#base/serving-pair.ts';

export interface KeyPair {
  /** PEM. */
  certificate: string;
  key: Secret;
}

const dayMs = 86_400_000;
const lifeMs = 3650 * dayMs;

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
    extensions: servingExtensions([name]),
  };
  return {
    certificate: writeCertificate(fields, privateKey),
    key: new Secret(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}
