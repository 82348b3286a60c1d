import { createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { inspect } from 'node:util';
import ssh2 from 'ssh2';
import { expect, test } from 'vitest';
import { parsePrivateKey } from '../keys/private-key.ts';
import { authKey, digestOf, Sha1Refused } from './auth-key.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;
const pem = (key: KeyObject, type: 'pkcs1' | 'sec1' | 'pkcs8') => key.export({ format: 'pem', type });
const data = Buffer.from('what the server wants to see signed');

const p256 = ec('P-256');
const p384 = ec('P-384');
const p521 = ec('P-521');
/** Formats the SSH library itself refuses are among them: PKCS#8 of all kinds. */
const keys: [name: string, key: KeyObject, text: string, type: string, algorithm?: string][] = [
  ['RSA in PKCS#1 with SHA-256', rsa, pem(rsa, 'pkcs1'), 'ssh-rsa', 'sha256'],
  ['RSA in PKCS#1 with SHA-512', rsa, pem(rsa, 'pkcs1'), 'ssh-rsa', 'sha512'],
  ['RSA in PKCS#8 with SHA-512', rsa, pem(rsa, 'pkcs8'), 'ssh-rsa', 'sha512'],
  ['P-256 in SEC1', p256, pem(p256, 'sec1'), 'ecdsa-sha2-nistp256'],
  ['P-256 in PKCS#8', p256, pem(p256, 'pkcs8'), 'ecdsa-sha2-nistp256'],
  ['P-384 in SEC1', p384, pem(p384, 'sec1'), 'ecdsa-sha2-nistp384'],
  ['P-384 in PKCS#8', p384, pem(p384, 'pkcs8'), 'ecdsa-sha2-nistp384'],
  ['P-521 in SEC1', p521, pem(p521, 'sec1'), 'ecdsa-sha2-nistp521'],
  ['P-521 in PKCS#8', p521, pem(p521, 'pkcs8'), 'ecdsa-sha2-nistp521'],
  ['Ed25519 in PKCS#8', ed25519, pem(ed25519, 'pkcs8'), 'ssh-ed25519'],
];
for (const [name, key, text, type, algorithm] of keys) {
  test(`signs with ${name}`, () => {
    const auth = authKey(parsePrivateKey(text));
    const signature = auth.sign(data, algorithm);
    expect(auth.type).toBe(type);
    expect(auth.isPrivateKey()).toBe(true);
    expect(verify(digestOf(type, algorithm), data, createPublicKey(key), signature)).toBe(true);
  });
  test(`the SSH library takes ${name} as a key and never gets its private half`, () => {
    const auth = authKey(parsePrivateKey(text));
    expect(ssh2.utils.parseKey(auth as never)).toBe(auth);
    expect(auth.getPrivatePEM()).toBeNull();
    const jwk = key.export({ format: 'jwk' });
    const shownKey = inspect(auth, { depth: null, showHidden: true });
    expect(shownKey).not.toContain('PRIVATE');
    expect(shownKey).not.toContain(jwk.d);
    expect(JSON.stringify(auth)).not.toContain(Buffer.from(jwk.d ?? '', 'base64url').toString('hex'));
  });
  test(`signs texts like bytes with ${name}`, () => {
    const auth = authKey(parsePrivateKey(text));
    const signature = auth.sign(data.toString(), algorithm);
    expect(verify(digestOf(type, algorithm), data, createPublicKey(key), signature)).toBe(true);
  });
}

test('gives the library the public key of the private key', () => {
  const key = parsePrivateKey(pem(rsa, 'pkcs8'));
  expect(Uint8Array.from(authKey(key).getPublicSSH())).toEqual(Uint8Array.from(key.publicKey.blob));
});

test('rejects SHA-1 signatures with an error that the library passes on', () => {
  const result: unknown = authKey(parsePrivateKey(pem(rsa, 'pkcs1'))).sign(data, 'sha1');
  expect(result).toBeInstanceOf(Sha1Refused);
  expect(String(result)).not.toMatch(/PRIVATE|BEGIN/);
});

test('signs RSA with SHA-256 by default', () => {
  const auth = authKey(parsePrivateKey(pem(rsa, 'pkcs1')));
  expect(verify('sha256', data, createPublicKey(rsa), auth.sign(data))).toBe(true);
});

test('fails for an unsupported key type without quoting the key', () => {
  const key = parsePrivateKey(pem(ed25519, 'pkcs8'));
  const strange = { ...key, publicKey: { ...key.publicKey, type: 'ssh-strange' } };
  expect(() => authKey(strange)).toThrow('keys of type ssh-strange');
});

const digestCases: [type: string, algorithm: string | undefined, want: string | null][] = [
  ['ssh-rsa', 'sha256', 'sha256'],
  ['ssh-rsa', 'sha512', 'sha512'],
  ['ssh-rsa', undefined, 'sha256'],
  ['ecdsa-sha2-nistp256', undefined, 'sha256'],
  ['ecdsa-sha2-nistp256', 'sha512', 'sha256'],
  ['ecdsa-sha2-nistp384', undefined, 'sha384'],
  ['ecdsa-sha2-nistp521', undefined, 'sha512'],
  ['ssh-ed25519', undefined, null],
];
test.each(digestCases)('the hash for %s asked for %s is %s', (type, algorithm, want) =>
  expect(digestOf(type, algorithm)).toBe(want),
);
