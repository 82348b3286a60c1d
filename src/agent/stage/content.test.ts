import { randomBytes } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { type Expected, unpacked, verified } from './content.ts';

const plain = Buffer.from('content '.repeat(200_000));
const path = 'C:\\k\\kubelet.exe';

interface Packed {
  bytes: Buffer;
  expected: Expected;
}

const none = (content: Buffer): Packed => ({
  bytes: content,
  expected: { path, sha256: sha256(content), bytes: content.length, encoding: 'none' },
});
const zstd = (content: Buffer): Packed => ({
  bytes: zstdCompressSync(content),
  expected: { ...none(content).expected, encoding: 'zstd' },
});

/** In pieces of every size from 1 up. */
async function* pieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0, size = 1; at < bytes.length; at += size, size = Math.min(size * 3, 60_000)) {
    yield bytes.subarray(at, at + size);
  }
}

const collect = async (chunks: AsyncIterable<Uint8Array>) => Buffer.concat(await Array.fromAsync(chunks));

const good: [string, Packed, Buffer][] = [
  ['what is not packed', none(plain), plain],
  ['what is packed', zstd(plain), plain],
  ['nothing', none(Buffer.alloc(0)), Buffer.alloc(0)],
  ['nothing, packed', zstd(Buffer.alloc(0)), Buffer.alloc(0)],
  ['noise', zstd(Buffer.from(sha256('noise').repeat(999), 'hex')), Buffer.from(sha256('noise').repeat(999), 'hex')],
];
for (const [name, { bytes, expected }, content] of good) {
  test(`unpacks ${name}`, async () => expect(await collect(unpacked(pieces(bytes), expected))).toEqual(content));
  test(`passes ${name} unchanged`, async () => {
    expect(await collect(verified(pieces(bytes), expected))).toEqual(bytes);
  });
}

const packed = zstd(plain);
const bad: [string, Buffer, Expected, RegExp][] = [
  [
    'another content',
    none(Buffer.from('abd')).bytes,
    none(Buffer.from('abc')).expected,
    /has the hash [0-9a-f]{64}, not/,
  ],
  ['less content', Buffer.from('ab'), none(Buffer.from('abc')).expected, /has 2 bytes, not 3/],
  ['more content', Buffer.from('abcd'), none(Buffer.from('abc')).expected, /has more than 3 bytes/],
  ['no content', Buffer.alloc(0), none(Buffer.from('abc')).expected, /has 0 bytes, not 3/],
  ['packed content cut short', packed.bytes.subarray(0, -7), packed.expected, /cannot be unpacked|has \d+ bytes/],
  ['packed content of nothing', Buffer.alloc(0), packed.expected, /cannot be unpacked|has 0 bytes/],
  ['what is not packed at all', plain, packed.expected, /cannot be unpacked/],
  ['a changed byte', Buffer.from(packed.bytes).fill(0xff, 20, 30), packed.expected, /content for C:\\k\\kubelet\.exe/],
  ['packed content that grows', zstd(Buffer.alloc(50_000_000)).bytes, packed.expected, /has more than 1600000 bytes/],
];
for (const [name, bytes, expected, message] of bad) {
  const damaged = { code: 'BUNDLE_DAMAGED', message: expect.stringMatching(message) };
  test(`does not unpack ${name}`, async () => {
    await expect(collect(unpacked(pieces(bytes), expected))).rejects.toMatchObject(damaged);
  });
  test(`rejects ${name}`, async () => {
    await expect(collect(verified(pieces(bytes), expected))).rejects.toMatchObject(damaged);
  });
}

const readers: [string, typeof unpacked][] = [
  ['unpacking', unpacked],
  ['passing on', verified],
];
for (const [name, read] of readers) {
  test(`${name} ends when the source cannot be read, with its error`, async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield packed.bytes.subarray(0, 10);
      throw new Error('disk error');
    }
    await expect(collect(read(broken(), packed.expected))).rejects.toThrow('disk error');
  });

  test(`${name} closes the source when the reader stops`, async () => {
    const noise = none(randomBytes(3_000_000));
    let closed = false;
    async function* source(): AsyncGenerator<Uint8Array> {
      try {
        for (let at = 0; at < noise.bytes.length; at += 1000) yield noise.bytes.subarray(at, at + 1000);
      } finally {
        closed = true;
      }
    }
    for await (const chunk of read(source(), noise.expected)) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect(closed).toBe(true);
  });
}

test('unpacks a large packed file in pieces', async () => {
  const zeros = Buffer.alloc(20_000_000);
  let longest = 0;
  for await (const chunk of unpacked(pieces(zstd(zeros).bytes), zstd(zeros).expected)) {
    longest = Math.max(longest, chunk.length);
  }
  expect(longest).toBeLessThan(1_000_000);
});
