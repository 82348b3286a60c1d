import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Every kubectl there is: that of the machine, and Debian's old one, fetched once into the cache where that is possible. */
export function findKubectls(): string[] {
  const own = works('kubectl') ? ['kubectl'] : [];
  const cached = join(homedir(), '.cache', 'windows-machine-config-operator', 'kubectl');
  const debian = join(cached, 'usr', 'bin', 'kubectl');
  if (!existsSync(debian)) spawnSync(join(import.meta.dirname, 'fetch-kubectl.sh'), [cached], { timeout: 180_000 });
  const found = [...own, ...(works(debian) ? [debian] : [])];
  if (found.length > 0) return found;
  throw new Error(
    'Tests with kubectl need one, and there is none: install it, or let this machine reach a Debian mirror (apt-get download kubernetes-client).',
  );
}

function works(binary: string): boolean {
  return spawnSync(binary, ['version', '--client'], { timeout: 20_000 }).status === 0;
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
