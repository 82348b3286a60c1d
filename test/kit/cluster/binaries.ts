import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { downloadBinaries } from './download.ts';

export interface Program {
  path: string;
  /** Such as v1.20.2. */
  version: string;
  minor: number;
}

export interface Binaries {
  etcd: string;
  apiServer: Program;
  /** Absent when neither the folder given nor the cache has one. */
  controllerManager: Program | undefined;
}

export interface Places {
  /** Folder given by the user; the variable KUBEBUILDER_ASSETS when absent. */
  assets?: string;
  cache?: string;
  say?: (line: string) => void;
}

const needed = ['etcd', 'kube-apiserver'];
const manager = 'kube-controller-manager';
const all = [...needed, manager];
/** The first build lacked a repair without which kube-apiserver dies when a custom resource is created. */
const built = 'kube-1.20.2-r2';
const broken = 'kube-1.20.2';

/** The programs of a real cluster: those of KUBEBUILDER_ASSETS, else those of the cache, which is filled when it is empty. */
export async function findBinaries(places: Places = {}): Promise<Binaries> {
  const { assets = process.env.KUBEBUILDER_ASSETS ?? '', say = sayToUser } = places;
  const cache = places.cache ?? join(homedir(), '.cache', 'windows-machine-config-operator');
  if (assets === '') return describe(newestIn(cache) ?? (await fillCache(cache, say)), undefined, say);
  const missing = missingIn(assets, needed);
  if (missing.length === 0) return describe(assets, newestIn(cache), say);
  throw new Error(`KUBEBUILDER_ASSETS is ${assets}, which lacks ${missing.join(' and ')}: correct or unset it`);
}

function describe(folder: string, fallback: string | undefined, say: (line: string) => void): Binaries {
  const source = missingIn(folder, [manager]).length === 0 ? folder : fallback;
  if (source !== folder) {
    const instead =
      source === undefined ? 'running without it: no signing, no defaults, no garbage collection' : `using ${source}`;
    say(`${folder} has no ${manager}; ${instead}`);
  }
  return {
    etcd: join(folder, 'etcd'),
    apiServer: programAt(join(folder, 'kube-apiserver')),
    controllerManager: source === undefined ? undefined : programAt(join(source, manager)),
  };
}

function programAt(path: string): Program {
  const printed = execFileSync(path, ['--version'], { encoding: 'utf8', timeout: 10_000 });
  const [, version = '', minor = ''] = /(v1\.(\d+)\.\S+)/.exec(printed) ?? [];
  if (version === '') throw new Error(`${path} --version prints ${JSON.stringify(printed)}, not a version`);
  return { path, version, minor: Number(minor) };
}

function newestIn(cache: string): string | undefined {
  if (!existsSync(cache)) return undefined;
  return readdirSync(cache)
    .filter(name => /^kube-1\.\d+\.\d+(-r\d+)?$/.test(name) && name !== broken)
    .sort((one, other) => Number(other.split('.')[1]) - Number(one.split('.')[1]))
    .map(name => join(cache, name))
    .find(folder => missingIn(folder, all).length === 0);
}

function missingIn(folder: string, names: readonly string[]): string[] {
  return names.filter(name => !existsSync(join(folder, name)));
}

async function fillCache(cache: string, say: (line: string) => void): Promise<string> {
  const reason = await downloadBinaries(cache, say).then(
    folder => ({ folder }),
    (error: Error) => ({ why: error.message }),
  );
  if ('folder' in reason) return reason.folder;
  say(`cannot download (${reason.why}); building from Debian's source`);
  const folder = join(cache, built);
  const { status } = spawnSync(join(import.meta.dirname, 'make-kube.sh'), [folder], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: 40 * 60_000,
  });
  if (status === 0) return folder;
  throw new Error(
    [
      `Tests on a real cluster need ${all.join(', ')}, and there are none.`,
      `They cannot be downloaded: ${reason.why}.`,
      'They cannot be built: see the lines above.',
      `To fix it, set KUBEBUILDER_ASSETS to a folder that has them, or let this machine reach the internet,`,
      `or run test/kit/cluster/make-kube.sh ${folder} as root on Debian 12.`,
    ].join('\n'),
  );
}

function sayToUser(line: string): void {
  process.stderr.write(`cluster: ${line}\n`);
}
