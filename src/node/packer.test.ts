import { randomBytes } from 'node:crypto';
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { copied, reusing } from '../../test/kit/reused-buffer.ts';
import { Packer } from './packer.ts';

const contents = [
  ['incompressible', randomBytes(2_000_000)],
  ['compressible', Buffer.alloc(2_000_000, 'windows ')],
  ['empty', Buffer.alloc(0)],
  ['one byte', Buffer.from('x')],
] as const;

test.each(contents)('packs %s content', async (_, content) => {
  using packer = new Packer();
  expect(zstdDecompressSync(await copied(packer.pack(reusing(content))))).toEqual(content);
});

test('packs one content after the other, each as if it were the first', async () => {
  using packer = new Packer();
  for (const [, content] of [...contents, ...contents]) {
    using fresh = new Packer();
    const packed = await copied(packer.pack(reusing(content)));
    expect(packed).toEqual(await copied(fresh.pack(reusing(content))));
  }
});

test('packs the next content after one that failed or was not read to its end', async () => {
  using packer = new Packer();
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield randomBytes(500_000);
    throw new Error('disk error');
  }
  await expect(copied(packer.pack(broken()))).rejects.toThrow('disk error');
  for await (const _ of packer.pack(reusing(randomBytes(1_000_000)))) break;
  const content = Buffer.from('still correct');
  expect(zstdDecompressSync(await copied(packer.pack(reusing(content))))).toEqual(content);
});
