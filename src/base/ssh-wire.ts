import { fromUtf8 } from './bytes.ts';

/** Reads SSH wire format. Anything invalid ends the reading; `readWire` turns that into `undefined`. */
export class WireReader {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  bytes(count: number): Uint8Array {
    this.require(count <= this.#bytes.length - this.#at);
    this.#at += count;
    return this.#bytes.subarray(this.#at - count, this.#at);
  }

  uint32(): number {
    return this.bytes(4).reduce((value, octet) => value * 256 + octet, 0);
  }

  string(): Uint8Array {
    return this.bytes(this.uint32());
  }

  text(): string {
    const text = fromUtf8(this.string());
    this.require(text !== undefined);
    return text ?? '';
  }

  /** An integer; keys have no negative ones. */
  mpint(): bigint {
    const bytes = this.string();
    this.require(((bytes[0] ?? 0) & 0x80) === 0);
    return toBigint(bytes);
  }

  rest(): Uint8Array {
    return this.bytes(this.#bytes.length - this.#at);
  }

  /** Rejects the whole input unless the condition holds. */
  require(condition: boolean): void {
    if (!condition) throw new InvalidWire();
  }
}

class InvalidWire extends Error {}

/** The result of `read`; undefined when the bytes are too short, too long or invalid. */
export function readWire<T>(bytes: Uint8Array, read: (reader: WireReader) => T): T | undefined {
  const reader = new WireReader(bytes);
  try {
    const value = read(reader);
    reader.require(reader.rest().length === 0);
    return value;
  } catch (error) {
    if (error instanceof InvalidWire) return undefined;
    throw error;
  }
}

/** Writes fields in a row: texts and bytes as strings, integers as mpints. */
export function writeWire(...fields: (string | Uint8Array | bigint)[]): Uint8Array {
  return Buffer.concat(
    fields.flatMap(field => {
      const content = typeof field === 'bigint' ? mpintBytes(field) : Buffer.from(field);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(content.length);
      return [length, content];
    }),
  );
}

export function toBigint(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${bytes.toHex()}`);
}

/** Big-endian octets of an integer, padded with leading zeros to `size`. */
export function fromBigint(value: bigint, size = 0): Uint8Array {
  const hex = value.toString(16);
  return Uint8Array.fromHex(hex.padStart(Math.max(hex.length + (hex.length % 2), size * 2), '0'));
}

function mpintBytes(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array();
  const bytes = fromBigint(value);
  // The top bit is the sign, so a number that sets it gets a leading zero octet.
  return (bytes[0] ?? 0) >= 0x80 ? fromBigint(value, bytes.length + 1) : bytes;
}
