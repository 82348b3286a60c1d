import { zstdDecompressSync } from 'node:zlib';
import { randomBytes } from 'node:crypto';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sha256 } from '#base/sha256.ts';
import { type BundleHeader, parseHeader, preambleBytes, readPreamble } from '#contract/bundle.ts';
import { file } from '#contract/paths.ts';
import { type BundleFile, packBundle, packContent, packStream } from './bundle.ts';
import { Packer } from './packer.ts';

const text = (content: string) => new TextEncoder().encode(content);

async function* chunks(...parts: (Uint8Array | string)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? text(part) : part;
}

async function collect(parts: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(parts));
}

const bundleFile = async (path: string, content: Uint8Array, secret = false): Promise<BundleFile> => ({
  path,
  secret,
  ...(await packContent(content)),
});

function split(bundle: Buffer): { header: BundleHeader; contents: Buffer[]; rest: Buffer } {
  const length = readPreamble(bundle.subarray(0, preambleBytes));
  const header = parseHeader(bundle.subarray(preambleBytes, preambleBytes + length));
  let at = preambleBytes + length;
  const contents = header.entries.map(({ encoding, packedBytes }) => {
    const packed = bundle.subarray(at, (at += packedBytes));
    return encoding === 'zstd' ? zstdDecompressSync(packed) : packed;
  });
  return { header, contents, rest: bundle.subarray(at) };
}

test('puts header and contents one after the other', async () => {
  const [program, config] = [text('MZ'.repeat(5000)), text('a: 1')];
  const files = [await bundleFile(file.kubelet, program), await bundleFile(file.kubeletConfig, config, true)];
  const { header, contents, rest } = split(
    await collect(packBundle({ version: '11.0.0-1', files, remove: ['C:\\k\\old.exe'] })),
  );
  expect(header.version).toBe('11.0.0-1');
  expect(header.remove).toEqual(['C:\\k\\old.exe']);
  expect(header.entries.map(({ path, encoding, secret }) => [path, encoding, secret])).toEqual([
    [file.kubelet, 'zstd', false],
    [file.kubeletConfig, 'none', true],
  ]);
  expect(contents.map(String)).toEqual([String(Buffer.from(program)), 'a: 1']);
  expect(rest).toHaveLength(0);
});

test('makes the same bytes of the same files, as often as asked', async () => {
  const files = [await bundleFile(file.kubelet, text('x'.repeat(1000)))];
  const first = await collect(packBundle({ version: 'v', files }));
  expect(await collect(packBundle({ version: 'v', files }))).toEqual(first);
  expect(
    await collect(packBundle({ version: 'v', files: [await bundleFile(file.kubelet, text('x'.repeat(1000)))] })),
  ).toEqual(first);
});

test('makes a bundle without files', async () => {
  const { header, rest } = split(await collect(packBundle({ version: 'v', files: [] })));
  expect([header.entries, header.remove, rest.length]).toEqual([[], [], 0]);
});

test('refuses a path that the host would refuse, before anything is sent', async () => {
  const files = [await bundleFile('C:\\Windows\\x', text('x'))];
  await expect(packBundle({ version: 'v', files }).next()).rejects.toMatchObject({ code: 'BUNDLE_MALFORMED' });
});

const wrongSizes: [string, number][] = [
  ['more', 3],
  ['less', 5],
];
for (const [name, packedBytes] of wrongSizes) {
  test(`stops when packed content has become ${name} than it was`, async () => {
    const content = await bundleFile(file.kubelet, text('abcd'));
    const changed = { ...content, bytes: packedBytes, packedBytes };
    await expect(collect(packBundle({ version: 'v', files: [changed] }))).rejects.toMatchObject({
      code: 'BUNDLE_DAMAGED',
      message: expect.stringContaining('C:\\k\\kubelet.exe has 4 bytes'),
    });
  });
}

const contents: [string, Uint8Array, 'none' | 'zstd'][] = [
  ['nothing', text(''), 'none'],
  ['a short text', text('short'), 'none'],
  ['a long text', text('long '.repeat(2000)), 'zstd'],
  ['a text just short of what is worth it', text('x'.repeat(8191)), 'none'],
  ['a text that is just worth it', text('x'.repeat(8192)), 'zstd'],
  ['a text larger than the packer’s tables', text('text '.repeat(1_000_000)), 'zstd'],
  ['noise', randomBytes(20_000), 'none'],
];
for (const [name, content, encoding] of contents) {
  test(`packs ${name} only if that helps`, async () => {
    const packed = await packContent(content);
    expect(packed).toMatchObject({ encoding, bytes: content.length, sha256: sha256(content) });
    const bytes = await collect(packed.packed());
    expect(bytes).toHaveLength(packed.packedBytes);
    expect(encoding === 'zstd' ? zstdDecompressSync(bytes) : bytes).toEqual(Buffer.from(content));
  });
}

test('packs a stream on its way to a file', async () => {
  const content = randomBytes(3_000_000).fill(7, 0, 2_000_000);
  const parts: Uint8Array[] = [];
  const facts = await packStream(new Packer(), chunks(content.subarray(0, 10), content.subarray(10)), async packed => {
    for await (const part of packed) parts.push(Buffer.from(part));
  });
  const packed = Buffer.concat(parts);
  expect(facts).toEqual({ sha256: sha256(content), bytes: 3_000_000, encoding: 'zstd', packedBytes: packed.length });
  expect(packed.length).toBeLessThan(1_100_000);
  expect(zstdDecompressSync(packed)).toEqual(content);
});

test('packs a stream of nothing', async () => {
  const facts = await packStream(new Packer(), chunks(), async packed => void (await collect(packed)));
  expect(facts).toMatchObject({ bytes: 0, sha256: sha256('') });
});

test('fails when the content cannot be read, or the packed one not be kept', async () => {
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield text('begin');
    throw new Error('disk error');
  }
  await expect(packStream(new Packer(), broken(), async packed => void (await collect(packed)))).rejects.toThrow(
    'disk error',
  );
  await expect(packStream(new Packer(), chunks('x'), () => Promise.reject(new Error('disk full')))).rejects.toThrow(
    'disk full',
  );
});

test('any files come out as they went in', async () => {
  const content = fc.uint8Array({ maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(fc.array(content, { maxLength: 5 }), async given => {
      const files = await Promise.all(given.map((one, index) => bundleFile(`C:\\k\\${index}`, one)));
      expect(split(await collect(packBundle({ version: 'v', files }))).contents).toEqual(
        given.map(one => Buffer.from(one)),
      );
    }),
    { numRuns: 100 },
  );
});
