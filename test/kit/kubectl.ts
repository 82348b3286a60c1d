import { execFile, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Every kubectl there is: that of the machine, and Debian's old one, fetched once into the cache where that is possible. */
export function findKubectls(): string[] {
  const own = works('kubectl') ? ['kubectl'] : [];
  const cache = join(homedir(), '.cache', 'windows-machine-config-operator');
  const debian = join(cache, 'kubectl', 'usr', 'bin', 'kubectl');
  if (!existsSync(debian)) fetchDebian(cache);
  const found = [...own, ...(works(debian) ? [debian] : [])];
  if (found.length > 0) return found;
  throw new Error(
    'Tests with kubectl need one, and there is none: install it, or let this machine reach a Debian mirror (apt-get download kubernetes-client).',
  );
}

function works(binary: string): boolean {
  return spawnSync(binary, ['version', '--client'], { timeout: 20_000 }).status === 0;
}

/** Unpacks the package without installing it, so that it needs no rights. */
function fetchDebian(cache: string): void {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, 'kubectl-'));
  try {
    spawnSync('apt-get', ['download', '-q', 'kubernetes-client'], { cwd: folder, timeout: 120_000 });
    const archive = readdirSync(folder).find(name => name.endsWith('.deb'));
    if (archive === undefined) return;
    spawnSync('dpkg-deb', ['-x', archive, 'files'], { cwd: folder, timeout: 60_000 });
    renameSync(join(folder, 'files'), join(cache, 'kubectl'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export interface Kubectl {
  /** What it prints on both outputs, and whether it was content. */
  (...args: string[]): Promise<{ ok: boolean; text: string }>;
}

const run = promisify(execFile);

/** A kubectl that uses the kubeconfig given and keeps its caches in the folder given. */
export function kubectl(binary: string, kubeconfig: string, folder: string): Kubectl {
  return async (...args) => {
    const all = ['--kubeconfig', kubeconfig, '--cache-dir', join(folder, 'cache'), ...args];
    try {
      const { stdout, stderr } = await run(binary, all, { timeout: 30_000 });
      return { ok: true, text: `${stdout}${stderr}` };
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      return { ok: false, text: `${stdout}${stderr}` };
    }
  };
}
