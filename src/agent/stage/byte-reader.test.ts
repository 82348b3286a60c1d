import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ByteReader } from './byte-reader.ts';

async function* chunks(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

test('takes bytes across chunks', async () => {
  const reader = new ByteReader(chunks('ab', '', 'cde', 'f'));
  expect([text(await reader.take(1)), text(await reader.take(3)), text(await reader.take(0))]).toEqual([
    'a',
    'bcd',
    '',
  ]);
  expect([await reader.isAtEnd(), text(await reader.take(2)), await reader.isAtEnd()]).toEqual([false, 'ef', true]);
});

test('is at the end of an empty stream, and of empty chunks', async () => {
  expect(await new ByteReader(chunks()).isAtEnd()).toBe(true);
  expect(await new ByteReader(chunks('', '')).isAtEnd()).toBe(true);
});

test('gives pieces as they come, cut where the count ends', async () => {
  const reader = new ByteReader(chunks('abc', 'def', 'ghi'));
  expect((await Array.fromAsync(reader.pieces(5))).map(text)).toEqual(['abc', 'de']);
  expect((await Array.fromAsync(reader.pieces(4))).map(text)).toEqual(['f', 'ghi']);
});

test('fails when there are fewer bytes than requested', async () => {
  const damaged = { code: 'BUNDLE_DAMAGED', message: expect.stringContaining('ends too early') };
  await expect(new ByteReader(chunks('ab')).take(3)).rejects.toMatchObject(damaged);
  await expect(Array.fromAsync(new ByteReader(chunks('ab')).pieces(3))).rejects.toMatchObject(damaged);
});

test('passes on that the source cannot be read', async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a');
    throw new Error('disk error');
  }
  await expect(new ByteReader(broken()).take(2)).rejects.toThrow('disk error');
});

test('closes the source', async () => {
  let closed = 0;
  async function* source(): AsyncGenerator<Uint8Array> {
    try {
      yield Buffer.from('abc');
    } finally {
      closed += 1;
    }
  }
  const reader = new ByteReader(source());
  await reader.take(1);
  await reader.close();
  expect(closed).toBe(1);
  await new ByteReader({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('unused')) }) }).close();
});

test('keeps the order of bytes for any chunks and counts', async () => {
  const parts = fc.array(fc.string({ maxLength: 5 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(parts, fc.array(fc.nat(6), { maxLength: 8 }), async (given, counts) => {
      const whole = Buffer.from(given.join(''));
      const reader = new ByteReader(chunks(...given));
      let at = 0;
      for (const count of counts) {
        if (at + count > whole.length) break;
        expect(Buffer.from(await reader.take(count))).toEqual(whole.subarray(at, at + count));
        at += count;
      }
    }),
    { numRuns: 200 },
  );
});
