import { gunzipSync } from 'node:zlib';

/** Unpacks gzip data; undefined when it is damaged or would grow beyond the limit (a gzip bomb). */
export function gunzip(packed: Uint8Array, maxBytes: number): Uint8Array | undefined {
  try {
    return gunzipSync(packed, { maxOutputLength: maxBytes });
  } catch {
    return undefined;
  }
}
