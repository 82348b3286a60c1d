import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress } from 'node:zlib';
import { AppError } from '#base/errors.ts';
import { sha256 } from '#base/sha256.ts';
import { type BundleEntry, type NextSet, printHeader } from '#contract/bundle.ts';
import { type Packer, packing } from './packer.ts';

/** Hashes and sizes of packed content. */
export type PackedFacts = Pick<BundleEntry, 'sha256' | 'bytes' | 'encoding' | 'packedBytes'>;

export type Reading = 'checked' | 'unchecked';

/** A file of a bundle; its packed content can be read for every host. */
export interface BundleFile extends PackedFacts {
  path: string;
  secret: boolean;
  /**
   * A chunk is valid until the next one is read. Unchecked reads are enough for uploads: the host checks the whole bundle by a hash of
   * checked bytes, and checking them for each host would cost a tenth of the time.
   */
  packed(how?: Reading): AsyncIterable<Uint8Array>;
}

export interface BundleContent {
  /** Version of the operator that the files belong to. */
  version: string;
  files: readonly BundleFile[];
  /** Paths of files to remove. */
  remove?: readonly string[];
  /** The host only keeps this set; `files` are those of it that the host has no copy of. */
  next?: NextSet;
}

/** The bytes to upload. Files are packed already, so this is cheap for many hosts at once. */
export async function* packBundle(content: BundleContent, how: Reading = 'checked'): AsyncGenerator<Uint8Array> {
  yield bundleHeader(content);
  for (const file of content.files) {
    const count = { bytes: 0 };
    yield* counted(file.packed(how), count);
    if (count.bytes !== file.packedBytes) throw wrongSize(file.path, file.packedBytes, count.bytes);
  }
}

/** The header, with the hash of every file. */
export function bundleHeader({ version, files, remove = [], next }: BundleContent): Uint8Array {
  return printHeader({ version, entries: files.map(entryOf), remove: [...remove], ...(next && { next }) });
}

/** Packing smaller content saves too little. */
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

/** Without the size, zstd would allocate tens of megabytes for each host. */
function packAtOnce(content: Uint8Array): Promise<Uint8Array> {
  return promisify(zstdCompress)(content, { ...packing, pledgedSrcSize: content.length });
}

/** Packs large content as a stream, which `keep` stores; its chunks are valid until the next one is read. */
export async function packStream(
  packer: Packer,
  content: AsyncIterable<Uint8Array>,
  keep: (packed: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<PackedFacts> {
  const digest = createHash('sha256');
  const [before, after] = [{ bytes: 0 }, { bytes: 0 }];
  const plain = counted(content, before, chunk => digest.update(chunk));
  await keep(counted(packer.pack(plain), after));
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

function wrongSize(path: string, wanted: number, got: number): AppError {
  return new AppError('BUNDLE_DAMAGED', `the packed content of ${path} has ${got} bytes, not ${wanted}`, {
    remedy: 'Restart the operator, so that it packs its files again.',
  });
}
