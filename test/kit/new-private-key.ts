import { generateKeyPairSync } from 'node:crypto';

/** A private key of an administrator, in PEM form. */
export function newPrivateKey(): string {
  return generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
}
