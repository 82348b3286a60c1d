import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { expect, test } from 'vitest';
import { isSigned, type SignedBytes } from './signature.ts';

const content = new TextEncoder().encode('what is signed');
const pairs: [string, { privateKey: KeyObject; publicKey: KeyObject }, SignedBytes['digest']][] = [
  ['ECDSA', generateKeyPairSync('ec', { namedCurve: 'P-256' }), 'sha256'],
  ['RSA', generateKeyPairSync('rsa', { modulusLength: 2048 }), 'sha512'],
  ['Ed25519', generateKeyPairSync('ed25519'), undefined],
];
const lastFlipped = (bytes: Uint8Array) =>
  Uint8Array.from(bytes, (octet, at) => (at === bytes.length - 1 ? octet ^ 1 : octet));
const signedBy = ([, { privateKey, publicKey }, digest]: (typeof pairs)[number]): SignedBytes => ({
  content,
  digest,
  signature: sign(digest, content, privateKey),
  publicKey: publicKey.export({ type: 'spki', format: 'der' }),
});

for (const pair of pairs) {
  const good = signedBy(pair);
  test(`verifies a signature by ${pair[0]}`, () => expect(isSigned(good)).toBe(true));

  test(`rejects a signature by ${pair[0]} that is damaged, of other content or of another key`, () => {
    const other = signedBy(pairs.find(([name]) => name !== pair[0]) ?? pair);
    expect(isSigned({ ...good, signature: lastFlipped(good.signature) })).toBe(false);
    expect(isSigned({ ...good, signature: new Uint8Array() })).toBe(false);
    expect(isSigned({ ...good, content: content.subarray(1) })).toBe(false);
    expect(isSigned({ ...good, publicKey: other.publicKey, digest: other.digest })).toBe(false);
  });
}

test('rejects a key that is none', () => {
  const [good] = pairs.map(signedBy);
  if (good === undefined) throw new Error('there are pairs');
  expect(isSigned({ ...good, publicKey: new Uint8Array([0x30, 0]) })).toBe(false);
  expect(isSigned({ ...good, publicKey: lastFlipped(good.publicKey) })).toBe(false);
});
