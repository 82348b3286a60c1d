import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeText } from '../memory.ts';
import { encodeList, listOf, numberOf, registryType, textOf } from './registry-values.ts';

const utf16 = (text: string) => Buffer.from(text, 'utf16le');

const texts: [string, number, Buffer, string | undefined][] = [
  ['reads a text with its NUL', 1, utf16('abc\0'), 'abc'],
  ['reads a text that somebody wrote without the NUL', 1, utf16('abc'), 'abc'],
  ['reads a text with several NULs', 1, utf16('abc\0\0\0'), 'abc'],
  ['ends at the first NUL, as Windows does', 1, utf16('abc\0def\0'), 'abc'],
  ['drops half a character at the end', 1, Buffer.concat([utf16('abc'), Buffer.of(0x41)]), 'abc'],
  ['reads a single byte as nothing', 1, Buffer.of(0x41), ''],
  ['reads no bytes as an empty text', 1, Buffer.alloc(0), ''],
  ['reads a NUL alone as an empty text', 1, utf16('\0'), ''],
  ['leaves references to variables in a text as they are', 2, utf16('%SystemRoot%\\x\0'), '%SystemRoot%\\x'],
  ['keeps umlauts and characters of two units', 1, utf16('Größe 🪟\0'), 'Größe 🪟'],
  ['takes binary data for no text', 3, utf16('abc\0'), undefined],
  ['takes a number for no text', 4, Buffer.of(1, 0, 0, 0), undefined],
  ['takes a list of texts for no text', 7, utf16('a\0b\0\0'), undefined],
  ['takes a value without a type for no text', 0, utf16('abc\0'), undefined],
];
test.each(texts)('%s', (_, type, data, want) => {
  expect(textOf({ type, data })).toBe(want);
});

const numbers: [string, number, Buffer, number | undefined][] = [
  ['reads a number, lowest byte first', 4, Buffer.of(0x8c, 0x0a, 0, 0), 2700],
  ['reads the greatest number as positive', 4, Buffer.of(255, 255, 255, 255), 4_294_967_295],
  ['takes too few bytes for no number', 4, Buffer.of(1, 0), undefined],
  ['takes too many bytes for no number', 4, Buffer.alloc(8), undefined],
  ['takes a text for no number', 1, Buffer.of(0x31, 0, 0, 0), undefined],
  ['takes a 64-bit number for none of ours', 11, Buffer.alloc(8), undefined],
];
test.each(numbers)('%s', (_, type, data, want) => {
  expect(numberOf({ type, data })).toBe(want);
});

test('writes texts with a NUL, two bytes for each unit', () => {
  expect(encodeText('a')).toEqual(Buffer.of(0x61, 0, 0, 0));
  expect(encodeText('')).toEqual(Buffer.of(0, 0));
});

test('reads any text that it has written', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const clean = text.replaceAll('\0', '');
      expect(textOf({ type: registryType.text, data: encodeText(clean) })).toBe(clean);
    }),
    { numRuns: 200 },
  );
});

test('never fails for any registry value', () => {
  fc.assert(
    fc.property(fc.nat(12), fc.uint8Array({ maxLength: 40 }), (type, bytes) => {
      const value = { type, data: Buffer.from(bytes) };
      expect(['string', 'undefined']).toContain(typeof textOf(value));
      expect(['number', 'undefined']).toContain(typeof numberOf(value));
    }),
    { numRuns: 2000 },
  );
});

const lists: [string, number, Buffer, string[] | undefined][] = [
  ['reads a list', 7, utf16('A=1\0B\0\0'), ['A=1', 'B']],
  ['reads a list without its last NUL', 7, utf16('A=1\0B\0'), ['A=1', 'B']],
  ['reads a list without any NUL at its end', 7, utf16('A=1\0B'), ['A=1', 'B']],
  ['reads an empty list', 7, utf16('\0'), []],
  ['reads no bytes as an empty list', 7, Buffer.alloc(0), []],
  ['does not take a text for a list', 1, utf16('A\0'), undefined],
];
for (const [name, type, data, want] of lists) test(name, () => expect(listOf({ type, data })).toEqual(want));

test('reads every list that it writes', () => {
  const text = fc.string({ minLength: 1 }).filter(each => !each.includes('\0'));
  fc.assert(
    fc.property(fc.array(text), given => {
      expect(listOf({ type: registryType.list, data: encodeList(given) })).toEqual(given);
    }),
  );
});
