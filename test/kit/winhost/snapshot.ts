import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { WindowsHost } from './host.ts';

/** What a program may have changed on a host: parts of the registry, and the files of drive C. Names lead to contents. */
export type Snapshot = ReadonlyMap<string, string>;

const keys = [
  'HKLM\\SYSTEM\\CurrentControlSet\\Services',
  'HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment',
  'HKLM\\SOFTWARE\\Microsoft\\SystemCertificates\\ROOT',
] as const;
/** Logs of the doubles. */
const leftOut = 'lab';
/** Here only names count: the files are those of Wine. */
const namesOnly = 'windows';

export async function takeSnapshot(host: WindowsHost): Promise<Snapshot> {
  const snapshot = new Map<string, string>();
  const folder = 'C:\\lab\\snapshot';
  await host.drive.remove(folder);
  const files = keys.map((_, index) => `${folder}\\${index}.reg`);
  await host.drive.write(`${folder}\\about`, 'made by a test');
  const { stderr } = await host.exec(keys.map((key, index) => `reg export "${key}" ${files[index]} /y`).join(' & '));
  // The last key does not exist before the first certificate.
  if (!host.drive.exists(files[1] ?? '')) throw new Error(`${host.name} does not export its registry: ${stderr}`);
  for (const file of files) {
    if (host.drive.exists(file)) addRegistry(snapshot, readFileSync(host.drive.path(file)).toString('utf16le'));
  }
  for (const [name, content] of seeFiles(host)) snapshot.set(name, content);
  return snapshot;
}

/** The part of a snapshot that needs no command on the host. */
export function seeFiles(host: WindowsHost): Snapshot {
  const snapshot = new Map<string, string>();
  addFiles(snapshot, host.drive.root);
  return snapshot;
}

/** One line for everything that is not the same, such as `removed C:\k\x` or `changed HKEY_LOCAL_MACHINE\…`; none when all is. */
export function difference(before: Snapshot, after: Snapshot): string[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names.flatMap(name => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === is) return [];
    return [`${was === undefined ? 'added' : is === undefined ? 'removed' : 'changed'} ${name}`];
  });
}

/** Values only: a key that holds none makes no difference to anybody. */
function addRegistry(snapshot: Map<string, string>, text: string): void {
  let key = '';
  // Long values go on behind a backslash at the end of a line.
  for (const line of text.replaceAll(/\\\r?\n\s*/g, '').split(/\r?\n/)) {
    const [, name] = /^\[(.*)\]$/.exec(line) ?? [];
    key = name ?? key;
    const [, value, data] = /^(@|"(?:[^"\\]|\\.)*")=(.*)$/.exec(line) ?? [];
    if (value !== undefined && data !== undefined) snapshot.set(`${key} ${value}`, data);
  }
}

function addFiles(snapshot: Map<string, string>, root: string): void {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const names = relative(root, path).split('/');
    const top = names[0]?.toLowerCase();
    if (top === leftOut) continue;
    const bytes = entry.isFile() && top !== namesOnly ? readFileSync(path) : undefined;
    const content = bytes && `${bytes.length} bytes, ${createHash('sha256').update(bytes).digest('hex')}`;
    const name = ['C:', ...names].join('\\');
    // SFTP is case-sensitive here and may have created the folder once more.
    snapshot.set(top === namesOnly ? name.toLowerCase() : name, content ?? '');
  }
}
