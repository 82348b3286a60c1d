import { constants } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError, messageOf } from '#base/errors.ts';

const [onlyUs, writtenByOthers] = [0o700, 0o022];

/** Makes a folder that only we can enter, or sees that the one there is such; its parents are made where they are missing. */
export async function ensurePrivateFolder(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: onlyUs });
    await mkdir(path, { mode: onlyUs }).catch(ignoreExisting);
    const problem = await problemOf(path);
    if (problem !== undefined) throw unsafe(path, problem);
    await chmod(path, onlyUs);
  } catch (error) {
    throw error instanceof AppError ? error : unusable(path, error);
  }
}

/** Not through a link: whoever may put one there would choose what we read. */
export function openToRead(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
}

/** A file that nobody has made before us. */
export function openNew(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
}

async function problemOf(path: string): Promise<string | undefined> {
  const found = await lstat(path);
  if (found.isSymbolicLink()) return 'is a symbolic link';
  if (!found.isDirectory()) return 'is not a folder';
  const user = process.geteuid?.() ?? found.uid;
  if (found.uid !== user) return `belongs to user ${found.uid}, and the operator runs as user ${user}`;
  const mode = found.mode & 0o777;
  return (mode & writtenByOthers) === 0 ? undefined : `can be written by others (mode 0${mode.toString(8)})`;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}

function unsafe(path: string, problem: string): AppError {
  return new AppError('CACHE_FOLDER_UNSAFE', `the folder for packed files ${path} ${problem}`, {
    remedy: `Remove ${path}, or set --payload-cache-dir to a path that does not exist yet, such as ${path}/private.`,
  });
}

function unusable(path: string, cause: unknown): AppError {
  const why = messageOf(cause);
  return new AppError('PAYLOAD_UNREADABLE', `the folder for packed files ${path} cannot be made: ${why}`, {
    remedy: 'Set --payload-cache-dir to a path that the operator may write to and that has room.',
    cause,
  });
}
