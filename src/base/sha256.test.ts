import { createHash } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from './sha256.ts';

/** Published test vectors (FIPS 180-2 and the empty message). */
const vectors: [string, string, string][] = [
  ['nothing', '', 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
  ['abc', 'abc', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
  [
    'a message of two blocks',
    'abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq',
    '248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1',
  ],
];
for (const [name, message, want] of vectors) {
  test(`hashes ${name} given as text and as bytes`, () => {
    expect(sha256(message)).toBe(want);
    expect(sha256(new TextEncoder().encode(message))).toBe(want);
  });
}

test('hashes a text as its UTF-8 bytes', () => {
  expect(sha256('Grüße €')).toBe(sha256(new TextEncoder().encode('Grüße €')));
});

test('hashes a part of a buffer, not the buffer behind it', () => {
  const whole = new TextEncoder().encode('xxabcxx');
  expect(sha256(whole.subarray(2, 5))).toBe(sha256('abc'));
});

test('gives 64 lower-case hex digits that agree with the streaming interface', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), bytes => {
      expect(sha256(bytes)).toMatch(/^[0-9a-f]{64}$/);
      expect(sha256(bytes)).toBe(createHash('sha256').update(bytes).digest('hex'));
    }),
  );
});
