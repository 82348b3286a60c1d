import type { Transform } from 'node:stream';
import { freeWithLastPart } from '#base/free-memory.ts';

/**
 * What a zlib stream makes of the chunks. It gets them one at a time, so that the source may reuse its buffer; a resulting chunk is
 * valid until the next one is read.
 */
export async function* transformed(stream: Transform, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const feeding = feed(stream, chunks);
  try {
    for await (const chunk of stream as AsyncIterable<Uint8Array>) {
      yield chunk;
      freeWithLastPart(chunk);
    }
  } finally {
    await feeding;
  }
}

/** A failure of the source becomes one of the stream, where the reader sees it. */
async function feed(stream: Transform, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const chunk of chunks) {
      await consumed(stream, chunk);
      if (stream.destroyed) return;
    }
    stream.end();
  } catch (error) {
    stream.destroy(error as Error);
  }
}

function consumed(stream: Transform, chunk: Uint8Array): Promise<void> {
  return new Promise(resolve => {
    // A stream that fails does not call back.
    stream.once('close', resolve);
    stream.write(chunk, () => {
      stream.removeListener('close', resolve);
      resolve();
    });
  });
}
