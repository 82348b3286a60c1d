import { randomBytes } from 'node:crypto';
import { readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { AppError } from '#base/errors.ts';
import { payloadFiles } from '#node/payload.ts';
import { parseLock } from '#payload/lock.ts';
import { type FoundSums, pinLock } from '#payload/pin.ts';
import { unwritableError } from '../output.ts';

/** Reads the lock again, which may have been edited during a long download; it is replaced as a whole. */
export async function pinLockFile(path: string, found: FoundSums): Promise<void> {
  const target = await realpath(path);
  const draft = `${target}.${randomBytes(6).toString('hex')}`;
  try {
    const text = await readFile(target, 'utf8');
    const pinned = pinLock(text, parseLock(text, path, payloadFiles), found);
    parseLock(pinned, path, payloadFiles);
    await writeFile(draft, pinned, { flag: 'wx', mode: (await stat(target)).mode & 0o777 });
    await rename(draft, target);
  } catch (error) {
    throw error instanceof AppError ? error : unwritableError(path, error);
  } finally {
    await rm(draft, { force: true });
  }
}
