import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  fromBase64,
  fromLatin1,
  fromUtf8,
  sameBytes,
  textFromBase64,
  textFromCanonicalBase64,
  toBase64,
  toLatin1,
} from './bytes.ts';

const bytes = (...values: number[]) => new Uint8Array(values);
const utf8 = (text: string) => new TextEncoder().encode(text);

const good: [string, string, Uint8Array][] = [
  ['nothing', '', bytes()],
  ['one byte', 'Zg==', utf8('f')],
  ['two bytes', 'Zm8=', utf8('fo')],
  ['three bytes', 'Zm9v', utf8('foo')],
  ['the last characters of the alphabet', '+/+/', bytes(0xfb, 0xff, 0xbf)],
  ['line breaks of Linux', 'Zm9v\nYmFy\n', utf8('foobar')],
  ['line breaks of Windows', 'Zm9v\r\nYmFy\r\n', utf8('foobar')],
  ['a line break inside a group', 'Zm\n9v', utf8('foo')],
  ['a line break between the padding', 'Zg=\n=', utf8('f')],
  ['bits beyond the last byte, as Go does', 'Zh==', utf8('f')],
];
for (const [name, text, want] of good) {
  test(`decodes base64: ${name}`, () => expect(fromBase64(text)).toEqual(want));
}

const bad: [string, string][] = [
  ['no padding', 'Zg'],
  ['too little padding', 'Zg='],
  ['too much padding', 'Zm9v===='],
  ['padding alone', '===='],
  ['three padding characters', 'Z==='],
  ['padding in the middle', 'Zg==Zm9v'],
  ['a lone padding character', '='],
  ['one character too many', 'Zm9vZ'],
  ['the alphabet for URLs', '-_-_'],
  ['blanks', 'Zm9v Zm9v'],
  ['a tab', 'Zm9\t'],
  ['another character', 'Zm9!'],
  ['a letter beyond ASCII', 'Zmü='],
];
for (const [name, text] of bad) test(`refuses as base64: ${name}`, () => expect(fromBase64(text)).toBeUndefined());

test('decodes what it encoded, and never throws for any text', () => {
  fc.assert(
    fc.property(fc.uint8Array(), fc.string({ unit: 'binary' }), (content, text) => {
      expect(fromBase64(toBase64(content))).toEqual(content);
      expect(toBase64(content)).toBe(Buffer.from(content).toString('base64'));
      expect(() => fromBase64(text)).not.toThrow();
    }),
    { numRuns: 2000 },
  );
});

test('rejects any text that is not base64 with padding, and takes all that is', () => {
  const characters = fc.string({ unit: fc.constantFrom('A', 'z', '9', '+', '/', '=', '-', ' '), maxLength: 12 });
  fc.assert(
    fc.property(characters, text => {
      const isBase64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text);
      expect(fromBase64(text) !== undefined).toBe(isBase64);
    }),
    { numRuns: 2000 },
  );
});

test('encodes a text as its UTF-8 bytes', () => {
  expect(toBase64('Grüße')).toBe('R3LDvMOfZQ==');
  expect(toBase64(utf8('Grüße'))).toBe('R3LDvMOfZQ==');
  expect(toBase64('')).toBe('');
});

test('encodes a part of a buffer only', () => expect(toBase64(utf8('xxfooxx').subarray(2, 5))).toBe('Zm9v'));

const texts: [string, Uint8Array, string | undefined][] = [
  ['nothing', bytes(), ''],
  ['ASCII', utf8('core'), 'core'],
  ['two, three and four bytes', utf8('ü€😀'), 'ü€😀'],
  ['the zero byte', bytes(0x61, 0, 0x62), 'a\0b'],
  ['a byte order mark, which stays', bytes(0xef, 0xbb, 0xbf, 0x61), '\ufeffa'],
  ['a continuation byte alone', bytes(0x80), undefined],
  ['a sequence cut short', bytes(0xe2, 0x82), undefined],
  ['an overlong encoding', bytes(0xc0, 0xaf), undefined],
  ['half a surrogate pair', bytes(0xed, 0xa0, 0x80), undefined],
  ['a byte that never occurs', bytes(0xff), undefined],
  ['UTF-16', bytes(0xff, 0xfe, 0x61, 0x00), undefined],
];
for (const [name, content, want] of texts) test(`reads UTF-8: ${name}`, () => expect(fromUtf8(content)).toBe(want));

test('a refused text does not spoil the next one', () => {
  expect([fromUtf8(bytes(0xe2, 0x82)), fromUtf8(utf8('€')), fromUtf8(bytes(0xac))]).toEqual([
    undefined,
    '€',
    undefined,
  ]);
});

test('gives every text back from its bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => fromUtf8(utf8(text)) === text.toWellFormed()),
    { numRuns: 2000 },
  );
});

test('never throws for bytes that are no text, and loses none of those that are', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), content => {
      const text = fromUtf8(content);
      if (text !== undefined) expect(utf8(text)).toEqual(content);
    }),
    { numRuns: 2000 },
  );
});

const pairs: [string, Uint8Array, Uint8Array, boolean][] = [
  ['nothing and nothing', bytes(), bytes(), true],
  ['equal bytes', bytes(1, 2), bytes(1, 2), true],
  ['another last byte', bytes(1, 2), bytes(1, 3), false],
  ['a beginning', bytes(1, 2), bytes(1), false],
  ['an end with zeros', bytes(1), bytes(1, 0), false],
  ['equal bytes in a Buffer', bytes(1, 2), Buffer.from([1, 2]), true],
];
for (const [name, one, other, want] of pairs) {
  test(`${name} are ${want ? 'the same' : 'different'}`, () => {
    expect([sameBytes(one, other), sameBytes(other, one)]).toEqual([want, want]);
  });
}

const encodedTexts: [string, string, string | undefined][] = [
  ['a text', 'c2VzYW1l', 'sesame'],
  ['nothing', '', ''],
  ['letters beyond ASCII', 'w7w=', 'ü'],
  ['what is no base64', '%%%', undefined],
  ['bytes that are no text', '/w==', undefined],
];
for (const [name, encoded, want] of encodedTexts) {
  test(`a text in base64: ${name}`, () => expect(textFromBase64(encoded)).toBe(want));
}

const canonical: [string, string, string | undefined][] = [
  ['as encoders write it', 'aGVsbG8=', 'hello'],
  ['of nothing', '', ''],
  ['with a line break', 'aGVs\nbG8=', undefined],
  ['with a line break at the end', 'aGVsbG8=\n', undefined],
  ['with stray bits at the end', 'aGVsbG9=', undefined],
  ['without padding', 'aGVsbG8', undefined],
  ['of something that is no text', '/w==', undefined],
];
for (const [name, encoded, want] of canonical) {
  test(`a text in canonical base64: ${name}`, () => expect(textFromCanonicalBase64(encoded)).toBe(want));
}

test('every text has one canonical base64', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.base64String(), (text, encoded) => {
      expect(textFromCanonicalBase64(toBase64(text))).toBe(text);
      const read = textFromCanonicalBase64(encoded);
      if (read !== undefined) expect(toBase64(read)).toBe(encoded);
    }),
  );
});

test('a text of Latin-1 has one character for each byte, and gives them back', () => {
  fc.assert(
    fc.property(fc.uint8Array(), all => {
      const part = all.subarray(1);
      expect(toLatin1(part)).toHaveLength(part.length);
      expect(fromLatin1(toLatin1(part))).toEqual(Uint8Array.from(part));
    }),
  );
});
