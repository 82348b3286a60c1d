/** Garbage collection frees smaller buffers soon enough. */
const worthFreeingBytes = 16 * 1024;

/** Node.js creates small buffers inside memory of this size, which they share. */
const poolBytes = Buffer.allocUnsafe(1).buffer.byteLength;

/**
 * Frees all memory behind a buffer that nothing reads any more, and leaves it empty. Garbage collection would free it much later,
 * because it sees only the few bytes of the object; uploads would hold tens of megabytes of sent packets.
 */
export function freeMemory({ buffer }: Uint8Array): void {
  if (ownsMemory(buffer)) buffer.transfer(0);
}

/** The same for memory whose parts are used in order: frees it with the last part. */
export function freeWithLastPart(part: Uint8Array): void {
  if (part.byteOffset + part.length === part.buffer.byteLength) freeMemory(part);
}

function ownsMemory(buffer: ArrayBufferLike): buffer is ArrayBuffer {
  const { byteLength } = buffer;
  return buffer instanceof ArrayBuffer && byteLength >= worthFreeingBytes && byteLength !== poolBytes;
}
