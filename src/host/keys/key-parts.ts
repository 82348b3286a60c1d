import { createPrivateKey, type KeyObject, type webcrypto } from 'node:crypto';
import { AppError } from '#base/errors.ts';
import { type Curve, curves } from '#base/ssh-curves.ts';
import type { PublicKey } from './public-key.ts';
import { fromBigint, toBigint, writeWire } from '#base/ssh-wire.ts';

type Jwk = webcrypto.JsonWebKey;

/** The numbers of a private key of any format. */
export type KeyParts =
  | { kind: 'rsa'; n: bigint; e: bigint; d: bigint; p: bigint; q: bigint; qInverse: bigint }
  | { kind: 'ec'; curve: Curve; point: Uint8Array; d: bigint }
  | { kind: 'ed25519'; seed: Uint8Array; point: Uint8Array };

/** Rejects keys whose numbers do not belong together: no server would accept them. */
export function assembleKey(parts: KeyParts): { publicKey: PublicKey; signer: KeyObject } {
  const signer = createSigner({ rsa: rsaJwk, ec: ecJwk, ed25519: ed25519Jwk }[parts.kind](parts as never));
  if (signer === undefined) throw unreadableKey('is damaged: its numbers do not belong together');
  return { publicKey: publicKeyOf(parts), signer };
}

export function partsOfJwk(jwk: Jwk): KeyParts {
  const bytes = (member: string | undefined) => Buffer.from(member ?? '', 'base64url');
  const number = (member: string | undefined) => toBigint(bytes(member));
  if (jwk.kty === 'RSA') {
    const [n, e, d] = [number(jwk.n), number(jwk.e), number(jwk.d)];
    return { kind: 'rsa', n, e, d, p: number(jwk.p), q: number(jwk.q), qInverse: number(jwk.qi) };
  }
  if (jwk.crv === 'Ed25519') return { kind: 'ed25519', seed: bytes(jwk.d), point: bytes(jwk.x) };
  const curve = curves.find(known => known.jwk === jwk.crv);
  if (curve === undefined) throw unreadableKey('uses a curve that SSH does not support');
  return { kind: 'ec', curve, point: Buffer.concat([Buffer.of(4), bytes(jwk.x), bytes(jwk.y)]), d: number(jwk.d) };
}

export function publicKeyOf(parts: KeyParts): PublicKey {
  if (parts.kind === 'rsa') return publicKey('ssh-rsa', parts.e, parts.n);
  if (parts.kind === 'ed25519') return publicKey('ssh-ed25519', parts.point);
  return publicKey(`ecdsa-sha2-${parts.curve.ssh}`, parts.curve.ssh, parts.point);
}

// Messages never quote the key.
export function unreadableKey(why: string): AppError {
  return new AppError('PRIVATE_KEY_UNREADABLE', `The private key ${why}`, {
    remedy: 'Use an RSA, ECDSA or Ed25519 private key in PEM or OpenSSH format without a passphrase.',
  });
}

type Parts<K extends KeyParts['kind']> = Extract<KeyParts, { kind: K }>;

/** The limit of OpenSSH; larger keys take noticeable time. */
const maxRsaBits = 16_384;

function rsaJwk({ n, e, d, p, q, qInverse }: Parts<'rsa'>): Jwk | undefined {
  if (n.toString(2).length > maxRsaBits) throw unreadableKey(`is an RSA key of more than ${maxRsaBits} bits`);
  const fits =
    p > 2n &&
    q > 2n &&
    p * q === n &&
    d < n &&
    e < n &&
    (d * e) % (p - 1n) === 1n &&
    (d * e) % (q - 1n) === 1n &&
    qInverse < p &&
    (qInverse * q) % p === 1n;
  if (!fits) return undefined;
  const numbers = { n, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: qInverse };
  const members = Object.entries(numbers).map(([name, value]) => [name, base64url(fromBigint(value))]);
  return { kty: 'RSA', ...(Object.fromEntries(members) as Jwk) };
}

function ecJwk({ curve, point, d }: Parts<'ec'>): Jwk | undefined {
  const { size } = curve;
  if (point.length !== 1 + 2 * size || point[0] !== 4) return undefined;
  const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)];
  return { kty: 'EC', crv: curve.jwk, x: base64url(x), y: base64url(y), d: base64url(fromBigint(d, size)) };
}

function ed25519Jwk({ seed, point }: Parts<'ed25519'>): Jwk {
  return { kty: 'OKP', crv: 'Ed25519', d: base64url(seed), x: base64url(point) };
}

/** Undefined for an invalid key: node:crypto compares both halves of EC and Ed25519 keys, but not of RSA keys. */
function createSigner(jwk: Jwk | undefined): KeyObject | undefined {
  if (jwk === undefined) return undefined;
  try {
    return createPrivateKey({ key: jwk, format: 'jwk' });
  } catch {
    return undefined;
  }
}

function publicKey(type: string, ...fields: (string | Uint8Array | bigint)[]): PublicKey {
  return { type, blob: writeWire(type, ...fields) };
}

function base64url(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: 'base64url', omitPadding: true });
}
