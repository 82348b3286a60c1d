import { createHash } from 'node:crypto';
import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { shown } from '#base/errors.ts';
import { archiveRefused } from './failures.ts';

/** A program of a payload is never larger. */
export const maxProgramBytes = 1024 ** 3;

/** A program that was written beside its place, until all of its source are checked. */
export interface StoredProgram {
  at: string;
  sha256: string;
}

/** Writes a new file; the sum is that of the bytes that were written. */
export async function storeProgram(
  content: AsyncIterable<Uint8Array>,
  at: string,
  what: string,
): Promise<StoredProgram> {
  await rm(at, { force: true });
  const file = await open(at, 'wx', 0o644);
  const digest = createHash('sha256');
  let bytes = 0;
  try {
    for await (const chunk of content) {
      bytes += chunk.length;
      if (bytes > maxProgramBytes) throw archiveRefused(what, `has more than ${maxProgramBytes} bytes`);
      digest.update(chunk);
      await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
  return { at, sha256: digest.digest('hex') };
}

/** Fails when a file that nobody has checked cannot be a program of Windows, such as the page of a login. */
export async function checkProgramStart(path: string, what: string): Promise<void> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    if (bytesRead === 2 && buffer.toString('latin1') === 'MZ') return;
    throw archiveRefused(what, `is not a program for Windows: it begins with ${shown(buffer.toString('latin1'))}`);
  } finally {
    await file.close();
  }
}

export async function moveInto(at: string, target: string): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  await chmod(at, 0o644);
  await rename(at, target);
}
