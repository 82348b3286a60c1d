// A byte order mark is kept, so that a text that is read and written again has the same bytes.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Strict base64 (standard alphabet, padded); undefined when the text is anything else. Line breaks are allowed. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  const compact = text.replaceAll(/[\r\n]/g, '');
  if (compact.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(compact)) return undefined;
  return Uint8Array.fromBase64(compact);
}

export function toBase64(bytes: Uint8Array | string): string {
  return (typeof bytes === 'string' ? new TextEncoder().encode(bytes) : bytes).toBase64();
}

/** Strict UTF-8; undefined when the bytes are not text. */
export function fromUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text that was written in base64; undefined when it is no base64, or not of a text. */
export function textFromBase64(encoded: string): string | undefined {
  const bytes = fromBase64(encoded);
  return bytes === undefined ? undefined : fromUtf8(bytes);
}

/** The same for base64 in the one form that encoders write: without line breaks, and with no stray bits in its last character. */
export function textFromCanonicalBase64(encoded: string): string | undefined {
  const text = textFromBase64(encoded);
  return text !== undefined && toBase64(text) === encoded ? text : undefined;
}

export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}
