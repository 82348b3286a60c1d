import { closeSync, constants, fstatSync, lstatSync, openSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';

export interface OpenLog {
  handle: number;
  /** Inode; stays the same when the file is renamed. */
  identity: bigint;
  bytes: number;
}

/** How a file is opened; tests change the file in between. */
export type Open = (path: string, flags: number) => number;

const attempts = 3;
/** Windows does not have this flag. */
const noFollow = (constants as { O_NOFOLLOW?: number }).O_NOFOLLOW ?? 0;
const append = constants.O_APPEND | constants.O_CREAT | constants.O_WRONLY;

/**
 * Opens a log file for appending, never through a link. Checks the opened handle: it must be a regular file with one name,
 * and the path must still lead to it. A link is removed: the Go agent left some.
 */
export function openLog(path: string, open: Open = (name, flags) => openSync(name, flags)): OpenLog {
  for (let left = attempts; ; left -= 1) {
    const found = tryToOpen(path, open);
    if (typeof found !== 'string') return found;
    if (left <= 1 || !isReplaceable(found)) throw new Error(`${path}: ${found}`);
    const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    if (isLink || found === twoNames) unlinkSync(path);
  }
}

/** Undefined for a missing file or a link. */
export function identityOf(path: string): bigint | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false, bigint: true });
  return found?.isFile() === true ? found.ino : undefined;
}

const [isLinked, twoNames] = ['is a link', 'has a second name'];

function isReplaceable(problem: string): boolean {
  return problem === isLinked || problem === twoNames;
}

/** The open file, or why it cannot be used. */
function tryToOpen(path: string, open: Open): OpenLog | string {
  const handle = openOrUndefined(path, open);
  if (handle === undefined) return isLinked;
  const problem = problemOf(path, handle);
  if (problem !== undefined) {
    closeSync(handle);
    return problem;
  }
  const { ino, size } = fstatSync(handle, { bigint: true });
  return { handle, identity: ino, bytes: Number(size) };
}

function problemOf(path: string, handle: number): string | undefined {
  const { ino, nlink } = fstatSync(handle, { bigint: true });
  if (!fstatSync(handle).isFile()) return 'is not a regular file';
  if (nlink > 1n) return twoNames;
  if (identityOf(path) !== ino) return isLinked;
  return lstatSync(dirname(path)).isDirectory() ? undefined : 'is in a folder that is a link';
}

function openOrUndefined(path: string, open: Open): number | undefined {
  try {
    return open(path, append | noFollow);
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ELOOP') return undefined;
    throw error;
  }
}
