import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { bundled } from '../bundle.ts';
import { withLock } from '../build-agent/exclusive.ts';
import { defaultCache, hashOf } from '../build-agent/fetch-package.ts';
import type { Build } from './build.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

export interface BuiltProgram {
  path: string;
  /** Lower-case hex. */
  sha256: string;
  bytes: number;
  /** All source files, relative to the root of the project. */
  inputs: string[];
}

export interface ProgramOptions {
  build: Build;
  /** Path of the executable; a file of the cache by default. */
  output?: string;
  cache?: string;
}

/** Increase it when the build changes, so that no old executable is taken from the cache. */
const recipe = 1;
/** Each has 150 MB. */
const maxKept = 4;

/** Builds `wmco` for Linux as one file, with Node.js inside. Builds of the same sources are cached. */
export async function buildProgram({ build, output, cache = defaultCache }: ProgramOptions): Promise<BuiltProgram> {
  const { code, inputs } = await bundled(join(root, 'src/bin/wmco.ts'), {
    "process.env['WMCO_VERSION']": JSON.stringify(build.version),
    "process.env['WMCO_BUILD']": JSON.stringify(JSON.stringify({ commit: build.commit, date: build.date })),
  });
  const folder = join(cache, 'program');
  const made = await withLock(join(folder, 'lock'), () => fromCache(code, folder));
  if (output !== undefined) await replace(output, made.path);
  return { ...made, path: output ?? made.path, inputs };
}

async function fromCache(code: string, folder: string): Promise<Omit<BuiltProgram, 'inputs'>> {
  const key = createHash('sha256').update(JSON.stringify([recipe, process.version, code]));
  const path = join(folder, `wmco-${key.digest('hex').slice(0, 24)}`);
  const wanted = await readFile(`${path}.sha256`, 'utf8').catch(() => undefined);
  const known = await hashOf('sha256', path);
  // A damaged file is built again.
  if (known !== undefined && known === wanted) return { path, sha256: known, bytes: (await stat(path)).size };
  await removeOld(folder);
  const partial = await mkdtemp(`${path}.partial-`);
  try {
    const fresh = await buildExecutable(code, partial);
    const sha256 = (await hashOf('sha256', fresh)) ?? '';
    await rename(fresh, path);
    await writeFile(`${path}.sha256`, sha256);
    return { path, sha256, bytes: (await stat(path)).size };
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** Builds the executable in an empty folder and returns its path. */
async function buildExecutable(code: string, folder: string): Promise<string> {
  const settings = {
    // Relative names only: the path of the main file becomes part of the executable.
    main: 'main.mjs',
    mainFormat: 'module',
    output: 'wmco',
    disableExperimentalSEAWarning: true,
    // Saves 30 ms of 90, but two builds would differ.
    useCodeCache: false,
    useSnapshot: false,
    // NODE_OPTIONS of a user is for other programs.
    execArgvExtension: 'none',
  };
  await writeFile(join(folder, 'main.mjs'), code);
  await writeFile(join(folder, 'sea.json'), JSON.stringify(settings));
  await run(process.execPath, ['--build-sea', 'sea.json'], { cwd: folder, timeout: 120_000 });
  const path = join(folder, 'wmco');
  await chmod(path, 0o755);
  return path;
}

async function removeOld(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter(name => /^wmco-[0-9a-f]{24}$/.test(name));
  const aged = await Promise.all(names.map(async name => ({ name, madeMs: (await stat(join(folder, name))).mtimeMs })));
  for (const { name } of aged.sort((one, other) => other.madeMs - one.madeMs).slice(maxKept)) {
    await rm(join(folder, name), { force: true });
    await rm(join(folder, `${name}.sha256`), { force: true });
  }
}

/** Also while the former file runs. */
async function replace(path: string, source: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await copyFile(source, `${path}.partial`, constants.COPYFILE_FICLONE);
  await rename(`${path}.partial`, path);
}
