import { generateKeyPairSync } from 'node:crypto';

/** A new private key of a type and in a form that the SSH library reads. */
export function newHostKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'sec1' });
}
