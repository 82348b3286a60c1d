import { gzipSync } from 'node:zlib';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { gunzip } from './gzip.ts';

const content = new TextEncoder().encode('apiVersion: kubelet.config.k8s.io/v1\n'.repeat(50));
const packed = new Uint8Array(gzipSync(content));
const text = (bytes: Uint8Array | undefined) => (bytes === undefined ? undefined : new TextDecoder().decode(bytes));

test('unpacks what gzip packed', () => expect(text(gunzip(packed, 10_000))).toBe(text(content)));

test('unpacks an empty file', () => expect(gunzip(gzipSync(''), 10)).toHaveLength(0));

test('unpacks several members in a row, as the format allows', () => {
  expect(text(gunzip(Buffer.concat([gzipSync('one '), gzipSync('two')]), 100))).toBe('one two');
});

test('accepts content of exactly the limit and refuses one byte more', () => {
  expect(gunzip(packed, content.length)).toHaveLength(content.length);
  expect(gunzip(packed, content.length - 1)).toBeUndefined();
});

test('rejects a bomb that would grow a thousandfold', () => {
  const bomb = gzipSync(new Uint8Array(5_000_000));
  expect(bomb.length).toBeLessThan(10_000);
  expect(gunzip(bomb, 1_000_000)).toBeUndefined();
});

const damaged: [string, Uint8Array][] = [
  ['nothing', new Uint8Array()],
  ['plain text', content],
  ['a header only', packed.subarray(0, 10)],
  ['a truncated body', packed.subarray(0, packed.length - 12)],
  ['a missing trailer', packed.subarray(0, packed.length - 8)],
  ['a wrong checksum', packed.map((byte, index) => (index === packed.length - 8 ? byte ^ 1 : byte))],
  ['a wrong length', packed.map((byte, index) => (index === packed.length - 1 ? byte ^ 1 : byte))],
  ['another magic number', packed.map((byte, index) => (index === 0 ? byte ^ 1 : byte))],
  ['another method of compression', packed.map((byte, index) => (index === 2 ? 7 : byte))],
];
for (const [name, bytes] of damaged) {
  test(`gives undefined for ${name}`, () => expect(gunzip(bytes, 100_000)).toBeUndefined());
}

test('a limit of zero rejects all data', () => expect(gunzip(packed, 0)).toBeUndefined());

test('never throws, and gives back any content packed before', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 500 }), bytes => {
      expect(() => gunzip(bytes, 1000)).not.toThrow();
      expect([...(gunzip(gzipSync(bytes), 1000) ?? ['refused'])]).toEqual([...bytes]);
    }),
    { numRuns: 500 },
  );
});
