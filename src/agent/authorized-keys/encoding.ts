import { toLatin1 } from '#base/bytes.ts';

export interface Decoded {
  /** One character per byte, as `toLatin1` gives it. */
  text: string;
  /** An encoding that sshd cannot read; undefined for all others. */
  was: 'UTF-16' | 'UTF-8 with a byte order mark' | undefined;
}

/** The content of a file of keys without byte order mark; undefined when it is not what its mark says. */
export function decodeKeys(bytes: Uint8Array): Decoded | undefined {
  const [first, second, third] = bytes;
  if (first === 0xff && second === 0xfe) return fromUtf16(bytes.slice(2));
  if (first === 0xfe && second === 0xff) return fromUtf16(swapped(bytes.subarray(2)));
  if (first !== 0xef || second !== 0xbb || third !== 0xbf) return { text: toLatin1(bytes), was: undefined };
  return { text: toLatin1(bytes.subarray(3)), was: 'UTF-8 with a byte order mark' };
}

function fromUtf16(bytes: Uint8Array): Decoded | undefined {
  try {
    const text = new TextDecoder('utf-16le', { fatal: true, ignoreBOM: true }).decode(bytes);
    return { text: toLatin1(new TextEncoder().encode(text)), was: 'UTF-16' };
  } catch {
    return undefined;
  }
}

function swapped(bytes: Uint8Array): Uint8Array {
  return bytes.map((byte, index) => bytes[index + (index % 2 === 0 ? 1 : -1)] ?? byte);
}
