import { readFile } from 'node:fs/promises';
import { AppError } from '#base/errors.ts';
import { payloadFiles } from '#node/payload.ts';
import { parseLock, type PayloadLock } from '#payload/lock.ts';
import { systemErrorReason } from '../system-error.ts';

export interface LockFileContent {
  path: string;
  text: string;
  lock: PayloadLock;
}

/** Reads a lock, which must have the programs that the operator installs. */
export async function readLock(path: string): Promise<LockFileContent> {
  const text = await readText(path, 'the lock', 'Pass the lock of the release with --lock.');
  return { path, text, lock: parseLock(text, path, payloadFiles) };
}

export async function readText(path: string, what: string, remedy: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new AppError('INPUT_UNREADABLE', `${what} ${path} cannot be read (${systemErrorReason(cause)})`, {
      remedy,
      cause,
    });
  }
}
