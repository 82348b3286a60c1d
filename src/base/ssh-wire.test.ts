import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fromBigint, readWire, toBigint, type WireReader, writeWire } from './ssh-wire.ts';

const hex = (text: string): Uint8Array => Uint8Array.fromHex(text.replaceAll(' ', ''));

const mpints: [value: bigint, encoding: string][] = [
  [0n, '00000000'],
  [1n, '00000001 01'],
  [0x7fn, '00000001 7f'],
  [0x80n, '00000002 0080'],
  [0xffn, '00000002 00ff'],
  [0x100n, '00000002 0100'],
  [0x8000n, '00000003 008000'],
  [0x9a378f9b2e332a7n, '00000008 09a378f9b2e332a7'],
  [2n ** 2048n - 1n, `00000101 00${'ff'.repeat(256)}`],
];

for (const [value, encoding] of mpints) {
  const name = value < 2n ** 64n ? String(value) : `${value.toString(2).length} bits`;
  test(`writes the number ${name} in the shortest form`, () => {
    expect(writeWire(value)).toEqual(Buffer.from(hex(encoding)));
  });
  test(`reads the number ${name}`, () => {
    expect(readWire(hex(encoding), reader => reader.mpint())).toBe(value);
  });
}

const refused: [name: string, bytes: string, read: (reader: WireReader) => unknown][] = [
  ['a number of four octets that ends after three', '000000', reader => reader.uint32()],
  ['a string without its content', '00000001', reader => reader.string()],
  ['a string longer than the input', '00000005 41424344', reader => reader.string()],
  ['a string of 4 GiB', 'ffffffff 41', reader => reader.string()],
  ['a string whose length is cut off', '0000', reader => reader.string()],
  ['a text that is not UTF-8', '00000001 ff', reader => reader.text()],
  ['a negative number', '00000001 80', reader => reader.mpint()],
  ['a number cut off', '00000003 0102', reader => reader.mpint()],
  ['more bytes than there are', '0102', reader => reader.bytes(3)],
  ['bytes left over', '00000001 41 42', reader => reader.string()],
  ['a condition that does not hold', '', reader => reader.require(false)],
  ['a second string that is missing', '00000001 41', reader => [reader.string(), reader.string()]],
];

for (const [name, bytes, read] of refused)
  test(`rejects ${name}`, () => expect(readWire(hex(bytes), read)).toBeUndefined());

const accepted: [name: string, bytes: string, read: (reader: WireReader) => unknown, want: unknown][] = [
  ['an empty string', '00000000', reader => reader.string().length, 0],
  ['the largest number of four octets', 'ffffffff', reader => reader.uint32(), 4_294_967_295],
  ['a text', '00000003 e282ac', reader => reader.text(), '€'],
  ['a number with needless zeros', '00000003 000001', reader => reader.mpint(), 1n],
  ['no bytes at all', '', reader => reader.rest().length, 0],
  ['what is left', '01020304', reader => [reader.bytes(1).length, reader.rest().length], [1, 3]],
  ['two strings in a row', '00000001 41 00000001 42', reader => reader.text() + reader.text(), 'AB'],
  ['a condition that holds', '', reader => reader.require(true), undefined],
];

for (const [name, bytes, read, want] of accepted)
  test(`reads ${name}`, () => expect(readWire(hex(bytes), read)).toEqual(want));

test('rethrows an error that is not about the bytes', () => {
  const bug = () => {
    throw new RangeError('a bug');
  };
  expect(() => readWire(new Uint8Array(), bug)).toThrow(RangeError);
});

test('writes texts and bytes with their length in front', () => {
  expect(writeWire('ssh', Uint8Array.of(1, 2), 5n).toHex()).toBe('000000037373680000000201020000000105');
  expect(writeWire()).toHaveLength(0);
  expect(writeWire('€').toHex()).toBe('00000003e282ac');
});

test('turns whole numbers into octets of at least the size asked for', () => {
  expect(fromBigint(0n).toHex()).toBe('00');
  expect(fromBigint(0n, 2).toHex()).toBe('0000');
  expect(fromBigint(0xabcn).toHex()).toBe('0abc');
  expect(fromBigint(0xabcn, 4).toHex()).toBe('00000abc');
  expect(fromBigint(0xabcden, 1).toHex()).toBe('0abcde');
  expect(toBigint(new Uint8Array())).toBe(0n);
});

test('reads back every number and text it has written', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 600n }), fc.string(), (number, text) => {
      const bytes = writeWire(number, text, fromBigint(number));
      const read = readWire(bytes, reader => [reader.mpint(), reader.text(), toBigint(reader.string())]);
      expect(read).toEqual([number, text, number]);
    }),
    { numRuns: 300 },
  );
});

test('never throws, for any bytes', () => {
  const steps: ((reader: WireReader) => unknown)[] = [
    reader => reader.uint32(),
    reader => reader.string(),
    reader => reader.text(),
    reader => reader.mpint(),
    reader => reader.rest(),
  ];
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 64 }),
      fc.array(fc.constantFrom(...steps), { maxLength: 8 }),
      (bytes, plan) => {
        expect(() => readWire(bytes, reader => plan.map(step => step(reader)))).not.toThrow();
      },
    ),
    { numRuns: 2000 },
  );
});
