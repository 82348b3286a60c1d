import { sign } from 'node:crypto';
import ssh2, { type ParsedKey } from 'ssh2';
import { curves } from '#base/ssh-curves.ts';
import type { PrivateKey } from '../keys/private-key.ts';
import { authorizedKey } from '../keys/public-key.ts';

export class Sha1Refused extends Error {}

/**
 * A key in the form of the SSH library. The library cannot read PKCS#8, so it gets the public half only and `signer`
 * signs for it.
 */
export function authKey({ publicKey, signer }: PrivateKey): ParsedKey {
  const parsed = ssh2.utils.parseKey(authorizedKey(publicKey));
  if (parsed instanceof Error) throw new Error(`the SSH library does not know keys of type ${publicKey.type}`);
  const signData = (data: Buffer | string, algorithm?: string) => {
    // The library falls back to SHA-1 when a server does not list its signature algorithms.
    if (algorithm === 'sha1') return new Sha1Refused('the host accepts RSA signatures with SHA-1 only') as never;
    return sign(digestOf(publicKey.type, algorithm), Buffer.from(data), signer);
  };
  return Object.assign(parsed, { isPrivateKey: () => true, sign: signData });
}

/** The hash of an SSH signature; null for Ed25519, which has its own. */
export function digestOf(keyType: string, algorithm: string | undefined): string | null {
  if (keyType === 'ssh-rsa') return algorithm ?? 'sha256';
  return curves.find(({ ssh }) => keyType === `ecdsa-sha2-${ssh}`)?.digest ?? null;
}
