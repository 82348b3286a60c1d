import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { fromUtf8 } from '#base/bytes.ts';
import { isRecord } from '#base/fields.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** A P-256 key that signs tokens (ES256). */
export interface JwtKey {
  /** Derived from the public key, so that a reader of several keys finds the right one. */
  id: string;
  privateKey: KeyObject;
  publicKey: KeyObject;
}

// Tokens are read before authentication; the limit keeps hostile ones from costing time.
const maxCharacters = 65_536;
const algorithm = 'ES256';

export function jwtKey(privateKey: KeyObject): JwtKey {
  const publicKey = createPublicKey(privateKey);
  const der = publicKey.export({ type: 'spki', format: 'der' });
  return { id: encodeBytes(createHash('sha256').update(der).digest()), privateKey, publicKey };
}

export function signJwt(claims: Claims, key: JwtKey): string {
  const signed = `${encode({ alg: algorithm, kid: key.id })}.${encode(claims)}`;
  // JOSE wants both numbers of an ECDSA signature side by side, not in DER.
  const signature = sign('sha256', Buffer.from(signed), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${encodeBytes(signature)}`;
}

/** The claims of a token that this key has signed; undefined for everything else. Says nothing of time or audience. */
export function verifyJwt(token: string, key: JwtKey): Claims | undefined {
  if (token.length > maxCharacters) return undefined;
  const parts = token.split('.');
  const [head = '', body = '', tail = ''] = parts;
  const header = decodeObject(head);
  const signature = decodeBytes(tail);
  // The algorithm is ours to choose, never the token's; a critical extension would be one we do not know.
  const known = parts.length === 3 && header?.['alg'] === algorithm && !Object.hasOwn(header, 'crit');
  if (!known || signature === undefined) return undefined;
  const verifier = { key: key.publicKey, dsaEncoding: 'ieee-p1363' as const };
  return verify('sha256', Buffer.from(`${head}.${body}`), verifier, signature) ? decodeObject(body) : undefined;
}

function encode(value: unknown): string {
  return encodeBytes(new TextEncoder().encode(JSON.stringify(value)));
}

function encodeBytes(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: 'base64url', omitPadding: true });
}

/** One way to write each value: no padding, no white space, no stray bits at the end. */
function decodeBytes(text: string): Uint8Array | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(text)) return undefined;
  try {
    const bytes = Uint8Array.fromBase64(text, { alphabet: 'base64url' });
    return encodeBytes(bytes) === text ? bytes : undefined;
  } catch {
    return undefined;
  }
}

function decodeObject(text: string): Record<string, unknown> | undefined {
  const bytes = decodeBytes(text);
  const json = bytes === undefined ? undefined : fromUtf8(bytes);
  if (json === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
