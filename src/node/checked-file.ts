import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { createZstdDecompress } from 'node:zlib';
import { freeMemory } from '#base/free-memory.ts';
import { uploadChunkBytes } from '#host/host.ts';
import { transformed } from '#payload/transformed.ts';
import { openToRead } from './private-folder.ts';

/** Size and hash of a file. */
export interface FileSum {
  bytes: number;
  /** Lower-case hex. */
  sha256: string;
}

/** Expected size and hash of unpacked content. */
export interface Unpacked {
  sha256: string;
  bytes: number;
}

/** Reads and, if packed, unpacks the whole file; undefined when size or content are not as expected. */
export async function checkFile(path: string, size: number, unpacked?: Unpacked): Promise<FileSum | undefined> {
  try {
    await using file = await openToRead(path);
    const { size: actual } = await file.stat();
    if (actual !== size) return undefined;
    const [outer, inner] = [new Sum(size), new Sum(unpacked?.bytes ?? 0)];
    const content = outer.watched(chunksOf(file));
    if (unpacked === undefined) await drain(content);
    else await drain(inner.watched(transformed(createZstdDecompress(), content)));
    const sum = outer.take();
    // A decompressor may end before the file does.
    if (sum.bytes !== size) return undefined;
    if (unpacked === undefined) return sum;
    const { bytes, sha256 } = inner.take();
    return bytes === unpacked.bytes && sha256 === unpacked.sha256 ? sum : undefined;
  } catch {
    // Missing, a link, a folder, or not zstd.
    return undefined;
  }
}

/** The bytes of a checked file. Yields the last chunk only if all bytes together still have the checked hash. */
export async function* checkedPieces(path: string, sum: FileSum, changed: Changed): AsyncGenerator<Uint8Array> {
  const digest = createHash('sha256');
  let left = sum.bytes;
  for await (const piece of pieces(path, sum.bytes, changed)) {
    digest.update(piece);
    left -= piece.length;
    if (left === 0 && digest.digest('hex') !== sum.sha256) throw changed();
    yield piece;
  }
}

/** Creates the error for a file that changed since it was checked; `cause` is why it cannot be read. */
export type Changed = (cause?: unknown) => Error;

/**
 * The first bytes of a file in upload chunks, all in the same buffer: allocating one for each would cost more than encrypting it. The
 * file is opened with the first chunk, so that an unused generator leaves nothing open.
 */
export async function* pieces(path: string, bytes: number, changed: Changed): AsyncGenerator<Uint8Array> {
  const orChanged = <T>(act: Promise<T>): Promise<T> =>
    act.catch((cause: unknown) => {
      throw changed(cause);
    });
  await using file = await orChanged(openToRead(path));
  const memory = Buffer.allocUnsafeSlow(uploadChunkBytes);
  try {
    for (let left = bytes; left > 0; ) {
      const { bytesRead } = await orChanged(file.read(memory, 0, Math.min(memory.length, left)));
      if (bytesRead === 0) throw changed();
      left -= bytesRead;
      yield memory.subarray(0, bytesRead);
    }
  } finally {
    freeMemory(memory);
  }
}

/** Computes hash and size of a stream; fails when it is larger than expected. */
export class Sum {
  readonly #digest = createHash('sha256');
  readonly #most: number;
  #bytes = 0;

  constructor(most = Number.MAX_SAFE_INTEGER) {
    this.#most = most;
  }

  async *watched(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks) {
      this.#add(chunk);
      yield chunk;
    }
  }

  take(): FileSum {
    return { bytes: this.#bytes, sha256: this.#digest.digest('hex') };
  }

  #add(chunk: Uint8Array): void {
    this.#bytes += chunk.length;
    if (this.#bytes > this.#most) throw new RangeError(`more than ${this.#most} bytes`);
    this.#digest.update(chunk);
  }
}

/**
 * The bytes of a file, all in the same buffer: a chunk is valid until the next one is read. The buffer is left to garbage collection,
 * because a compressor that is destroyed may still read it.
 */
export async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  const memory = Buffer.allocUnsafeSlow(uploadChunkBytes);
  for (;;) {
    const { bytesRead } = await file.read(memory, 0, memory.length);
    if (bytesRead === 0) return;
    yield memory.subarray(0, bytesRead);
  }
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}
