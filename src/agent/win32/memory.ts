import { AppError } from '#base/errors.ts';

/** Structures of Windows that point to each other within one buffer, checked at every read. */
export class Memory {
  readonly bytes: Buffer;
  readonly #address: bigint;
  readonly #label: string;

  /** The address is that of the buffer; the label names its content in errors. */
  constructor(bytes: Buffer, address: bigint, label: string) {
    this.bytes = bytes;
    this.#address = address;
    this.#label = label;
  }

  /** Offset that the pointer at an offset leads to; undefined for a null pointer. */
  pointer(at: number): number | undefined {
    const target = this.slice(at, 8).readBigUInt64LE();
    if (target === 0n) return undefined;
    const offset = Number(target - this.#address);
    this.slice(offset, 1);
    return offset;
  }

  /** The UTF-16 text that the pointer at an offset leads to; '' for a null pointer. */
  text(pointerAt: number): string {
    const start = this.pointer(pointerAt);
    return start === undefined ? '' : this.textAt(start);
  }

  /** The UTF-16 text at an offset, ended by NUL. */
  textAt(start: number): string {
    for (let end = start; end + 1 < this.bytes.length; end += 2) {
      if (this.bytes.readUInt16LE(end) === 0) return this.bytes.toString('utf16le', start, end);
    }
    throw this.invalid('has text without an end');
  }

  slice(at: number, length: number): Buffer {
    if (at < 0 || at + length > this.bytes.length) throw this.invalid('has a pointer out of its buffer');
    return this.bytes.subarray(at, at + length);
  }

  invalid(what: string): AppError {
    return new AppError('WINDOWS_ANSWER_INVALID', `${this.#label} ${what}`, {
      remedy: 'Report it with the version of Windows of the host.',
    });
  }
}

/** UTF-16 with the NUL at the end that Windows relies on. */
export function encodeText(text: string): Buffer {
  return Buffer.from(`${text}\0`, 'utf16le');
}

/** UTF-16 up to the first NUL, or to the end of the bytes. */
export function decodeText(bytes: Buffer): string {
  // An odd byte at the end belongs to no character.
  const [text = ''] = bytes.toString('utf16le', 0, bytes.length - (bytes.length % 2)).split('\0', 1);
  return text;
}
