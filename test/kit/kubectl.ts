import { execFile, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { issueClientPair } from '../../src/sandbox/apiserver/auth/ca.ts';
import { secureParts } from '../../src/sandbox/apiserver/auth/secure.ts';
import { type ApiServer, startApiServer } from '../../src/sandbox/apiserver/server.ts';

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

/** The embedded API server, and a folder with the kubeconfig of its administrator. */
export interface KubectlServer extends AsyncDisposable {
  server: ApiServer;
  folder: string;
  kubeconfig: string;
}

export async function startKubectlServer(): Promise<KubectlServer> {
  const folder = await mkdtemp(join(tmpdir(), 'wmco-kubectl-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const parts = secureParts();
  const server = await startApiServer(parts);
  const admin = { commonName: 'admin', organizations: ['system:masters'] };
  const { certificate, key } = issueClientPair(parts.authority, admin, parts.clock);
  await writeFile(kubeconfig, server.kubeconfig({ clientCertificate: certificate, clientKey: key }));
  return {
    server,
    folder,
    kubeconfig,
    [Symbol.asyncDispose]: async () => {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
