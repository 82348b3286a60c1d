import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { parseHeader, preambleBytes, readPreamble } from '#contract/bundle.ts';
import { type BundleFile, packContent } from './bundle.ts';
import { BundleHashCache } from './bundle-hash-cache.ts';

async function file(path: string, text: string, onRead: () => void = () => undefined): Promise<BundleFile> {
  const packed = await packContent(Buffer.from(text));
  return {
    path,
    secret: false,
    ...packed,
    packed: () => {
      onRead();
      return packed.packed();
    },
  };
}
const bytesOf = async (chunks: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(chunks));

test('knows hash and size of what will be sent', async () => {
  const files = [await file('C:\\k\\a', 'a'.repeat(1000)), await file('C:\\k\\b', 'b')];
  const bundle = await new BundleHashCache().prepare({ version: 'v1', files, remove: ['C:\\k\\c'] });
  const sent = await bytesOf(bundle.chunks());
  expect([bundle.bytes, bundle.sha256]).toEqual([sent.length, sha256(sent)]);
  const header = parseHeader(
    sent.subarray(preambleBytes, preambleBytes + readPreamble(sent.subarray(0, preambleBytes))),
  );
  expect(header).toMatchObject({ version: 'v1', remove: ['C:\\k\\c'] });
  expect(header.entries.map(({ path }) => path)).toEqual(['C:\\k\\a', 'C:\\k\\b']);
});

test('an empty one is one, too', async () => {
  const bundle = await new BundleHashCache().prepare({ version: 'v1', files: [] });
  expect(sha256(await bytesOf(bundle.chunks()))).toBe(bundle.sha256);
});

test('reads the same content once, however many hosts need it at once', async () => {
  let reads = 0;
  const files = [await file('C:\\k\\a', 'a', () => void (reads += 1))];
  const hashes = new BundleHashCache();
  const all = await Promise.all(Array.from({ length: 10 }, () => hashes.prepare({ version: 'v1', files: [...files] })));
  expect(reads).toBe(1);
  expect(new Set(all.map(one => one.sha256)).size).toBe(1);
});

test('another content, version or removal is another bundle', async () => {
  const hashes = new BundleHashCache();
  const [one, other] = [await file('C:\\k\\a', 'a'), await file('C:\\k\\a', 'b')];
  const bundles = await Promise.all([
    hashes.prepare({ version: 'v1', files: [one] }),
    hashes.prepare({ version: 'v1', files: [other] }),
    hashes.prepare({ version: 'v2', files: [one] }),
    hashes.prepare({ version: 'v1', files: [one], remove: ['C:\\k\\b'] }),
  ]);
  expect(new Set(bundles.map(bundle => bundle.sha256)).size).toBe(4);
});

test('a file that could not be read is read again the next time', async () => {
  let left = 1;
  const files = [
    await file('C:\\k\\a', 'a', () => {
      if (left-- > 0) throw new Error('EIO');
    }),
  ];
  const hashes = new BundleHashCache();
  await expect(hashes.prepare({ version: 'v1', files })).rejects.toThrow('EIO');
  await hashes.prepare({ version: 'v1', files });
});

test('does not remember without end', async () => {
  let reads = 0;
  const counted = await file('C:\\k\\a', 'a', () => void (reads += 1));
  const hashes = new BundleHashCache();
  await hashes.prepare({ version: 'first', files: [counted] });
  const plain = [await file('C:\\k\\b', 'b')];
  for (let number = 0; number < 256; number += 1) await hashes.prepare({ version: `v${number}`, files: plain });
  await hashes.prepare({ version: 'first', files: [counted] });
  expect(reads).toBe(2);
});

test('refuses a file for a place where none may go', async () => {
  const files = [await file('C:\\Windows\\a', 'a')];
  await expect(new BundleHashCache().prepare({ version: 'v1', files })).rejects.toMatchObject({
    code: 'BUNDLE_MALFORMED',
  });
});

test('notices a file that was packed into other bytes of the same length, and hashes the bundle again', async () => {
  const one = await file('C:\\k\\a', 'a');
  let bytes = Buffer.from('a');
  const files = [
    {
      ...one,
      packed: async function* now() {
        yield bytes;
      },
    },
  ];
  const hashes = new BundleHashCache();
  const before = await hashes.prepare({ version: 'v1', files });
  await before.check();
  bytes = Buffer.from('b');
  await expect(before.check()).rejects.toMatchObject({ code: 'PAYLOAD_DAMAGED' });
  const after = await hashes.prepare({ version: 'v1', files });
  expect(after.sha256).not.toBe(before.sha256);
  await after.check();
});
