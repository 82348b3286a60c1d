import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { PassThrough, Readable, type Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { AppError } from '#base/errors.ts';
import type { BundleEntry } from '#contract/bundle.ts';

/** The expected unpacked content. */
export type Expected = Pick<BundleEntry, 'path' | 'sha256' | 'bytes' | 'encoding'>;

/** Passes the packed bytes through; throws after the last one unless they unpack to the expected content. */
export async function* verified(packed: AsyncIterable<Uint8Array>, expected: Expected): AsyncGenerator<Uint8Array> {
  const unpacker = unpackerFor(expected);
  const checked = checkAll(unpacker, expected);
  // Awaited below; until then a failure must not count as unhandled.
  checked.catch(() => undefined);
  try {
    for await (const chunk of packed) {
      if (!unpacker.write(chunk)) await Promise.race([once(unpacker, 'drain'), checked]);
      yield chunk;
    }
    unpacker.end();
    await checked;
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
  const check = new ContentCheck(expected);
  try {
    for await (const chunk of unpacker as AsyncIterable<Uint8Array>) {
      check.add(chunk);
      yield chunk;
    }
    check.finish();
  } catch (error) {
    throw asDamaged(error, expected);
  } finally {
    unpacker.destroy();
    await flow.catch(() => undefined);
  }
}

async function checkAll(content: AsyncIterable<Uint8Array>, expected: Expected): Promise<void> {
  const check = new ContentCheck(expected);
  for await (const chunk of content) check.add(chunk);
  check.finish();
}

class ContentCheck {
  readonly #expected: Expected;
  readonly #digest: Hash = createHash('sha256');
  #bytes = 0;

  constructor(expected: Expected) {
    this.#expected = expected;
  }

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    // Checked at once, because a small packed file can unpack to an endless one.
    if (this.#bytes > this.#expected.bytes)
      throw damaged(this.#expected, `has more than ${this.#expected.bytes} bytes`);
    this.#digest.update(chunk);
  }

  finish(): void {
    const { bytes, sha256 } = this.#expected;
    if (this.#bytes !== bytes) throw damaged(this.#expected, `has ${this.#bytes} bytes, not ${bytes}`);
    const actual = this.#digest.digest('hex');
    if (actual !== sha256) throw damaged(this.#expected, `has the hash ${actual}, not ${sha256}`);
  }
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
