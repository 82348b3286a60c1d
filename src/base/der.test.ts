import { generateKeyPairSync } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type DerElement, derTag, readDer, readOid } from './der.ts';

const bytes = (...values: number[]) => new Uint8Array(values);
const filled = (length: number) => Array.from({ length }, () => 7);

/** An independent writer: tag, shortest length, content. */
function writeDer(tag: number, content: readonly number[]): number[] {
  const length: number[] = [];
  for (let rest = content.length; rest > 0; rest = Math.floor(rest / 256)) length.unshift(rest % 256);
  const octets = content.length < 128 ? [content.length] : [0x80 + length.length, ...length];
  return [tag, ...octets, ...content];
}

const good: [string, number[], [tag: number, length: number][]][] = [
  ['nothing', [], []],
  ['an integer', [0x02, 0x01, 0x05], [[derTag.integer, 1]]],
  ['an empty sequence', [0x30, 0x00], [[derTag.sequence, 0]]],
  [
    'several elements in a row',
    [0x02, 0x01, 0x05, 0x04, 0x00, 0x31, 0x01, 0x00],
    [
      [derTag.integer, 1],
      [derTag.octetString, 0],
      [derTag.set, 1],
    ],
  ],
  ['the longest short length', writeDer(0x04, filled(127)), [[derTag.octetString, 127]]],
  ['the shortest long length', writeDer(0x04, filled(128)), [[derTag.octetString, 128]]],
  ['a length of two octets', writeDer(0x03, filled(256)), [[derTag.bitString, 256]]],
  ['a length of three octets', writeDer(0x03, filled(65_536)), [[derTag.bitString, 65_536]]],
  ['a context tag', [0xa0, 0x02, 0x02, 0x00], [[0xa0, 2]]],
];
for (const [name, octets, want] of good) {
  test(`reads ${name}`, () => {
    expect(readDer(new Uint8Array(octets))?.map(({ tag, content }) => [tag, content.length])).toEqual(want);
  });
}

const bad: [string, number[]][] = [
  ['a tag alone', [0x30]],
  ['a content that is too short', [0x04, 0x02, 0x00]],
  ['a second element cut off', [0x02, 0x01, 0x05, 0x04, 0x05]],
  ['an indefinite length', [0x30, 0x80, 0x00, 0x00]],
  ['a length of more octets than there are', [0x30, 0x82, 0x01]],
  ['a length of five octets', [0x30, 0x85, 0, 0, 0, 0, 1, 0]],
  ['the reserved length', [0x30, 0xff, 0x00]],
  ['a huge length', [0x30, 0x84, 0xff, 0xff, 0xff, 0xff, 0x00]],
  ['a tag of more octets', [0x1f, 0x01, 0x00]],
  ['a short length written long', [0x04, 0x81, 0x01, 0x07]],
  ['a length of 127 written long', [0x04, 0x81, 127, ...filled(127)]],
  ['a length with a leading zero', [0x04, 0x82, 0x00, 0x80, ...filled(128)]],
];
for (const [name, octets] of bad) {
  test(`rejects ${name}`, () => expect(readDer(new Uint8Array(octets))).toBeUndefined());
}

test('keeps the whole encoding of an element beside its content', () => {
  const [element] = readDer(bytes(0x04, 0x02, 0xaa, 0xbb)) ?? [];
  expect([...(element?.whole ?? [])]).toEqual([0x04, 0x02, 0xaa, 0xbb]);
  expect([...(element?.content ?? [])]).toEqual([0xaa, 0xbb]);
});

test('reads a part of a buffer', () => {
  const part = bytes(0xff, 0x02, 0x01, 0x05, 0xff).subarray(1, 4);
  expect(readDer(part)?.map(element => [...element.content])).toEqual([[5]]);
});

test('reads a key made by another writer', () => {
  const spki = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ type: 'spki', format: 'der' });
  const [outer] = readDer(spki) ?? [];
  const [algorithm, key] = readDer(outer?.content ?? bytes()) ?? [];
  const [oid] = readDer(algorithm?.content ?? bytes()) ?? [];
  expect([outer?.tag, algorithm?.tag, key?.tag, oid?.tag]).toEqual([0x30, 0x30, 0x03, 0x06]);
  expect(readOid(oid?.content ?? bytes())).toBe('1.2.840.113549.1.1.1');
});

test('reads what an independent writer wrote', () => {
  const element = fc.record({
    tag: fc.integer({ min: 0, max: 255 }).filter(tag => (tag & 0x1f) !== 0x1f),
    content: fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 300 }),
  });
  fc.assert(
    fc.property(fc.array(element, { maxLength: 5 }), elements => {
      const written = new Uint8Array(elements.flatMap(({ tag, content }) => writeDer(tag, content)));
      const read = readDer(written)?.map(({ tag, content }) => ({ tag, content: [...content] }));
      expect(read).toEqual(elements);
    }),
    { numRuns: 500 },
  );
});

test('takes any bytes without an exception, and what it takes fills them exactly', () => {
  const parts = (list: DerElement[]) => list.flatMap(({ whole }) => [...whole]);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), content => {
      const elements = readDer(content);
      if (elements !== undefined) expect(parts(elements)).toEqual([...content]);
    }),
    { numRuns: 2000 },
  );
});

test('has one encoding only for what it takes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), content => {
      const elements = readDer(content) ?? [];
      for (const { tag, content: inner, whole } of elements) expect(writeDer(tag, [...inner])).toEqual([...whole]);
    }),
    { numRuns: 2000 },
  );
});

const oids: [string, number[]][] = [
  ['2.5.4.3', [0x55, 0x04, 0x03]],
  ['2.5.29.17', [0x55, 0x1d, 0x11]],
  ['1.2.840.113549.1.1.11', [0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x0b]],
  ['1.3.101.112', [0x2b, 0x65, 0x70]],
  ['0.0', [0x00]],
  ['0.39', [0x27]],
  ['1.0', [0x28]],
  ['2.0', [0x50]],
  ['2.999', [0x88, 0x37]],
  ['2.5.128', [0x55, 0x81, 0x00]],
];
for (const [dotted, octets] of oids)
  test(`reads ${dotted}`, () => expect(readOid(new Uint8Array(octets))).toBe(dotted));

const noOids: [string, number[]][] = [
  ['nothing', []],
  ['an arc cut off', [0x55, 0x81]],
  ['an arc with a needless leading octet', [0x55, 0x80, 0x04, 0x03]],
  ['a needless first octet', [0x80, 0x55]],
  ['an arc beyond exact numbers', [0x55, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]],
];
for (const [name, octets] of noOids) {
  test(`is not an object identifier: ${name}`, () => expect(readOid(new Uint8Array(octets))).toBeUndefined());
}

test('reports any two object identifiers apart', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 12 }), fc.uint8Array({ maxLength: 12 }), (one, other) => {
      const [first, second] = [readOid(one), readOid(other)];
      if (first !== undefined && first === second) expect([...one]).toEqual([...other]);
    }),
    { numRuns: 2000 },
  );
});
