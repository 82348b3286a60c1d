import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** What all hosts of this machine share; in the user's cache, made when missing. */
export interface Parts {
  /** Folder with the programs `wine` and `wineserver`, and OpenSSH's server. */
  wine: string;
  /** Drive C and registry of a bare Windows Server. */
  template: string;
  /** Tree of doubles that is laid over drive C. */
  doubles: string;
  /** Where runs keep their hosts: beside the template, because hosts share its files. */
  runs: string;
}

/** Counted up when make-wine.sh makes something else than before. */
const wineVersion = 'wine-10.0-r3';
const makeTimeoutMs = 20 * 60_000;
const unusedMs = 7 * 24 * 3_600_000;

/** Makes what is missing: one to two minutes the first time, milliseconds from then on. Prints progress on the error output. */
export async function makeParts(cache = join(homedir(), '.cache', 'windows-machine-config-operator')): Promise<Parts> {
  if (process.getuid?.() !== 0) {
    throw new Error('needs root, for namespaces, mounts and network links: run it with sudo');
  }
  const wine = join(cache, wineVersion);
  const template = join(cache, `winhost-template-${hashOf(['make-template.sh', 'doubles/unexpected.txt'])}`);
  const doubles = join(cache, `winhost-doubles-${hashOf(['make-doubles.sh', ...doubleSources()])}`);
  await make(wine, 'make-wine.sh', [wine]);
  await make(template, 'make-template.sh', [wine, template]);
  await make(doubles, 'make-doubles.sh', [doubles]);
  await forgetUnused(cache, [wine, template, doubles]);
  return { wine, template, doubles, runs: join(cache, 'winhost-runs') };
}

function doubleSources(): string[] {
  return readdirSync(join(import.meta.dirname, 'doubles'))
    .sort()
    .map(name => `doubles/${name}`);
}

function hashOf(files: readonly string[]): string {
  const hash = createHash('sha256').update(wineVersion);
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(join(import.meta.dirname, file)));
  return hash.digest('hex').slice(0, 12);
}

/** Up to a gigabyte each: what no checkout on this machine has used for a week goes. */
async function forgetUnused(cache: string, used: readonly string[]): Promise<void> {
  const now = new Date();
  for (const folder of used) await utimes(folder, now, now);
  for (const name of (await readdir(cache)).filter(entry => /^(wine-|winhost-(template|doubles)-)/.test(entry))) {
    // Another run may be making or removing it.
    const usedMs = await stat(join(cache, name)).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity,
    );
    if (usedMs < now.getTime() - unusedMs) await rm(join(cache, name), { recursive: true, force: true });
  }
}

async function make(folder: string, script: string, args: readonly string[]): Promise<void> {
  if (existsSync(folder)) return;
  const child = spawn(join(import.meta.dirname, script), [...args], {
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: makeTimeoutMs,
  });
  const code = await new Promise<number | null>((resolve, reject) => child.once('exit', resolve).once('error', reject));
  if (code !== 0) throw new Error(`test/kit/winhost/${script} failed, see the lines above`);
}
