import { createPublicKey, type KeyObject, verify } from 'node:crypto';

export interface SignedBytes {
  content: Uint8Array;
  signature: Uint8Array;
  /** DER of the SubjectPublicKeyInfo whose private half has signed. */
  publicKey: Uint8Array;
  /** Undefined where the kind of key has one of its own. */
  digest: 'sha256' | 'sha384' | 'sha512' | undefined;
}

/** False as well for a key that is none, such as a point beside its curve. */
export function isSigned({ content, signature, publicKey, digest }: SignedBytes): boolean {
  const key = readKey(publicKey);
  return key !== undefined && verify(digest, content, key, signature);
}

function readKey(spki: Uint8Array): KeyObject | undefined {
  try {
    return createPublicKey({ key: Buffer.from(spki), format: 'der', type: 'spki' });
  } catch {
    return undefined;
  }
}
