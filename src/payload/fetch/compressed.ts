import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { createGunzip, createZstdDecompress } from 'node:zlib';
import { AppError, messageOf } from '#base/errors.ts';
import { transformed } from '../transformed.ts';
import { archiveRefused } from './failures.ts';

/** A layer or archive never has more content; more is a bomb. */
const maxUnpackedBytes = 8 * 1024 ** 3;

export type ArchiveKind = 'zip' | 'gzip' | 'zstd' | 'tar';

/** By the first bytes: names and media types are not always true. */
export async function kindOfArchive(path: string): Promise<ArchiveKind> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4), 0, 4, 0);
    const start = buffer.subarray(0, bytesRead).toString('hex');
    if (start.startsWith('504b')) return 'zip';
    if (start.startsWith('1f8b')) return 'gzip';
    return start === '28b52ffd' ? 'zstd' : 'tar';
  } finally {
    await file.close();
  }
}

/** The tar archive in a file. */
export async function* unpacked(path: string, kind: ArchiveKind, what: string): AsyncGenerator<Uint8Array> {
  const stored = createReadStream(path) as AsyncIterable<Buffer>;
  const content =
    kind === 'tar' ? stored : transformed(kind === 'gzip' ? createGunzip() : createZstdDecompress(), stored);
  let bytes = 0;
  try {
    for await (const chunk of content) {
      bytes += chunk.length;
      if (bytes > maxUnpackedBytes) throw archiveRefused(what, `has more than ${maxUnpackedBytes} bytes unpacked`);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw archiveRefused(what, `cannot be unpacked: ${messageOf(error)}`, error);
  }
}
