import { AppError } from '#base/errors.ts';

const blockBytes = 512;

/** The content of one file of a tar archive, found by its base name. Stops reading after it. */
export async function* fileOfTar(archive: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const reader = new BlockReader(archive);
  try {
    for (;;) {
      const header = await reader.take(blockBytes, name);
      if (header.every(byte => byte === 0)) throw unreadable(name, 'has no such file');
      const { path, bytes, isFile } = readHeader(header, name);
      if (isFile && path.slice(path.lastIndexOf('/') + 1) === name) return yield* reader.pieces(bytes, name);
      await reader.skip(Math.ceil(bytes / blockBytes) * blockBytes, name);
    }
  } finally {
    await reader.close();
  }
}

function readHeader(header: Uint8Array, name: string): { path: string; bytes: number; isFile: boolean } {
  const text = (from: number, to: number) => {
    const part = header.subarray(from, to);
    const end = part.indexOf(0);
    return new TextDecoder().decode(end === -1 ? part : part.subarray(0, end));
  };
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (Number.parseInt(text(148, 156).trim(), 8) !== sum) throw unreadable(name, 'is not a tar archive');
  const bytes = Number.parseInt(text(124, 136).trim() || '0', 8);
  if (!Number.isSafeInteger(bytes) || bytes < 0) throw unreadable(name, 'has a file whose size cannot be read');
  return { path: text(0, 100), bytes, isFile: ['', '0'].includes(text(156, 157)) };
}

function unreadable(name: string, what: string): AppError {
  return new AppError('PAYLOAD_UNREADABLE', `archive of ${name} ${what}`, {
    remedy: `Build the payload again: ${name}.tar.gz must contain the file ${name}.`,
  });
}

class BlockReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async take(bytes: number, name: string): Promise<Uint8Array> {
    const whole = new Uint8Array(bytes);
    let at = 0;
    for await (const piece of this.pieces(bytes, name)) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  async skip(bytes: number, name: string): Promise<void> {
    for await (const _piece of this.pieces(bytes, name));
  }

  async *pieces(bytes: number, name: string): AsyncGenerator<Uint8Array> {
    for (let left = bytes; left > 0; ) {
      if (this.#rest.length === 0) {
        const next = await this.#chunks.next();
        if (next.done === true) throw unreadable(name, 'ends too early');
        this.#rest = next.value;
        continue;
      }
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
