import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { sourceVersion } from '../../src/cli/version.ts';
import { bundle } from './bundle.ts';
import { withLock } from './exclusive.ts';
import { buildExecutable, type Parts } from './executable.ts';
import { defaultCache, hashOf, packageFile } from './fetch-package.ts';
import { koffiForWindows, nodeForWindows } from './packages.ts';
import type { About } from './version-resource.ts';

export interface AgentOptions {
  /** The TypeScript file to run. */
  entry: string;
  /** Path of the .exe; defaults to the cache. */
  output?: string;
  /** Value of `process.env['WMCO_VERSION']` in the program; defaults to the version of the sources. */
  version?: string;
  /** Version information that Windows shows; defaults to that of the agent. */
  about?: Pick<About, 'description' | 'fileName'>;
  cache?: string;
}

export interface BuiltAgent {
  path: string;
  /** Lower-case hex. */
  sha256: string;
  bytes: number;
  version: string;
  /** All source files, relative to the root of the project. */
  inputs: string[];
}

type Ingredients = Pick<Parts, 'code' | 'about'>;
type Executable = Pick<BuiltAgent, 'path' | 'sha256' | 'bytes'>;

export const agentName = 'windows-instance-config-daemon';
const agent = { description: 'Windows Machine Config Operator agent', fileName: `${agentName}.exe` };
/** Increase it when the build changes, so that no old .exe is taken from the cache. */
const recipe = 3;
const maxKept = 8;
const minAgeMs = 3_600_000;

/** Builds a Windows .exe from a TypeScript program, with Node.js and koffi inside. Builds of the same sources are cached. */
export async function buildAgent(options: AgentOptions): Promise<BuiltAgent> {
  checkNodeVersion(process.version);
  const { cache = defaultCache, version = sourceVersion() } = options;
  const { code, inputs } = await bundle(resolve(options.entry), version);
  const about = { ...agent, ...options.about, product: 'Windows Machine Config Operator', version };
  const made = await withLock(join(cache, 'exe', 'lock'), () => fromCache({ code, about }, cache));
  const path = options.output === undefined ? made.path : resolve(options.output);
  if (path !== made.path) await replace(path, made.path);
  return { ...made, path, version, inputs };
}

/** Throws unless the Node.js that builds is the one that goes into the .exe. */
export function checkNodeVersion(running: string): void {
  const { name, version } = nodeForWindows;
  if (running === `v${version}`) return;
  throw new Error(
    `an .exe with ${name} ${version} needs Node.js ${version} to build, not ${running}: use "npm run build:agent"`,
  );
}

async function fromCache(ingredients: Ingredients, cache: string): Promise<Executable> {
  const path = join(cache, 'exe', `${keyOf(ingredients)}.exe`);
  const wanted = await readFile(`${path}.sha256`, 'utf8').catch(() => undefined);
  const sha256 = await hashOf('sha256', path);
  if (sha256 === undefined || sha256 !== wanted) return make(ingredients, path, cache);
  await utimes(path, new Date(), new Date());
  return { path, sha256, bytes: (await stat(path)).size };
}

export function keyOf(ingredients: Ingredients): string {
  const parts = [recipe, nodeForWindows.fileSha256, koffiForWindows.fileSha256, ingredients];
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 24);
}

async function make(ingredients: Ingredients, path: string, cache: string): Promise<Executable> {
  const node = await packageFile(nodeForWindows, cache);
  const koffi = await packageFile(koffiForWindows, cache);
  await removeOld(dirname(path));
  const folder = await mkdtemp(`${path}.partial-`);
  try {
    const fresh = await buildExecutable({ ...ingredients, node, assets: { 'koffi.node': koffi } }, folder);
    const sha256 = (await hashOf('sha256', fresh)) ?? '';
    await writeFile(`${path}.sha256`, sha256);
    await rename(fresh, path);
    return { path, sha256, bytes: (await stat(path)).size };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Each has 100 MB: keeps the last few, and those that a running test may use. */
async function removeOld(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter(name => name.endsWith('.exe'));
  const aged = await Promise.all(names.map(async name => ({ name, usedMs: (await stat(join(folder, name))).mtimeMs })));
  const old = aged
    .sort((one, other) => other.usedMs - one.usedMs)
    .slice(maxKept)
    .filter(({ usedMs }) => usedMs < Date.now() - minAgeMs);
  for (const { name } of old) {
    await rm(join(folder, name), { force: true });
    await rm(join(folder, `${name}.sha256`), { force: true });
  }
}

async function replace(path: string, source: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await copyFile(source, `${path}.partial`, constants.COPYFILE_FICLONE);
  await rename(`${path}.partial`, path);
}
