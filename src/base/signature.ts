import { createPublicKey, type KeyObject, verify } from 'node:crypto';

export interface SignedBytes {
  content: Uint8Array;
  signature: Uint8Array;
  /** DER of the SubjectPublicKeyInfo. */
  publicKey: Uint8Array;
  /** Undefined for Ed25519, which has its own. */
  digest: 'sha256' | 'sha384' | 'sha512' | undefined;
}

/** Also false for an invalid key, such as a point that is not on its curve. */
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
