import { gunzipSync } from 'node:zlib';

/** Undefined when the data is damaged or larger than the limit (a gzip bomb). */
export function gunzip(packed: Uint8Array, maxBytes: number): Uint8Array | undefined {
  try {
    return gunzipSync(packed, { maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}
