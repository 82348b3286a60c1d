import { constants } from 'node:fs';
import { chmod, type FileHandle, lstat, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError, messageOf } from '#base/errors.ts';

const [ownerOnly, writableByOthers] = [0o700, 0o022];

/** Creates a folder that only the operator can access, or checks the existing one; creates missing parents. */
export async function ensurePrivateFolder(path: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true, mode: ownerOnly });
    await mkdir(path, { mode: ownerOnly }).catch(ignoreExisting);
    const problem = await problemOf(path);
    if (problem !== undefined) throw unsafe(path, problem);
    await chmod(path, ownerOnly);
  } catch (error) {
    throw error instanceof AppError ? error : unusable(path, error);
  }
}

/** Does not follow links: whoever can create one would choose what the operator reads. */
export function openToRead(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
}

/** Fails if the file exists. */
export function openNew(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600);
}

async function problemOf(path: string): Promise<string | undefined> {
  const found = await lstat(path);
  if (found.isSymbolicLink()) return 'is a symbolic link';
  if (!found.isDirectory()) return 'is not a folder';
  const user = process.geteuid?.() ?? found.uid;
  if (found.uid !== user) return `belongs to user ${found.uid}, but the operator runs as user ${user}`;
  const mode = found.mode & 0o777;
  return (mode & writableByOthers) === 0 ? undefined : `can be written by others (mode 0${mode.toString(8)})`;
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
  return new AppError('PAYLOAD_UNREADABLE', `the folder for packed files ${path} cannot be created: ${why}`, {
    remedy: 'Set --payload-cache-dir to a writable path with free space.',
    cause,
  });
}
