import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { versionString } from '#contract/version.ts';

const root = join(import.meta.dirname, '..', '..');

/** Of a built program; the bundler adds them. */
export interface BuildFacts {
  /** Empty if it was built without git. */
  commit: string;
  /** RFC 3339: when the commit was made. */
  date: string;
}

/** Version when run from source: package version, commit, and whether the sources were changed since. */
export function sourceVersion(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const commit = git('rev-parse', 'HEAD');
  const changes = git('status', '--porcelain', '--', 'src', 'package.json', 'package-lock.json');
  return commit === undefined ? `${version}-source` : versionString(version, commit, changes !== '');
}

function git(...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
