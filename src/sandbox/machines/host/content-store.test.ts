import { readdirSync, statSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { type Content, ContentStore } from './content-store.ts';

let store: ContentStore;
beforeEach(async () => {
  store = await ContentStore.open();
});
afterEach(() => store.close());

const large = (seed = 1, bytes = 100_000) => Buffer.alloc(bytes, seed);
const filesOnDisk = () => readdirSync(store.folder);

async function written(...pieces: [data: Uint8Array, at?: number][]): Promise<Content> {
  const draft = store.draft();
  for (const [data, at] of pieces) await draft.write(data, at);
  return draft.finish();
}

async function allOf(content: Content): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(store.chunks(content)));
}

const sizes = [0, 1, 32 * 1024, 32 * 1024 + 1, 256 * 1024, 256 * 1024 + 1, 1_000_000];
for (const bytes of sizes) {
  test(`returns what was written, ${bytes} bytes, with its size and hash`, async () => {
    const data = randomBytes(bytes);
    const content = await written([data]);
    expect({ bytes: content.bytes, sha256: content.sha256 }).toEqual({ bytes, sha256: sha256(data) });
    expect((await allOf(content)).equals(data)).toBe(true);
  });
}

test('small contents stay in memory, larger ones are on disk', async () => {
  const [small, big] = [await written([large(1, 1000)]), await written([large(1)])];
  expect([small.data?.length, big.data, filesOnDisk().length]).toEqual([1000, undefined, 1]);
});

test('a content that grows out of memory moves to the disk as a whole', async () => {
  const content = await written([large(1, 30_000)], [large(2, 30_000)]);
  expect(content.data).toBeUndefined();
  expect(await allOf(content)).toEqual(Buffer.concat([large(1, 30_000), large(2, 30_000)]));
});

test('equal contents are stored once', async () => {
  const contents = [await written([large()]), await written([large()]), await written([large()])];
  expect(new Set(contents.map(each => each.sha256)).size).toBe(1);
  expect([filesOnDisk().length, store.size]).toEqual([1, 1]);
});

test('content is deleted with its last reference', async () => {
  const [one, other] = [await written([large()]), await written([large()])];
  await store.release(one);
  expect((await allOf(other)).length).toBe(100_000);
  await store.release(other);
  expect([filesOnDisk(), store.size]).toEqual([[], 0]);
});

test('deleted content can be stored again', async () => {
  await store.release(await written([large()]));
  const again = await written([large()]);
  expect(await allOf(again)).toEqual(large());
});

test('content that is stored during its deletion is not lost', async () => {
  const first = await written([large()]);
  const draft = store.draft();
  await draft.write(large());
  const going = store.release(first);
  const second = await draft.finish();
  await going;
  expect(await allOf(second)).toEqual(large());
});

test('another file can share existing content', async () => {
  const content = await written([large()]);
  store.retain(content);
  await store.release(content);
  expect((await allOf(content)).length).toBe(100_000);
});

test('contents in memory are not counted', async () => {
  const content = await written([large(1, 10)]);
  await store.release(content);
  expect(await allOf(content)).toEqual(large(1, 10));
});

const orders: [string, [Uint8Array, number?][], Buffer][] = [
  ['one after another', [[large(1, 40_000)], [large(2, 40_000)]], Buffer.concat([large(1, 40_000), large(2, 40_000)])],
  [
    'back to front',
    [
      [large(2, 40_000), 40_000],
      [large(1, 40_000), 0],
    ],
    Buffer.concat([large(1, 40_000), large(2, 40_000)]),
  ],
  [
    'over each other',
    [[large(1, 60_000)], [large(2, 20_000), 10_000]],
    Buffer.concat([large(1, 10_000), large(2, 20_000), large(1, 30_000)]),
  ],
  ['with a gap, which is zeros', [[large(1, 40_000), 40_000]], Buffer.concat([large(0, 40_000), large(1, 40_000)])],
  [
    'in memory and over each other',
    [[large(1, 100)], [large(2, 10), 50]],
    Buffer.concat([large(1, 50), large(2, 10), large(1, 40)]),
  ],
];
for (const [name, pieces, want] of orders) {
  test(`takes pieces ${name}`, async () => {
    const content = await written(...pieces);
    expect([content.bytes, content.sha256]).toEqual([want.length, sha256(want)]);
    expect((await allOf(content)).equals(want)).toBe(true);
  });
}

const parts: [string, number, number, number][] = [
  ['from the beginning', 0, 10, 10],
  ['from the middle', 50_000, 100, 100],
  ['up to the end and no further', 99_990, 100, 10],
  ['nothing behind the end', 200_000, 10, 0],
];
for (const [name, at, length, want] of parts) {
  for (const bytes of [100_000, 20_000]) {
    test(`reads ${name} of ${bytes} bytes`, async () => {
      const data = randomBytes(bytes);
      const content = await written([data]);
      const start = Math.min(at, bytes);
      const expected = bytes === 100_000 ? want : data.subarray(start, start + length).length;
      const got = await store.read(content, at, length);
      expect(got.length).toBe(expected);
      expect(Buffer.from(got).equals(data.subarray(start, start + length))).toBe(true);
    });
  }
}

test('a discarded draft leaves no file', async () => {
  const draft = store.draft();
  await draft.write(large());
  expect(filesOnDisk()).toHaveLength(1);
  await draft.discard();
  await store.draft().discard();
  expect(filesOnDisk()).toEqual([]);
});

test('reports the number of bytes so far', async () => {
  const draft = store.draft();
  expect(draft.bytes).toBe(0);
  await draft.write(large(1, 10));
  await draft.write(large(1, 10), 100);
  expect(draft.bytes).toBe(110);
  await draft.discard();
});

test('content can be created from bytes', () => {
  expect(store.of(Buffer.from('abc'))).toEqual({ bytes: 3, sha256: sha256('abc'), data: Buffer.from('abc') });
});

test('large files are read in chunks', async () => {
  const content = await written([large(3, 1_000_000)]);
  const lengths = (await Array.fromAsync(store.chunks(content))).map(chunk => chunk.length);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(256 * 1024);
});

test('closing the store deletes its folder', async () => {
  const other = await ContentStore.open();
  const draft = other.draft();
  await draft.write(large());
  await draft.finish();
  expect(statSync(join(other.folder)).isDirectory()).toBe(true);
  await other.close();
  expect(() => statSync(other.folder)).toThrow('ENOENT');
});

test('writes in any order produce the right content', async () => {
  const piece = fc.record({ at: fc.nat(90_000), bytes: fc.integer({ min: 1, max: 20_000 }), seed: fc.nat(255) });
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 6 }), async pieces => {
      const model = Buffer.alloc(Math.max(...pieces.map(({ at, bytes }) => at + bytes)));
      const draft = store.draft();
      for (const { at, bytes, seed } of pieces) {
        await draft.write(Buffer.alloc(bytes, seed), at);
        model.fill(seed, at, at + bytes);
      }
      const content = await draft.finish();
      expect(content.sha256).toBe(sha256(model));
      expect((await allOf(content)).equals(model)).toBe(true);
      await store.release(content);
    }),
    { numRuns: 60 },
  );
  expect(store.size).toBe(0);
});
