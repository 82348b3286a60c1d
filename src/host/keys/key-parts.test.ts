import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { curves } from '#base/ssh-curves.ts';
import { assembleKey, type KeyParts, partsOfJwk, publicKeyOf } from './key-parts.ts';
import { readPublicKey } from '#base/ssh-public-key.ts';

type Parts<K extends KeyParts['kind']> = Extract<KeyParts, { kind: K }>;

const generated: Record<string, KeyObject> = {
  rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey,
  'P-256': generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey,
  'P-384': generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey,
  'P-521': generateKeyPairSync('ec', { namedCurve: 'P-521' }).privateKey,
  ed25519: generateKeyPairSync('ed25519').privateKey,
};
const partsOf = (name: string): KeyParts => partsOfJwk((generated[name] as KeyObject).export({ format: 'jwk' }));
const rsa = partsOf('rsa') as Parts<'rsa'>;
const ec = partsOf('P-256') as Parts<'ec'>;
const otherEc = partsOfJwk(
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
) as Parts<'ec'>;
const ed25519 = partsOf('ed25519') as Parts<'ed25519'>;
const p256 = curves[0]!;

const codeOf = (run: () => unknown): string => {
  const result = attempt(run);
  return result.ok ? 'no error' : result.error.code;
};

const types: [name: string, type: string][] = [
  ['rsa', 'ssh-rsa'],
  ['P-256', 'ecdsa-sha2-nistp256'],
  ['P-384', 'ecdsa-sha2-nistp384'],
  ['P-521', 'ecdsa-sha2-nistp521'],
  ['ed25519', 'ssh-ed25519'],
];
for (const [name, type] of types) {
  test(`signs with an assembled key of type ${type} as with the original`, () => {
    const { signer, publicKey } = assembleKey(partsOf(name));
    const digest = name === 'ed25519' ? null : 'sha256';
    const signature = sign(digest, Buffer.from('challenge'), signer);
    const original = createPublicKey(generated[name] as KeyObject);
    expect(verify(digest, Buffer.from('challenge'), original, signature)).toBe(true);
    expect(publicKey.type).toBe(type);
  });
  test(`writes the public half of ${type} in the form other readers check`, () => {
    const key = publicKeyOf(partsOf(name));
    expect(readPublicKey(key.blob)).toEqual(key);
  });
}

const mismatches: [name: string, parts: KeyParts][] = [
  ['RSA with another modulus', { ...rsa, n: rsa.n + 2n }],
  ['RSA with another exponent', { ...rsa, e: rsa.e + 2n }],
  ['RSA with another private exponent', { ...rsa, d: rsa.d + 2n }],
  ['RSA with a private exponent beyond the modulus', { ...rsa, d: rsa.d + (rsa.p - 1n) * (rsa.q - 1n) * 2n }],
  ['RSA with another first factor', { ...rsa, p: rsa.p + 2n }],
  ['RSA with another second factor', { ...rsa, q: rsa.q + 2n }],
  ['RSA with factors swapped but not their inverse', { ...rsa, p: rsa.q, q: rsa.p }],
  ['RSA with another inverse', { ...rsa, qInverse: rsa.qInverse + 1n }],
  ['RSA with an inverse that is too large', { ...rsa, qInverse: rsa.qInverse + rsa.p }],
  ['RSA of the factors one and itself', { ...rsa, p: 1n, q: rsa.n }],
  ['RSA of the factors itself and one', { ...rsa, p: rsa.n, q: 1n }],
  ['RSA of zeros', { kind: 'rsa', n: 0n, e: 0n, d: 0n, p: 0n, q: 0n, qInverse: 0n }],
  ['RSA without factors', { ...rsa, p: 0n, q: 0n, qInverse: 0n }],
  ['EC with the point of another key', { ...ec, point: otherEc.point }],
  ['EC with the number of another key', { ...ec, d: otherEc.d }],
  ['EC with zero as its number', { ...ec, d: 0n }],
  ['EC with a number beyond the curve', { ...ec, d: 2n ** 256n - 1n }],
  ['EC with a number that takes too many octets', { ...ec, d: 2n ** 256n }],
  ['EC with an empty point', { ...ec, point: new Uint8Array() }],
  ['EC with both empty', { ...ec, point: new Uint8Array(), d: 0n }],
  ['EC with a point in another form', { ...ec, point: Uint8Array.of(6, ...ec.point.subarray(1)) }],
  ['EC with a point that is too long', { ...ec, point: Uint8Array.of(...ec.point, 0) }],
  ['EC of another curve', { ...ec, curve: curves[1]! }],
  ['Ed25519 with the point of another key', { ...ed25519, point: new Uint8Array(32) }],
  ['Ed25519 with a short seed', { ...ed25519, seed: new Uint8Array(31) }],
  ['Ed25519 with a short point', { ...ed25519, point: new Uint8Array(31) }],
];
for (const [name, parts] of mismatches)
  test(`rejects ${name}`, () => expect(codeOf(() => assembleKey(parts))).toBe('PRIVATE_KEY_UNREADABLE'));

