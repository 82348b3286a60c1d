import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AppError, shown } from '#base/errors.ts';

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

export async function sumOf(path: string): Promise<string> {
  const digest = createHash('sha256');
  await pipeline(createReadStream(path), digest);
  return digest.digest('hex');
}
