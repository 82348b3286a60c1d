import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

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
  const lock = join(homedir(), '.cache', 'windows-machine-config-operator', 'packages.lock');
  mkdirSync(dirname(lock), { recursive: true });
  const { stderr } = spawnSync(join(import.meta.dirname, 'install-packages.sh'), [lock, ...missing()], {
    timeout: 600_000,
    encoding: 'utf8',
  });
  if (missing().length === 0) return;
  throw new Error(`This test needs root, or the Debian packages ${missing().join(' and ')} installed. ${stderr}`);
}
