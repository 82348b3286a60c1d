import { fromBase64, fromUtf8 } from '#base/bytes.ts';

/** The bytes of a `data:` URL (RFC 2397); undefined for other text. Media type and parameters do not matter. */
export function decodeDataUrl(url: string): Uint8Array | undefined {
  const comma = url.indexOf(',');
  if (comma === -1 || !/^data:/i.test(url)) return undefined;
  const bytes = percentDecode(url.slice(comma + 1));
  if (!/;\s*base64\s*$/i.test(url.slice(0, comma))) return bytes;
  const text = bytes === undefined ? undefined : fromUtf8(bytes);
  return text === undefined ? undefined : fromBase64(text);
}

const percent = 0x25;

function percentDecode(text: string): Uint8Array | undefined {
  const encoded = new TextEncoder().encode(text);
  const decoded = new Uint8Array(encoded.length);
  let length = 0;
  for (let index = 0; index < encoded.length; index += 1) {
    const byte = encoded[index] ?? 0;
    if (byte === percent) {
      const hex = String.fromCharCode(...encoded.subarray(index + 1, index + 3));
      if (!/^[0-9A-Fa-f]{2}$/.test(hex)) return undefined;
      decoded[length] = Number.parseInt(hex, 16);
      index += 2;
    } else decoded[length] = byte;
    length += 1;
  }
  return decoded.subarray(0, length);
}
