import { AppError } from '#base/errors.ts';

/** Reads exact numbers of bytes from a stream of chunks. */
export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #rest: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Exactly `count` bytes in one piece. */
  async take(count: number): Promise<Uint8Array> {
    const taken = new Uint8Array(count);
    let at = 0;
    for await (const piece of this.pieces(count)) {
      taken.set(piece, at);
      at += piece.length;
    }
    return taken;
  }

  /** Exactly `count` bytes in pieces. Must be read to the end before anything else is read. */
  async *pieces(count: number): AsyncGenerator<Uint8Array> {
    for (let left = count; left > 0; ) {
      if (await this.isAtEnd()) throw cutShort();
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      yield piece;
    }
  }

  async isAtEnd(): Promise<boolean> {
    while (this.#rest.length === 0) {
      const next = await this.#chunks.next();
      if (next.done === true) return true;
      this.#rest = next.value;
    }
    return false;
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}

function cutShort(): AppError {
  return new AppError('BUNDLE_DAMAGED', 'bundle: it ends too early', { remedy: 'Upload the bundle again.' });
}
