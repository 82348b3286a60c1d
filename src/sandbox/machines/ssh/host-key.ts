import { generateKeyPairSync } from 'node:crypto';

/** A private key in a format that ssh2 reads. */
export function newHostKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'sec1' });
}
