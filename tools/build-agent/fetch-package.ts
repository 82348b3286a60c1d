import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { withLock } from './exclusive.ts';
import type { WindowsPackage } from './packages.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

export const defaultCache = join(homedir(), '.cache', 'windows-machine-config-operator');

/** Puts the packed package into the folder. */
export type Pack = (specifier: string, folder: string) => Promise<void>;

/** Fetches the file of the package once into the cache, and checks its hash each time. */
export async function packageFile(
  wanted: WindowsPackage,
  cache: string = defaultCache,
  pack: Pack = npmPack,
): Promise<string> {
  const folder = join(cache, 'npm', `${wanted.name.replace('@', '').replace('/', '-')}-${wanted.version}`);
  const path = join(folder, basename(wanted.file));
  return withLock(`${folder}.lock`, async () => {
    // Fetch a damaged file again.
    if ((await hashOf('sha256', path)) !== wanted.fileSha256) await fetchInto(path, wanted, pack);
    return path;
  });
}

async function fetchInto(path: string, wanted: WindowsPackage, pack: Pack): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const partial = await mkdtemp(`${dirname(path)}.partial-`);
  try {
    const specifier = `${wanted.name}@${wanted.version}`;
    await pack(specifier, partial).catch((error: Error) => {
      throw new Error(fetchFailure(specifier, path, error), { cause: error });
    });
    const packed = (await readdir(partial)).find(name => name.endsWith('.tgz'));
    if (packed === undefined) throw new Error(`npm pack ${specifier} returned no .tgz file`);
    await checkHash('sha512', join(partial, packed), { name: `the package ${specifier}`, sum: wanted.sha512 });
    await run('tar', ['-xzf', packed, '--strip-components=1', `package/${wanted.file}`], { cwd: partial });
    const unpacked = join(partial, wanted.file);
    await checkHash('sha256', unpacked, { name: `${wanted.file} of ${specifier}`, sum: wanted.fileSha256 });
    await rename(unpacked, path);
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

function fetchFailure(specifier: string, path: string, error: Error): string {
  return [
    `npm cannot fetch ${specifier}, which the .exe needs:`,
    error.message,
    `Use a registry that has it (npm config get registry), or copy its file to ${path}.`,
  ].join('\n');
}

async function checkHash(algorithm: string, path: string, want: { name: string; sum: string }): Promise<void> {
  const sum = await hashOf(algorithm, path);
  if (sum === want.sum) return;
  throw new Error(
    `${want.name} has the ${algorithm} ${sum}, not ${want.sum} of tools/build-agent/packages.ts: use another registry, or update the hash`,
  );
}

/** Undefined when the file is missing. */
export async function hashOf(algorithm: string, path: string): Promise<string | undefined> {
  const hash = createHash(algorithm);
  try {
    await pipeline(createReadStream(path), hash);
    return hash.digest('hex');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function npmPack(specifier: string, folder: string): Promise<void> {
  const words = ['pack', specifier, '--pack-destination', folder, '--ignore-scripts', '--loglevel=error'];
  await run('npm', words, { cwd: root, timeout: 300_000 });
}
