import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { constants, createZstdCompress, zstdCompress } from 'node:zlib';
import { AppError } from '#base/errors.ts';
import { sha256 } from '#base/sha256.ts';
import { type BundleEntry, printHeader } from '#contract/bundle.ts';

/** What is known of content that has been packed. */
export type PackedFacts = Pick<BundleEntry, 'sha256' | 'bytes' | 'encoding' | 'packedBytes'>;

export type Reading = 'checked' | 'unchecked';

/** A file of a bundle, with a way to read its packed content as often as there are hosts. */
export interface BundleFile extends PackedFacts {
  path: string;
  secret: boolean;
  /**
   * A piece is good until the next one is asked for. Unchecked is enough for a host, which checks the whole bundle by a hash that was
   * taken from checked bytes; checking them again for each host would cost a tenth of the time.
   */
  packed(how?: Reading): AsyncIterable<Uint8Array>;
}

/** Programs shrink to a third. Higher levels save another twentieth, for twice the time and five times the memory. */
const packing = { params: { [constants.ZSTD_c_compressionLevel]: 6 }, chunkSize: 256 * 1024 };

/** The bytes to upload. Nothing is packed here, so many hosts can be served at once. */
export async function* packBundle(
  version: string,
  files: readonly BundleFile[],
  remove: readonly string[] = [],
  how: Reading = 'checked',
): AsyncGenerator<Uint8Array> {
  yield bundleHeader(version, files, remove);
  for (const file of files) {
    const count = { bytes: 0 };
    yield* counted(file.packed(how), count);
    if (count.bytes !== file.packedBytes) throw changed(file.path, file.packedBytes, count.bytes);
  }
}

/** What comes before the content; it names every content by its hash. */
export function bundleHeader(version: string, files: readonly BundleFile[], remove: readonly string[]): Uint8Array {
  return printHeader({ version, entries: files.map(entryOf), remove: [...remove] });
}

/** Packing less than this saves nothing that anybody would notice. */
const worthPackingBytes = 8 * 1024;

/** Packs a small content in memory. */
export async function packContent(content: Uint8Array): Promise<PackedFacts & Pick<BundleFile, 'packed'>> {
  const smaller = content.length < worthPackingBytes ? content : await packAtOnce(content);
  const encoding = smaller.length < content.length ? 'zstd' : 'none';
  const packed = encoding === 'zstd' ? smaller : content;
  return {
    sha256: sha256(content),
    bytes: content.length,
    encoding,
    packedBytes: packed.length,
    packed: async function* once() {
      if (packed.length > 0) yield packed;
    },
  };
}

/** The packer is told the size: otherwise it takes tens of megabytes for itself, and many hosts are served at once. */
function packAtOnce(content: Uint8Array): Promise<Uint8Array> {
  return promisify(zstdCompress)(content, { ...packing, pledgedSrcSize: content.length });
}

/** Packs a large content on its way to where `keep` puts it. */
export async function packStream(
  content: AsyncIterable<Uint8Array>,
  keep: (packed: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<PackedFacts> {
  const digest = createHash('sha256');
  const [before, after] = [{ bytes: 0 }, { bytes: 0 }];
  await pipeline(
    Readable.from(
      counted(content, before, chunk => digest.update(chunk)),
      { objectMode: false },
    ),
    createZstdCompress(packing),
    async packed => keep(counted(packed as AsyncIterable<Uint8Array>, after)),
  );
  return { sha256: digest.digest('hex'), bytes: before.bytes, encoding: 'zstd', packedBytes: after.bytes };
}

function entryOf({ path, sha256, bytes, encoding, packedBytes, secret }: BundleFile): BundleEntry {
  return { path, sha256, bytes, encoding, packedBytes, secret };
}

async function* counted(
  chunks: AsyncIterable<Uint8Array>,
  count: { bytes: number },
  look: (chunk: Uint8Array) => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    count.bytes += chunk.length;
    look(chunk);
    yield chunk;
  }
}

function changed(path: string, wanted: number, got: number): AppError {
  return new AppError('BUNDLE_DAMAGED', `the packed content of ${path} has ${got} bytes, not ${wanted}`, {
    remedy: 'Restart the operator, so that it packs its files anew.',
  });
}
