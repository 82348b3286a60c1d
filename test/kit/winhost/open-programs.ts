import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join, normalize } from 'node:path';
import type { WindowsHost } from './host.ts';

/** A program file that processes of a host have open. */
export interface OpenProgram {
  /** Where it was when it was opened. */
  path: string;
  sha256: string;
}

/** Programs outside C:\Windows\system32 that run on a host, with what they were started from, even if replaced since. */
export function openPrograms({ drive }: WindowsHost): OpenProgram[] {
  const found = new Map<string, OpenProgram>();
  for (const link of openFiles(join(drive.root, '..'))) {
    const [path = ''] = targetOf(link).split(' (deleted)');
    if (!path.startsWith(`${drive.root}/`) || !path.endsWith('.exe') || path.includes('/system32/')) continue;
    const sha256 = hashOf(link);
    if (sha256 !== undefined) found.set(`${path} ${sha256}`, { path: windowsPath(drive.root, path), sha256 });
  }
  return [...found.values()].sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** All processes of the host: the server of Wine has the files of the others open. */
function openFiles(prefix: string): string[] {
  const pids = numbers('/proc').filter(pid => prefixOf(pid) === prefix);
  return pids.flatMap(pid => numbers(`/proc/${pid}/fd`).map(name => `/proc/${pid}/fd/${name}`));
}

function prefixOf(pid: string): string | undefined {
  const variables = read(`/proc/${pid}/environ`).split('\0');
  const value = variables.find(text => text.startsWith('WINEPREFIX='))?.slice('WINEPREFIX='.length);
  return value === undefined ? undefined : normalize(value);
}

function windowsPath(root: string, path: string): string {
  return `C:${path.slice(root.length).replaceAll('/', '\\')}`;
}

/** Processes and files may be gone at any moment; then there is nothing to see. */
function attempt<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

const numbers = (folder: string) => attempt(() => readdirSync(folder))?.filter(name => /^\d+$/.test(name)) ?? [];
const read = (path: string) => attempt(() => readFileSync(path, 'utf8')) ?? '';
const targetOf = (link: string) => attempt(() => readlinkSync(link)) ?? '';
const hashOf = (link: string) => attempt(() => createHash('sha256').update(readFileSync(link)).digest('hex'));
