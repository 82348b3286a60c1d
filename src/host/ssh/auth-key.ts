import { sign } from 'node:crypto';
import ssh2, { type ParsedKey } from 'ssh2';
import type { PrivateKey } from '../keys/private-key.ts';
import { authorizedKey } from '../keys/public-key.ts';

/** Why a signature was not made. */
export class Sha1Refused extends Error {}

/**
 * A key in the form the SSH library wants. It reads the public half only: it does not know PKCS#8, so we sign for it, and
 * the private half stays where it is.
 */
export function authKey({ publicKey, signer }: PrivateKey): ParsedKey {
  const parsed = ssh2.utils.parseKey(authorizedKey(publicKey));
  if (parsed instanceof Error) throw new Error(`the SSH library does not know keys of type ${publicKey.type}`);
  const signData = (data: Buffer | string, algorithm?: string) => {
    // The library falls back to SHA-1 when a server does not say what it takes.
    if (algorithm === 'sha1') return new Sha1Refused('the host takes RSA signatures with SHA-1 only') as never;
    return sign(digestOf(publicKey.type, algorithm), Buffer.from(data), signer);
  };
  return Object.assign(parsed, { isPrivateKey: () => true, sign: signData });
}

/** The hash an SSH signature is made with; Ed25519 has its own within. */
export function digestOf(keyType: string, algorithm: string | undefined): string | null {
  return digests.get(keyType) ?? (keyType === 'ssh-rsa' ? (algorithm ?? 'sha256') : null);
}

const digests: ReadonlyMap<string, string> = new Map([
  ['ecdsa-sha2-nistp256', 'sha256'],
  ['ecdsa-sha2-nistp384', 'sha384'],
  ['ecdsa-sha2-nistp521', 'sha512'],
]);
