import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError, attempt, shown } from '#base/errors.ts';
import { parseChecksumPaths } from './checksums.ts';

/** A payload has 16 files; the bound is for a wrong folder. */
const maxEntries = 10_000;

export interface FolderRules {
  /** A link counts as the file that it leads to. Default: it is an error. */
  allowsLinks?: true;
}

/** Paths of all files of a folder, sorted. Fails on what a payload must not have. */
export async function filesIn(folder: string, { allowsLinks }: FolderRules = {}): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    throw new AppError('PAYLOAD_UNREADABLE', `${folder} cannot be read`, {
      remedy: 'Name a folder that `wmco payload fetch` or `wmco payload pack` has written.',
      cause,
    });
  });
  if (entries.length > maxEntries)
    throw new AppError('PAYLOAD_DAMAGED', `${folder} has ${entries.length} files: it is not a payload`, {
      remedy: 'Name a folder that `wmco payload fetch` or `wmco payload pack` has written.',
    });
  const paths = entries
    .filter(entry => !entry.isDirectory())
    .map(entry => {
      const path = relative(folder, join(entry.parentPath, entry.name)).replaceAll(sep, '/');
      if (entry.isFile() || (allowsLinks === true && entry.isSymbolicLink())) return path;
      throw new AppError('PAYLOAD_DAMAGED', `${join(folder, path)} is a link or a device, not a file`, {
        remedy: `Delete ${shown(path)}: a payload consists of plain files.`,
      });
    });
  return paths.toSorted();
}

/** Lower-case hex SHA-256 of each file of a folder, by path. */
export async function sumsIn(folder: string, rules: FolderRules = {}): Promise<Record<string, string>> {
  const sums: Record<string, string> = {};
  for (const path of await filesIn(folder, rules)) sums[path] = await sumOf(join(folder, path));
  return sums;
}

export interface Replaceable {
  /** For messages: `a packed payload`. */
  what: string;
  /** The list with the checksums of its files. */
  list: string;
  /** Not in the list either. */
  listSignature?: string;
}

/** Fails if there is something at the path that its list of checksums does not name: it would be deleted. */
export async function checkReplaceable(
  folder: string,
  { what, list, listSignature = list }: Replaceable,
  rules: FolderRules = {},
): Promise<void> {
  if ((await lstat(folder).catch(() => undefined)) === undefined) return;
  const refused = (why: string, cause?: unknown) =>
    new AppError('OUTPUT_UNWRITABLE', `${folder} exists and is not ${what}: ${why}`, {
      remedy: 'Name another folder with --output, or delete this one.',
      cause,
    });
  const files = await filesIn(folder, rules).catch((cause: unknown) => {
    throw refused(cause instanceof AppError ? cause.message : 'it cannot be read', cause);
  });
  const text = files.includes(list) ? await readFile(join(folder, list), 'utf8') : '';
  const listed = attempt(() => Object.keys(parseChecksumPaths(text)));
  const known = [list, listSignature, ...(listed.ok ? listed.value : [])];
  const own = files.find(path => !known.includes(path));
  if (own !== undefined) throw refused(`${shown(own)} is not in its ${list}`);
}

export async function sumOf(path: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  return digest.digest('hex');
}
