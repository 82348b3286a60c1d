import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { fromUtf8 } from '#base/bytes.ts';
import { isRecord } from '#base/fields.ts';

export type Claims = Readonly<Record<string, unknown>>;

/** A P-256 key that signs tokens (ES256). */
export interface JwtKey {
  /** Hash of the public key. */
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
  // JOSE uses the raw signature, not DER.
  const signature = sign('sha256', Buffer.from(signed), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${encodeBytes(signature)}`;
}

/** Claims of a token with a valid signature; expiration and audience are not checked. */
export function verifyJwt(token: string, key: JwtKey): Claims | undefined {
  if (token.length > maxCharacters) return undefined;
  const parts = token.split('.');
  const [head = '', body = '', tail = ''] = parts;
  const header = decodeObject(head);
  const signature = decodeBytes(tail);
  // The algorithm is never taken from the token; unknown critical extensions are rejected.
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

/** Accepts only the canonical encoding: no padding, white space or stray bits. */
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
