import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readDer, readOid } from './der.ts';
import {
  bitString,
  boolean,
  element,
  integer,
  namedBits,
  octetString,
  oid,
  sequence,
  set,
  time,
  utf8String,
} from './der-write.ts';

const hex = (bytes: Uint8Array) => bytes.toHex();
const filled = (length: number) => new Uint8Array(length).fill(7);

const cases: [string, Uint8Array, string][] = [
  ['an empty element', element(0x05), '0500'],
  ['parts one after another', element(0x30, [2, 1, 5], Uint8Array.of(4, 0)), '30050201050400'],
  ['a sequence', sequence(boolean(true), boolean(false)), '30060101ff010100'],
  ['an empty set', set(), '3100'],
  ['nought', integer([0]), '020100'],
  ['nought of no octets', integer([]), '020100'],
  ['a number without leading zeros', integer([0, 0, 1, 2]), '02020102'],
  ['a number whose first bit is one', integer(Uint8Array.of(0x80)), '02020080'],
  ['the largest number of one octet', integer([0x7f]), '02017f'],
  ['whole octets of bits', bitString([0xab, 0xcd]), '030300abcd'],
  ['no flags', namedBits([]), '030100'],
  ['the first flag', namedBits([0]), '03020780'],
  ['digital signature and key encipherment', namedBits([0, 2]), '030205a0'],
  ['certificate and CRL signing', namedBits([5, 6]), '03020106'],
  ['a flag in the second octet', namedBits([8]), '0303070080'],
  ['the same flag twice', namedBits([2, 2]), '03020520'],
  ['octets', octetString(Uint8Array.of(1)), '040101'],
  ['a short object identifier', oid('2.5.4.3'), '0603550403'],
  ['an object identifier with large arcs', oid('1.2.840.113549.1.1.11'), '06092a864886f70d01010b'],
  ['a text', utf8String('é'), '0c02c3a9'],
  ['a time before 2050', time(Date.UTC(2049, 11, 31, 23, 59, 59, 999)), `170d${hexOf('491231235959Z')}`],
  ['a time from 2050 on', time(Date.UTC(2050, 0, 1)), `180f${hexOf('20500101000000Z')}`],
];
for (const [name, bytes, want] of cases) test(`writes ${name}`, () => expect(hex(bytes)).toBe(want));

function hexOf(text: string): string {
  return new TextEncoder().encode(text).toHex();
}

const lengths: [number, string][] = [
  [127, '047f'],
  [128, '048180'],
  [255, '0481ff'],
  [256, '04820100'],
  [65_536, '0483010000'],
];
test.each(lengths)('writes the shortest length for %i octets', (length, head) => {
  expect(hex(octetString(filled(length))).slice(0, head.length)).toBe(head);
});

test('what is written can be read again', () => {
  const content = fc.uint8Array({ maxLength: 300 });
  fc.assert(
    fc.property(fc.array(content, { maxLength: 5 }), contents => {
      const [whole] = readDer(sequence(...contents.map(octetString))) ?? [];
      expect(readDer(whole?.content ?? filled(1))?.map(part => [...part.content])).toEqual(
        contents.map(part => [...part]),
      );
    }),
    { numRuns: 500 },
  );
});

test('object identifiers can be read again', () => {
  const arcs = fc.tuple(
    fc.integer({ min: 0, max: 2 }),
    fc.integer({ min: 0, max: 39 }),
    fc.array(fc.nat(2 ** 40), { maxLength: 6 }),
  );
  fc.assert(
    fc.property(arcs, ([first, second, rest]) => {
      const dotted = [first, second, ...rest].join('.');
      expect(readOid(readDer(oid(dotted))?.[0]?.content ?? filled(0))).toBe(dotted);
    }),
    { numRuns: 500 },
  );
});

test('numbers keep their value and stay positive', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 160n }), number => {
      const digits = number.toString(16);
      const written = integer(Uint8Array.fromHex(digits.length % 2 === 0 ? digits : `0${digits}`));
      const [read] = readDer(written) ?? [];
      expect(BigInt(`0x${hex(read?.content ?? filled(0))}`)).toBe(number);
      expect((read?.content[0] ?? 0xff) < 0x80).toBe(true);
    }),
    { numRuns: 500 },
  );
});
