/** All chunks in the same buffer, which is overwritten after use. */
export async function* reusing(bytes: Buffer, size = 255 * 1024): AsyncGenerator<Uint8Array> {
  const memory = Buffer.alloc(size);
  for (let at = 0; at < bytes.length; at += size) {
    yield memory.subarray(0, bytes.copy(memory, 0, at, at + size));
    memory.fill(0);
  }
}

/** The content of chunks that are valid only until the next one is read. */
export async function copied(chunks: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const chunk of chunks) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}