test('rejects RSA keys larger than OpenSSH allows', () => {
  const result = attempt(() => assembleKey({ ...rsa, n: 2n ** 16_384n }));
  expect(result.ok ? '' : result.error.message).toContain('16384');
});

test('rejects a curve that SSH does not have', () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
  expect(codeOf(() => partsOfJwk(privateKey.export({ format: 'jwk' })))).toBe('PRIVATE_KEY_UNREADABLE');
});

test('reads a JWK without members as a key that does not fit', () => {
  expect(codeOf(() => assembleKey(partsOfJwk({ kty: 'RSA' })))).toBe('PRIVATE_KEY_UNREADABLE');
  expect(codeOf(() => assembleKey(partsOfJwk({ kty: 'EC', crv: 'P-256' })))).toBe('PRIVATE_KEY_UNREADABLE');
  expect(codeOf(() => assembleKey(partsOfJwk({ kty: 'OKP', crv: 'Ed25519' })))).toBe('PRIVATE_KEY_UNREADABLE');
  expect(codeOf(() => partsOfJwk({}))).toBe('PRIVATE_KEY_UNREADABLE');
});

test('takes an RSA key whose first factor is the smaller one', () => {
  const inverse = modularInverse(rsa.p, rsa.q);
  const swapped: KeyParts = { ...rsa, p: rsa.q, q: rsa.p, qInverse: inverse };
  expect(assembleKey(swapped).publicKey).toEqual(assembleKey(rsa).publicKey);
});

test('pads the coordinates and numbers of EC keys that begin with zeros', () => {
  let small = partsOfJwk(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }));
  for (let tries = 0; tries < 20_000 && (small as Parts<'ec'>).d >> 248n !== 0n; tries += 1)
    small = partsOfJwk(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }));
  const { signer } = assembleKey(small);
  expect(Buffer.from(signer.export({ format: 'jwk' }).d ?? '', 'base64url')).toHaveLength(p256.size);
});

test('handles any small numbers with a key or an AppError', () => {
  const number = fc.bigInt({ min: 0n, max: 40n });
  fc.assert(
    fc.property(fc.tuple(number, number, number, number, number), ([e, d, p, q, qInverse]) => {
      const result = attempt(() => assembleKey({ kind: 'rsa', n: p * q, e, d, p, q, qInverse }));
      expect(result.ok || result.error.code === 'PRIVATE_KEY_UNREADABLE').toBe(true);
    }),
    { numRuns: 20_000 },
  );
});

function modularInverse(value: bigint, modulus: bigint): bigint {
  let [a, b, x, y] = [value % modulus, modulus, 1n, 0n];
  while (b !== 0n) [a, b, x, y] = [b, a % b, y, x - (a / b) * y];
  return ((x % modulus) + modulus) % modulus;
}
