import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface LayerEntry {
  path: string;
  kind: 'file' | 'folder' | 'link' | 'other';
  /** As `ls -l` shows it, without the kind: `rwxr-xr-x`. */
  mode: string;
  /** `user/group` as numbers. */
  owner: string;
  bytes: number;
  time: string;
}

export interface Layer {
  /** The archive, as the registry has it. */
  file: string;
  packedBytes: number;
  entries: LayerEntry[];
}

/** The layers of an image that skopeo has copied to a folder, the base first. */
export function layersIn(folder: string): Layer[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as {
    layers: { digest: string; size: number }[];
  };
  return manifest.layers.map(({ digest, size }) => {
    const file = join(folder, digest.replace('sha256:', ''));
    return { file, packedBytes: size, entries: entriesOf(file) };
  });
}

function entriesOf(file: string): LayerEntry[] {
  const words = ['--list', '--gzip', '--verbose', '--full-time', '--utc', '--numeric-owner', '--file', file];
  const text = execFileSync('tar', words, {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    env: { ...process.env, LC_ALL: 'C' },
  });
  return text.trimEnd().split('\n').map(entryOf);
}

const kinds = { '-': 'file', d: 'folder', l: 'link' } as const;

function entryOf(line: string): LayerEntry {
  const found = /^(.)(\S{9}) (\d+\/\d+) +(\d+) (\S+ \S+) (.*)$/.exec(line);
  if (found === null) throw new Error(`not a line of tar: ${line}`);
  const [, kind = '', mode = '', owner = '', bytes = '', time = '', name = ''] = found;
  const path = name
    .replace(/ -> .*$/, '')
    .replace(/^\.?\//, '')
    .replace(/\/$/, '');
  return { path, kind: kinds[kind as '-'] ?? 'other', mode, owner, bytes: Number(bytes), time };
}
