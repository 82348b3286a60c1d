import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import { uploadChunkBytes } from '#host/host.ts';
import { openToRead } from './private-folder.ts';

/** What the bytes of a file are. */
export interface FileSum {
  bytes: number;
  /** Lower-case hex, of the file as it is. */
  sha256: string;
}

/** What a packed file has to unpack to. */
export interface Unpacked {
  sha256: string;
  bytes: number;
}

/** Reads the whole of a file, and of a packed one what it unpacks to; undefined when it is not what it has to be. */
export async function checkFile(path: string, size: number, unpacked?: Unpacked): Promise<FileSum | undefined> {
  try {
    await using file = await openToRead(path);
    const { size: actual } = await file.stat();
    if (actual !== size) return undefined;
    const [outer, inner] = [new Sum(size), new Sum(unpacked?.bytes ?? 0)];
    const content = outer.watched(chunksOf(file));
    if (unpacked === undefined) await drain(content);
    else await pipeline(content, createZstdDecompress(), chunks => drain(inner.watched(chunks)));
    const sum = outer.take();
    if (unpacked === undefined) return sum;
    const { bytes, sha256 } = inner.take();
    return bytes === unpacked.bytes && sha256 === unpacked.sha256 ? sum : undefined;
  } catch {
    // Gone, a link, a folder, or nothing that unpacks: in no case what it has to be.
    return undefined;
  }
}

/** The bytes of a file that was checked before. The last piece is given only when all of them together are what was checked. */
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

/** Makes the error for a file that is not what was checked; the cause is why it cannot be read. */
export type Changed = (cause?: unknown) => Error;

/**
 * The first bytes of a file in the pieces in which they are sent, all in the same memory: a new one for each would cost more than to
 * encrypt it. Opened with the first piece, so that whoever never begins leaves nothing open.
 */
export async function* pieces(path: string, bytes: number, changed: Changed): AsyncGenerator<Uint8Array> {
  const orChanged = <T>(act: Promise<T>): Promise<T> =>
    act.catch((cause: unknown) => {
      throw changed(cause);
    });
  await using file = await orChanged(openToRead(path));
  const memory = Buffer.allocUnsafeSlow(uploadChunkBytes);
  for (let left = bytes; left > 0; ) {
    const { bytesRead } = await orChanged(file.read(memory, 0, Math.min(memory.length, left)));
    if (bytesRead === 0) throw changed();
    left -= bytesRead;
    yield memory.subarray(0, bytesRead);
  }
}

/** Hash and size of what flows by, which is not allowed to be more than expected. */
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

/** Each in memory of its own: who unpacks them keeps some for a while. */
export async function* chunksOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(uploadChunkBytes), 0, uploadChunkBytes);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
  }
}

async function drain(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of chunks);
}
