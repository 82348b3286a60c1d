import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { versionString } from '../../src/contract/version.ts';

/** What a build is made of; the clock has no part in it, so that builds can be repeated. */
export interface Build {
  /** Such as 11.0.0-1a2b3c4. */
  version: string;
  /** Such as 11.0.0. */
  release: string;
  /** Empty without git. */
  commit: string;
  /** RFC 3339: SOURCE_DATE_EPOCH, or when the commit was made. */
  date: string;
}

export interface BuildOptions {
  /** Such as 11.0.0; that of package.json by default. */
  release?: string;
  /** The whole version string, used as it is. */
  version?: string;
  /** Seconds since 1970. */
  sourceDateEpoch?: string;
}

const root = join(import.meta.dirname, '..', '..');

export function readBuild(options: BuildOptions = {}): Build {
  const release = options.release ?? packageVersion();
  const commit = git('rev-parse', 'HEAD') ?? '';
  const changes = git('status', '--porcelain', '--', 'src', 'package.json', 'package-lock.json') ?? '';
  const seconds = options.sourceDateEpoch ?? git('log', '-1', '--format=%ct') ?? '0';
  return {
    version: options.version ?? (commit === '' ? `${release}-source` : versionString(release, commit, changes !== '')),
    release,
    commit,
    date: dateOf(seconds),
  };
}

function dateOf(seconds: string): string {
  if (!/^\d{1,11}$/.test(seconds))
    throw new Error(`SOURCE_DATE_EPOCH is ${JSON.stringify(seconds)}, not a number of seconds since 1970`);
  return new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z');
}

function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return version;
}

function git(...words: string[]): string | undefined {
  try {
    return execFileSync('git', words, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}
