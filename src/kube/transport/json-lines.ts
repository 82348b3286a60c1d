import { shown } from '#base/errors.ts';
import { jsonIn } from '#base/fields.ts';
import { invalidAnswer } from './failures.ts';

const newline = 0x0a;

/**
 * Splits chunks into lines and parses each as JSON. Lines are decoded as a whole, so that a character split between
 * chunks is intact.
 */
export class JsonLines {
  readonly #name: string;
  readonly #maxLineBytes: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(name: string, maxLineBytes: number) {
    this.#name = name;
    this.#maxLineBytes = maxLineBytes;
  }

  *push(chunk: Buffer): Generator {
    let start = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, start)) {
      const line = this.#complete(chunk.subarray(start, at));
      start = at + 1;
      if (line.length > 0) yield this.#parse(line);
    }
    this.#keep(chunk.subarray(start));
  }

  /** True when the last line is incomplete. */
  get isPartial(): boolean {
    return this.#pendingBytes > 0;
  }

  #complete(last: Buffer): Buffer {
    this.#keep(last);
    const line = this.#pending.length === 1 ? (this.#pending[0] ?? last) : Buffer.concat(this.#pending);
    this.#pending = [];
    this.#pendingBytes = 0;
    return line;
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#pendingBytes += part.length;
    if (this.#pendingBytes > this.#maxLineBytes)
      throw invalidAnswer(this.#name, `a line is longer than ${this.#maxLineBytes} bytes`);
    this.#pending.push(part);
  }

  #parse(line: Buffer): unknown {
    const text = line.toString();
    const value = jsonIn(text);
    if (value === undefined) throw invalidAnswer(this.#name, `a line is not JSON: ${shown(text.slice(0, 60))}`);
    return value;
  }
}
