import { randomBytes } from 'node:crypto';
import { createGunzip, createGzip, createZstdDecompress, gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { copied, reusing } from '../../test/kit/reused-buffer.ts';
import { transformed } from './transformed.ts';

const content = randomBytes(1_500_000).fill(7, 100_000, 900_000);

test.each([1000, 65_536, 2_000_000])('unpacks chunks of %i bytes whose buffer is reused', async size => {
  expect(await copied(transformed(createGunzip(), reusing(gzipSync(content), size)))).toEqual(content);
  expect(await copied(transformed(createZstdDecompress(), reusing(zstdCompressSync(content), size)))).toEqual(content);
});

test('fails with the error of the source', async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield gzipSync(content).subarray(0, 1000);
    throw new Error('disk error');
  }
  await expect(copied(transformed(createGunzip(), broken()))).rejects.toThrow('disk error');
});

test.each([
  ['is not packed', Buffer.from('no archive')],
  ['ends too early', gzipSync(content).subarray(0, 2000)],
])('fails when the content %s', async (_, packed) => {
  await expect(copied(transformed(createGunzip(), reusing(packed, 1000)))).rejects.toThrow();
});

test('closes the source when the reader stops', async () => {
  let isClosed = false;
  async function* endless(): AsyncGenerator<Uint8Array> {
    try {
      for (;;) yield content;
    } finally {
      isClosed = true;
    }
  }
  for await (const _ of transformed(createGzip(), endless())) break;
  expect(isClosed).toBe(true);
});
