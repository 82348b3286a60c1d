import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough, Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, createZstdDecompress } from 'node:zlib';
import { AppError } from '#base/errors.ts';
import type { BundleEntry } from '#contract/bundle.ts';

/** The expected unpacked content. */
export type Expected = Pick<BundleEntry, 'path' | 'sha256' | 'bytes' | 'encoding'>;

/** Passes the packed bytes through; throws after the last one unless they unpack to the expected content. */
export async function* verified(packed: AsyncIterable<Uint8Array>, expected: Expected): AsyncGenerator<Uint8Array> {
  const unpacker = unpackerFor(expected);
  const drained = drain(checked(unpacker, expected));
  // Awaited below; until then a failure must not count as unhandled.
  drained.catch(() => undefined);
  try {
    for await (const chunk of packed) {
      if (!unpacker.write(chunk)) await Promise.race([once(unpacker, 'drain'), drained]);
      yield chunk;
    }
    unpacker.end();
    await drained;
  } catch (error) {
    throw asDamaged(error, expected);
  } finally {
    unpacker.destroy();
  }
}

/** Unpacks the content; throws after the last byte unless it is the expected one. */
export async function* unpacked(packed: AsyncIterable<Uint8Array>, expected: Expected): AsyncGenerator<Uint8Array> {
  const unpacker = unpackerFor(expected);
  const flow = pipeline(Readable.from(packed, { objectMode: false }), unpacker);
  flow.catch(() => undefined);
  try {
    yield* checked(unpacker, expected);
  } catch (error) {
    throw asDamaged(error, expected);
  } finally {
    unpacker.destroy();
    await flow.catch(() => undefined);
  }
}

/** Packs the content in the form of its copy. */
export async function* packed(
  content: AsyncIterable<Uint8Array>,
  { encoding }: Pick<Expected, 'encoding'>,
): AsyncGenerator<Uint8Array> {
  if (encoding === 'none') {
    yield* content;
    return;
  }
  const packer = createZstdCompress();
  const flow = pipeline(Readable.from(content, { objectMode: false }), packer);
  flow.catch(() => undefined);
  try {
    yield* packer;
  } finally {
    packer.destroy();
    await flow.catch(() => undefined);
  }
}

/** Passes the content through; throws unless it is the expected one. */
async function* checked(content: AsyncIterable<Uint8Array>, expected: Expected): AsyncGenerator<Uint8Array> {
  const digest = createHash('sha256');
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    // Checked at once, because a small packed file can unpack to an endless one.
    if (bytes > expected.bytes) throw damaged(expected, `has more than ${expected.bytes} bytes`);
    digest.update(chunk);
    yield chunk;
  }
  if (bytes !== expected.bytes) throw damaged(expected, `has ${bytes} bytes, not ${expected.bytes}`);
  const actual = digest.digest('hex');
  if (actual !== expected.sha256) throw damaged(expected, `has the hash ${actual}, not ${expected.sha256}`);
}

async function drain(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content);
}

function unpackerFor({ encoding }: Expected): Transform {
  return encoding === 'zstd' ? createZstdDecompress({ chunkSize: 256 * 1024 }) : new PassThrough();
}

/** Errors of the unpacker mean damaged content; errors of files are passed on. */
function asDamaged(error: unknown, expected: Expected): unknown {
  const isUnreadable = error instanceof Error && 'code' in error && /^(ZSTD|Z)_/.test(String(error.code));
  return isUnreadable ? damaged(expected, 'cannot be unpacked', error) : error;
}

function damaged({ path }: Expected, what: string, cause?: unknown): AppError {
  return new AppError('BUNDLE_DAMAGED', `content for ${path} ${what}`, { remedy: 'Upload the bundle again.', cause });
}
