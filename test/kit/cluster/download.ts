import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmod, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';

/** What is downloaded when the internet can be reached; the newest version all three programs are known to run with. */
const version = '1.34.1';
const archive = `envtest-v${version}-linux-amd64.tar.gz`;
const index = 'https://raw.githubusercontent.com/kubernetes-sigs/controller-tools/HEAD/envtest-releases.yaml';
const controllerManager = `https://dl.k8s.io/v${version}/bin/linux/amd64/kube-controller-manager`;

const indexTimeoutMs = 10_000;
const fileTimeoutMs = 300_000;

/** Fills a folder of the cache with programs made by others, checked against the sums published with them. */
export async function downloadBinaries(
  cache: string,
  say: (line: string) => void,
  get: typeof fetch = fetch,
): Promise<string> {
  const listed = await listedArchive(get);
  say(`downloading Kubernetes ${version} (once)`);
  const folder = join(cache, `kube-${version}`);
  const partial = `${folder}.partial-${process.pid}`;
  await mkdir(partial, { recursive: true });
  try {
    const packed = await fetchChecked(get, listed.selfLink, { algorithm: 'sha512', sum: listed.hash });
    const tar = spawnSync('tar', ['-xzf', '-', '--strip-components=2', '-C', partial], { input: packed });
    if (tar.status !== 0) throw new Error(`tar cannot unpack ${archive}: ${tar.stderr.toString().trim()}`);
    const sum = (await fetchBytes(get, `${controllerManager}.sha256`, indexTimeoutMs)).toString().trim();
    const target = join(partial, 'kube-controller-manager');
    await writeFile(target, await fetchChecked(get, controllerManager, { algorithm: 'sha256', sum }));
    await chmod(target, 0o755);
    await rm(folder, { recursive: true, force: true });
    await rename(partial, folder);
    return folder;
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

async function listedArchive(get: typeof fetch): Promise<{ hash: string; selfLink: string }> {
  if (process.platform !== 'linux' || process.arch !== 'x64') throw new Error('only builds for linux-amd64 are used');
  const text = (await fetchBytes(get, index, indexTimeoutMs)).toString();
  const { releases } = parse(text) as { releases: Record<string, Record<string, { hash: string; selfLink: string }>> };
  const found = releases[`v${version}`]?.[archive];
  if (found === undefined) throw new Error(`${index} does not list ${archive}`);
  return found;
}

async function fetchChecked(get: typeof fetch, url: string, want: { algorithm: string; sum: string }): Promise<Buffer> {
  const bytes = await fetchBytes(get, url, fileTimeoutMs);
  const sum = createHash(want.algorithm).update(bytes).digest('hex');
  if (sum !== want.sum) throw new Error(`${url} has the ${want.algorithm} ${sum}, not ${want.sum}`);
  return bytes;
}

async function fetchBytes(get: typeof fetch, url: string, timeoutMs: number): Promise<Buffer> {
  const response = await get(url, { signal: AbortSignal.timeout(timeoutMs) }).catch((error: Error) => {
    throw new Error(`${new URL(url).host} cannot be reached`, { cause: error });
  });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
