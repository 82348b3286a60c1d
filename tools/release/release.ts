import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { printChecksums } from '../../src/payload/checksums.ts';
import { sumsIn } from '../../src/payload/folder.ts';
import type { Build } from './build.ts';
import { writeImageContext } from './image-context.ts';
import { buildProgram, type BuiltProgram } from './program.ts';

export interface ReleaseOptions {
  build: Build;
  /** Replaced when it is complete. */
  output: string;
  /** Folder with a packed payload. */
  payload?: string;
  cache?: string;
  progress?: (line: string) => void;
}

interface Order extends ReleaseOptions {
  /** Where the release is being made. */
  folder: string;
  program: BuiltProgram;
}

interface Part {
  /** Below the folder of the release. */
  path: string;
  make: (path: string, order: Order) => Promise<void>;
}

/** The parts of a release, in order. Manifests, OLM bundle and catalog are further rows: each writes below its path. */
export const releaseParts: readonly Part[] = [
  { path: 'wmco', make: (path, { program }) => copyFile(program.path, path) },
  {
    path: 'image',
    make: (folder, { build, program, payload }) =>
      writeImageContext({ folder, build, program, ...(payload !== undefined && { payload }) }),
  },
];

/** Makes a release in the folder, complete or not at all. Two runs on the same sources give the same bytes. */
export async function makeRelease(options: ReleaseOptions): Promise<void> {
  const { build, output, cache, progress = () => undefined } = options;
  if (existsSync(output) && !existsSync(join(output, checksumsName)))
    throw new Error(`${output} exists and is not a release: name another folder, or delete it`);
  progress(`building wmco ${build.version} ...`);
  const program = await buildProgram({ build, ...(cache !== undefined && { cache }) });
  await mkdir(dirname(output), { recursive: true });
  const folder = await mkdtemp(`${output}.partial-`);
  try {
    for (const { path, make } of releaseParts) {
      progress(`writing ${path} ...`);
      await make(join(folder, path), { ...options, folder, program });
    }
    await writeFile(join(folder, checksumsName), printChecksums(await sumsIn(folder, { allowsLinks: true })));
    await chmod(folder, 0o755);
    await rm(output, { recursive: true, force: true });
    await rename(folder, output);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const checksumsName = 'SHA256SUMS';
