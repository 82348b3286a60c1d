// Keeps a byte order mark, so that a text has the same bytes when it is written again.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Decodes strict base64 (standard alphabet, padded); undefined when invalid. Line breaks are allowed. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const compact = text.replaceAll(/[\r\n]/g, '');
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) return undefined;
  return Uint8Array.fromBase64(compact);
}

export function toBase64(bytes: Uint8Array | string): string {
  return (typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes).toBase64();
}

/** Decodes strict UTF-8; undefined when invalid. */
export function fromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Decodes base64 of UTF-8 text; undefined when invalid. */
export function textFromBase64(encoded: string): string | undefined {
  const bytes = fromBase64(encoded);
  return bytes === undefined ? undefined : fromUtf8(bytes);
}

/**
 * Like `textFromBase64`, but only the form that encoders write: no line breaks, no stray bits in the last character.
 */
export function textFromCanonicalBase64(encoded: string): string | undefined {
  const text = textFromBase64(encoded);
  return text !== undefined && toBase64(text) === encoded ? text : undefined;
}

/** One character per byte, so that any bytes are kept. */
export function toLatin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}

/** The bytes of a text of `toLatin1`. */
export function fromLatin1(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(Buffer.from(text, 'latin1'));
}

export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
