/** A DER element whose content is the concatenated parts. */
export function element(tag: number, ...parts: (Uint8Array | readonly number[])[]): Uint8Array<ArrayBuffer> {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const head = [tag, ...lengthOctets(length)];
  const bytes = new Uint8Array(head.length + length);
  let offset = 0;
  for (const part of [head, ...parts]) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

export function sequence(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return element(0x30, ...parts);
}

export function set(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return element(0x31, ...parts);
}

/** A non-negative number from its big-endian octets. */
export function integer(octets: Uint8Array | readonly number[]): Uint8Array<ArrayBuffer> {
  const first = octets.findIndex((octet: number) => octet !== 0);
  const digits = first === -1 ? [0] : octets.slice(first);
  // A leading one bit would make it negative.
  return element(0x02, (digits[0] ?? 0) >= 0x80 ? [0] : [], digits);
}

/** A bit string of whole octets, such as a signature. */
export function bitString(octets: Uint8Array | readonly number[]): Uint8Array<ArrayBuffer> {
  return element(0x03, [0], octets);
}

/** Flags by their bit numbers, without trailing zero bits, as DER requires. */
export function namedBits(numbers: readonly number[]): Uint8Array<ArrayBuffer> {
  const highest = Math.max(-1, ...numbers);
  const octets = new Uint8Array(Math.ceil((highest + 1) / 8));
  for (const number of numbers) octets[number >> 3] = (octets[number >> 3] ?? 0) | (0x80 >> (number & 7));
  return element(0x03, [octets.length * 8 - highest - 1], octets);
}

export function octetString(octets: Uint8Array): Uint8Array<ArrayBuffer> {
  return element(0x04, octets);
}

export function boolean(value: boolean): Uint8Array<ArrayBuffer> {
  return element(0x01, [value ? 0xff : 0]);
}

export function oid(dotted: string): Uint8Array<ArrayBuffer> {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return element(0x06, [first * 40 + second, ...rest].flatMap(base128));
}

export function utf8String(text: string): Uint8Array<ArrayBuffer> {
  return element(0x0c, new TextEncoder().encode(text));
}

/** UTCTime until 2049, GeneralizedTime from 2050 on, as X.509 requires. Milliseconds are dropped. */
export function time(ms: number): Uint8Array<ArrayBuffer> {
  const digits = new Date(ms).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14);
  const short = Number(digits.slice(0, 4)) < 2050;
  return element(short ? 0x17 : 0x18, new TextEncoder().encode(`${short ? digits.slice(2) : digits}Z`));
}

function lengthOctets(length: number): number[] {
  if (length < 0x80) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return [0x80 + octets.length, ...octets];
}

function base128(arc: number): number[] {
  const digits = [arc % 128];
  for (let rest = Math.floor(arc / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift((rest % 128) + 128);
  return digits;
}
