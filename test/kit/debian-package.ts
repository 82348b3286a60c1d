import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Programs that tests start, with the package of Debian that has them. */
const packages = {
  '/usr/sbin/sshd': 'openssh-server',
  '/usr/bin/docker-registry': 'docker-registry',
  '/usr/bin/skopeo': 'skopeo',
  '/usr/bin/buildah': 'buildah',
} as const;

export type DebianProgram = keyof typeof packages;

/** Installs what is missing, with one call of apt-get; needs root then. Services are not started. */
export function ensurePrograms(...programs: readonly DebianProgram[]): void {
  const missing = () => programs.filter(path => !existsSync(path)).map(path => packages[path]);
  if (missing().length === 0) return;
  const stderr = runScript('install-packages.sh', missing());
  if (missing().length === 0) return;
  throw new Error(`This test needs root, or the Debian packages ${missing().join(' and ')} installed. ${stderr}`);
}

/** The files of packages, downloaded once and kept; `name` has the version of the list. */
export function packageFiles(name: string, packages: readonly string[]): string[] {
  const folder = join(cache, name);
  const stderr = existsSync(folder) ? '' : runScript('download-packages.sh', [folder, ...packages]);
  if (!existsSync(folder))
    throw new Error(`The Debian packages ${packages.join(' and ')} cannot be downloaded. ${stderr}`);
  return readdirSync(folder).map(file => join(folder, file));
}

const cache = join(homedir(), '.cache', 'windows-machine-config-operator');

/** One at a time on this machine; gives what it says about failures. */
function runScript(name: string, words: readonly string[]): string {
  mkdirSync(cache, { recursive: true });
  const lock = join(cache, 'packages.lock');
  const options = { timeout: 600_000, encoding: 'utf8' } as const;
  return spawnSync(join(import.meta.dirname, name), [lock, ...words], options).stderr;
}
