import { AppError } from '#base/errors.ts';

const blockBytes = 512;
/** Of a name that does not fit into a header. */
const maxNameBytes = 64 * 1024;

export interface TarEntry {
  /** As in the archive, without a leading `./`. */
  path: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  bytes: number;
  /** Good until the next entry is read; what is not read is skipped. */
  content: AsyncIterable<Uint8Array>;
}

/** Makes the error for an archive that cannot be read. */
export type TarFailure = (what: string) => Error;

/** The content of one file of a tar archive, found by its base name. Stops reading after it. */
export async function* fileOfTar(archive: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const fail = (what: string) => unreadable(name, what);
  for await (const { path, kind, content } of readTar(archive, fail)) {
    if (kind === 'file' && path.slice(path.lastIndexOf('/') + 1) === name) return yield* content;
  }
  throw fail('has no such file');
}

/** The entries of a tar archive (ustar, with the long names and sizes of GNU and pax). */
export async function* readTar(archive: AsyncIterable<Uint8Array>, fail: TarFailure): AsyncGenerator<TarEntry> {
  const reader = new BlockReader(archive, fail);
  let given: Given = {};
  try {
    for (;;) {
      const header = await reader.take(blockBytes);
      if (header.every(byte => byte === 0)) return await reader.drain();
      const { path, bytes: ownBytes, type } = readHeader(header, fail);
      if (type === 'L' || type === 'x' || type === 'g' || type === 'K') {
        if (ownBytes > maxNameBytes) throw fail('has a file whose name is too long');
        const content = await reader.take(ownBytes);
        await reader.skip(padding(ownBytes));
        given = { ...given, ...givenIn(type, content, fail) };
        continue;
      }
      const bytes = given.bytes ?? ownBytes;
      const content = reader.pieces(bytes);
      yield { path: (given.path ?? path).replace(/^(\.\/)+/, ''), kind: kindOf(type), bytes, content };
      for await (const _rest of content);
      await reader.skip(padding(bytes));
      given = {};
    }
  } finally {
    await reader.close();
  }
}

/** What an extra header says about the next entry. */
interface Given {
  path?: string;
  bytes?: number;
}

function givenIn(type: string, content: Uint8Array, fail: TarFailure): Given {
  if (type === 'L') return { path: textOf(content) };
  // Global headers and names of links change no file.
  if (type !== 'x') return {};
  const given: Given = {};
  for (let rest = content; rest.length > 0; ) {
    const [, digits = ''] = /^(\d{1,6}) /.exec(new TextDecoder().decode(rest.subarray(0, 8))) ?? [];
    const length = Number(digits);
    // Blank, equals sign and line break are part of every record.
    if (digits === '' || length < digits.length + 3 || length > rest.length) throw fail('has a malformed pax header');
    const line = new TextDecoder().decode(rest.subarray(digits.length + 1, length - 1));
    const equals = line.indexOf('=');
    const [key, value] = [line.slice(0, equals), line.slice(equals + 1)];
    if (key === 'path') given.path = value;
    if (key === 'size') {
      if (!/^\d{1,15}$/.test(value)) throw fail('has a file whose size cannot be read');
      given.bytes = Number(value);
    }
    rest = rest.subarray(length);
  }
  return given;
}

function readHeader(header: Uint8Array, fail: TarFailure): { path: string; bytes: number; type: string } {
  const text = (from: number, to: number) => textOf(header.subarray(from, to));
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0);
  if (Number.parseInt(text(148, 156).trim(), 8) !== sum) throw fail('is not a tar archive');
  const size = text(124, 136).trim() || '0';
  if (!/^[0-7]{1,12}$/.test(size)) throw fail('has a file whose size cannot be read');
  // GNU tar writes other things there.
  const prefix = text(257, 263) === 'ustar' ? text(345, 500) : '';
  const name = text(0, 100);
  return {
    path: prefix === '' ? name : `${prefix}/${name}`,
    bytes: Number.parseInt(size, 8),
    type: text(156, 157),
  };
}

function kindOf(type: string): TarEntry['kind'] {
  if (['', '0', '7'].includes(type)) return 'file';
  if (type === '5') return 'folder';
  return type === '1' || type === '2' ? 'link' : 'other';
}

function textOf(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  return new TextDecoder().decode(end === -1 ? bytes : bytes.subarray(0, end));
}

function padding(bytes: number): number {
  return (blockBytes - (bytes % blockBytes)) % blockBytes;
}

function unreadable(name: string, what: string): AppError {
  return new AppError('PAYLOAD_UNREADABLE', `archive of ${name} ${what}`, {
    remedy: `Build the payload again: ${name}.tar.gz must contain the file ${name}.`,
  });
}

class BlockReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #fail: TarFailure;
  #rest: Uint8Array = new Uint8Array();

  constructor(chunks: AsyncIterable<Uint8Array>, fail: TarFailure) {
    this.#chunks = chunks[Symbol.asyncIterator]();
    this.#fail = fail;
  }

  async take(bytes: number): Promise<Uint8Array> {
    const whole = new Uint8Array(bytes);
    let at = 0;
    for await (const piece of this.pieces(bytes)) {
      whole.set(piece, at);
      at += piece.length;
    }
    return whole;
  }

  async skip(bytes: number): Promise<void> {
    for await (const _piece of this.pieces(bytes));
  }

  /** An iterable that can be read in parts: a second loop goes on where the first one has stopped. */
  pieces(bytes: number): AsyncIterable<Uint8Array> {
    let left = bytes;
    const next = async (): Promise<IteratorResult<Uint8Array>> => {
      if (left === 0) return { done: true, value: undefined };
      while (this.#rest.length === 0) {
        const chunk = await this.#chunks.next();
        if (chunk.done === true) throw this.#fail('ends too early');
        this.#rest = chunk.value;
      }
      const piece = this.#rest.subarray(0, left);
      this.#rest = this.#rest.subarray(piece.length);
      left -= piece.length;
      return { done: false, value: piece };
    };
    return { [Symbol.asyncIterator]: () => ({ next }) };
  }

  /** A decompressor compares its checksum at the end. */
  async drain(): Promise<void> {
    while ((await this.#chunks.next()).done !== true);
  }

  async close(): Promise<void> {
    await this.#chunks.return?.();
  }
}
