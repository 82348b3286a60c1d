import { createReadStream } from 'node:fs';
import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** One line for each file of the folder, as coreutils prints it, sorted by path; `sha256sum -c` checks them. */
export async function printChecksums(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter(entry => !entry.isDirectory()).map(entry => join(entry.parentPath, entry.name));
  const lines = paths
    .map(path => ({ path, name: relative(folder, path) }))
    .sort((one, other) => (one.name < other.name ? -1 : 1))
    .map(async ({ path, name }) => `${await sumOf(path)}  ${name}\n`);
  return (await Promise.all(lines)).join('');
}

async function sumOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
