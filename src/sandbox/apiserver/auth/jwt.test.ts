import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Claims, jwtKey, signJwt, verifyJwt } from './jwt.ts';

const ec = jwtKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
const claims: Claims = { iss: 'me', sub: 'you', aud: ['them'], exp: 17, text: 'häuser — 家' };

const base64url = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const partsOf = (token: string) => token.split('.') as [string, string, string];
/** A token whose header or body we choose, signed by the key as it should be. */
function forge(header: unknown, body: unknown, key = ec): string {
  const text = `${base64url(header)}.${base64url(body)}`;
  const signature = sign('sha256', Buffer.from(text), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${text}.${signature.toString('base64url')}`;
}

test('a signed token can be read again', () => {
  const token = signJwt(claims, ec);
  expect(verifyJwt(token, ec)).toEqual(claims);
  expect(JSON.parse(Buffer.from(partsOf(token)[0], 'base64url').toString())).toEqual({ alg: 'ES256', kid: ec.id });
});

test('tokens of another key are rejected', () => {
  const other = jwtKey(generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey);
  expect(verifyJwt(signJwt(claims, other), ec)).toBeUndefined();
  expect(other.id).not.toBe(ec.id);
});

test('the id of a key is derived from its public half only', () => {
  expect(jwtKey(ec.privateKey).id).toBe(ec.id);
  expect(ec.id).toMatch(/^[\w-]{43}$/);
});

const good = signJwt(claims, ec);
const [head, body, tail] = partsOf(good);
const publicPem = ec.publicKey.export({ type: 'spki', format: 'pem' });
const hmacHead = base64url({ alg: 'HS256' });

const forgeries: [string, string][] = [
  ['nothing', ''],
  ['one part', head],
  ['two parts', `${head}.${body}`],
  ['four parts', `${good}.${tail}`],
  ['an empty signature', `${head}.${body}.`],
  ['an empty body', `${head}..${tail}`],
  ['no algorithm and no signature', `${base64url({ alg: 'none' })}.${body}.`],
  ['no algorithm and a signature', forge({ alg: 'none' }, claims)],
  ['the algorithm in small letters', forge({ alg: 'es256' }, claims)],
  ['an algorithm for another key', forge({ alg: 'RS256' }, claims)],
  ['no header members', forge({}, claims)],
  ['a header that is a list', forge(['ES256'], claims)],
  ['a header that is no JSON', forge('{', claims)],
  ['a critical extension', forge({ alg: 'ES256', crit: ['exp'] }, claims)],
  ['a body that is a list', forge({ alg: 'ES256' }, [claims])],
  ['a body that is no JSON', forge({ alg: 'ES256' }, '{"iss":')],
  ['a body that is nothing', forge({ alg: 'ES256' }, 'null')],
  [
    'the public key taken for a secret',
    `${hmacHead}.${body}.${createHmac('sha256', publicPem).update(`${hmacHead}.${body}`).digest('base64url')}`,
  ],
  ['padding', `${good}=`],
  ['white space before', ` ${good}`],
  ['a line break behind', `${good}\n`],
  ['white space inside a part', `${head}.${body.slice(0, 4)}\n${body.slice(4)}.${tail}`],
  ['a signature of the wrong length', `${head}.${body}.${tail.slice(0, -4)}`],
  [
    'a signature in DER',
    `${head}.${body}.${sign('sha256', Buffer.from(`${head}.${body}`), ec.privateKey).toString('base64url')}`,
  ],
  ['a signature of zeros', `${head}.${body}.${Buffer.alloc(64).toString('base64url')}`],
  ['the signature of another token', `${head}.${body}.${partsOf(signJwt({ ...claims, exp: 18 }, ec))[2]}`],
  ['bytes that are no text', forge({ alg: 'ES256' }, claims).replace(body, '_w')],
  ['more characters than any token has', `${head}.${'A'.repeat(70_000)}.${tail}`],
];
test.each(forgeries)('rejects %s', (_, token) => expect(verifyJwt(token, ec)).toBeUndefined());

test('accepts other members of the header', () => {
  expect(verifyJwt(forge({ typ: 'JWT', alg: 'ES256', kid: 'x' }, claims), ec)).toEqual(claims);
});

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/ \n';

test('a token with one character changed is never accepted', () => {
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.constantFrom(...alphabet.split('')), (at, character) => {
      fc.pre(good[at] !== character);
      expect(verifyJwt(good.slice(0, at) + character + good.slice(at + 1), ec)).toBeUndefined();
    }),
    { numRuns: 3000 },
  );
});

test('a token with a piece removed, doubled or moved is never accepted', () => {
  const span = fc.tuple(fc.nat(good.length - 1), fc.integer({ min: 1, max: 30 }));
  fc.assert(
    fc.property(span, fc.constantFrom('remove', 'double', 'reverse'), ([from, length], how) => {
      const piece = good.slice(from, from + length);
      const middle = { remove: '', double: piece + piece, reverse: piece.split('').reverse().join('') }[how];
      fc.pre(middle !== piece);
      expect(verifyJwt(good.slice(0, from) + middle + good.slice(from + length), ec)).toBeUndefined();
    }),
    { numRuns: 2000 },
  );
});

test('texts of any kind are refused and never make the reader fail', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), text => {
      expect(verifyJwt(text, ec)).toBeUndefined();
      expect(verifyJwt(`${head}.${text}.${tail}`, ec)).toBeUndefined();
    }),
    { numRuns: 2000 },
  );
});

test('any claims survive signing and verification', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), value => {
      const plain = JSON.parse(JSON.stringify(value)) as Claims;
      expect(verifyJwt(signJwt(plain, ec), ec)).toEqual(plain);
    }),
    { numRuns: 300 },
  );
});
