import { invalidAnswer } from '../transport/failures.ts';

/** Strings cannot be longer than 512 MiB. */
const maxListBytes = 400 * 1024 * 1024;
const firstBytes = 1024 * 1024;

const [quote, backslash, comma] = [0x22, 0x5c, 0x2c];
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d];

/** Depths in `{"items":[{"metadata":{"managedFields":[`. */
const metadataDepth = 4;
const managedFieldsDepth = 5;
const metadataKey = Buffer.from('"metadata":');
const managedFieldsKey = Buffer.from('"managedFields":');

/**
 * Collects the text of a list without `metadata.managedFields` of its items, a third of every object that only the
 * server needs. Removing it before parsing costs almost no time. A list that is formatted in another way is not
 * changed. One buffer serves all pages.
 */
export class ListText {
  readonly #name: string;
  #buffer = Buffer.allocUnsafeSlow(firstBytes);
  #length = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isInMetadata = false;
  #isCutting = false;
  #dropsComma = false;

  constructor(name: string) {
    this.#name = name;
  }

  /** Returns the text and starts a new one. */
  take(): string {
    const text = this.#buffer.toString('utf8', 0, this.#length);
    this.#length = 0;
    this.#depth = 0;
    this.#isInString = this.#isEscaped = this.#isInMetadata = this.#isCutting = this.#dropsComma = false;
    return text;
  }

  push(chunk: Buffer): void {
    const end = chunk.length;
    if (end === 0) return;
    // The end of the last chunk may affect the first byte of this one.
    let from = this.#dropsComma && chunk[0] === comma ? 1 : 0;
    let at = this.#isEscaped ? 1 : from;
    this.#dropsComma = false;
    let isInString = this.#isInString;
    while (at < end) {
      const byte = chunk[at];
      at += 1;
      if (isInString) {
        if (byte === quote) isInString = false;
        else if (byte === backslash) at += 1;
      } else if (byte === quote) isInString = true;
      else if (byte === openBrace || byte === openBracket) this.#enter(byte, chunk, from, at - 1);
      else if (byte === closeBrace || byte === closeBracket) from = this.#leave(chunk, from, at);
    }
    this.#isEscaped = at > end;
    this.#isInString = isInString;
    if (!this.#isCutting) this.#append(chunk, from, end);
  }

  #enter(byte: number, chunk: Buffer, from: number, at: number): void {
    this.#depth += 1;
    if (this.#isCutting) return;
    if (this.#depth === metadataDepth) {
      this.#isInMetadata = byte === openBrace && this.#endsWith(metadataKey, chunk, from, at);
    } else if (this.#depth === managedFieldsDepth && this.#isInMetadata && byte === openBracket) {
      if (!this.#endsWith(managedFieldsKey, chunk, from, at)) return;
      this.#append(chunk, from, at);
      this.#length -= managedFieldsKey.length;
      this.#isCutting = true;
    }
  }

  /** Returns where the part of the chunk begins that is kept. */
  #leave(chunk: Buffer, from: number, at: number): number {
    this.#depth -= 1;
    if (!this.#isCutting || this.#depth !== metadataDepth) return from;
    this.#isCutting = false;
    // Removes one of the two commas around it.
    if (this.#buffer[this.#length - 1] === comma) this.#length -= 1;
    else if (at === chunk.length) this.#dropsComma = true;
    else if (chunk[at] === comma) return at + 1;
    return at;
  }

  /** Whether the kept text plus the chunk up to `at` ends with this member name. */
  #endsWith(key: Buffer, chunk: Buffer, from: number, at: number): boolean {
    const need = key.length + 1;
    if (at - from >= need) return isMember(key, chunk.subarray(at - need, at));
    const before = this.#buffer.subarray(Math.max(0, this.#length - need), this.#length);
    return isMember(key, Buffer.concat([before, chunk.subarray(from, at)]).subarray(-need));
  }

  #append(chunk: Buffer, from: number, to: number): void {
    const length = this.#length + to - from;
    if (length > maxListBytes) throw invalidAnswer(this.#name, `the list is longer than ${maxListBytes} bytes`);
    if (length > this.#buffer.length) {
      const larger = Buffer.allocUnsafeSlow(Math.max(length, Math.min(2 * this.#buffer.length, maxListBytes)));
      this.#buffer.copy(larger, 0, 0, this.#length);
      this.#buffer = larger;
    }
    chunk.copy(this.#buffer, this.#length, from, to);
    this.#length = length;
  }
}

/** A member name follows a brace or comma; an escaped quote would follow a backslash. */
function isMember(key: Buffer, text: Buffer): boolean {
  return text.length > key.length && (text[0] === openBrace || text[0] === comma) && text.subarray(1).equals(key);
}
