import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromLatin1 } from '#base/bytes.ts';
import { decodeKeys } from './encoding.ts';

const text = 'ssh-ed25519 AAAA André\r\n';
const utf16 = Buffer.from(text, 'utf16le');
const utf8 = Buffer.from(text);

const contents: [name: string, bytes: Uint8Array, was: string | undefined][] = [
  ['UTF-8', utf8, undefined],
  ['UTF-8 with a mark', Buffer.concat([Buffer.of(0xef, 0xbb, 0xbf), utf8]), 'UTF-8 with a byte order mark'],
  ['UTF-16', Buffer.concat([Buffer.of(0xff, 0xfe), utf16]), 'UTF-16'],
  ['UTF-16 in the other order', Buffer.concat([Buffer.of(0xfe, 0xff), Buffer.from(utf16).swap16()]), 'UTF-16'],
];
for (const [name, bytes, was] of contents) {
  test(`reads ${name} as the bytes of UTF-8`, () => {
    const decoded = decodeKeys(Uint8Array.from(bytes));
    expect([decoded?.was, Buffer.from(fromLatin1(decoded?.text ?? '')).toString()]).toEqual([was, text]);
  });
}

const broken: [string, number[]][] = [
  ['half a letter at its end', [0xff, 0xfe, 0x41]],
  ['half a letter in the other order', [0xfe, 0xff, 0x00, 0x41, 0x00]],
  ['half of a pair', [0xff, 0xfe, 0x00, 0xd8, 0x41, 0x00]],
];
for (const [name, bytes] of broken) {
  test(`does not read UTF-16 with ${name}`, () => expect(decodeKeys(Uint8Array.from(bytes))).toBeUndefined());
}

test('keeps all bytes of a file without a mark', () => {
  fc.assert(
    fc.property(fc.uint8Array(), bytes => {
      const decoded = decodeKeys(bytes);
      if (decoded?.was === undefined) expect(decoded && fromLatin1(decoded.text)).toEqual(decoded && bytes);
    }),
  );
});
