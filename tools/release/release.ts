import { chmod, copyFile, mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { printChecksums } from '../../src/payload/checksums.ts';
import { checkReplaceable, sumsIn } from '../../src/payload/folder.ts';
import type { Build } from './build.ts';
import { sbomPath, writeImageContext } from './image-context.ts';
import { imageList, type ReleaseImages, releaseImages } from './images.ts';
import { writeExamples, writeManifests, writeOlmContext } from './olm-parts.ts';
import { buildProgram, type BuiltProgram } from './program.ts';

export interface ReleaseOptions {
  build: Build;
  /** Replaced when it is complete. */
  output: string;
  /** Folder with a packed payload. */
  payload?: string;
  /** PEM of the public key that has signed the payload; default is the key of the release. */
  payloadKey?: string;
  /** Checks the copy of the payload that becomes part of the image. */
  checkPayload?: (folder: string) => Promise<void>;
  /** Image references other than the usual tags; by digest once the images are pushed. */
  images?: Partial<ReleaseImages>;
  cache?: string;
  progress?: (line: string) => void;
}

interface Order extends ReleaseOptions {
  images: ReleaseImages;
  /** Where the release is being made. */
  folder: string;
  program: BuiltProgram;
}

interface Part {
  /** Below the folder of the release. */
  path: string;
  make: (path: string, order: Order) => Promise<void>;
}

/** The parts of a release, in order. */
const releaseParts: readonly Part[] = [
  { path: 'wmco', make: (path, { program }) => copyFile(program.path, path) },
  {
    path: 'image',
    make: async (folder, { build, program, payload, checkPayload }) => {
      await writeImageContext({ folder, build, program, ...(payload !== undefined && { payload }) });
      if (payload !== undefined) await checkPayload?.(join(folder, 'rootfs', 'payload'));
    },
  },
  { path: 'manifests', make: (path, { images, payloadKey }) => writeManifests(path, images, payloadKey) },
  { path: 'bundle', make: (path, order) => writeOlmContext(path, 'bundle', order) },
  { path: 'catalog', make: (path, order) => writeOlmContext(path, 'catalog', order) },
  { path: 'examples', make: (path, { images }) => writeExamples(path, images) },
  { path: 'images.txt', make: (path, { images }) => writeFile(path, imageList(images)) },
  { path: 'sbom.spdx.json', make: (path, { folder }) => copyFile(join(folder, 'image', 'rootfs', sbomPath), path) },
];

/** Makes a release in the folder, complete or not at all. Two runs on the same sources give the same bytes. */
export async function makeRelease(options: ReleaseOptions, makeProgram = buildProgram): Promise<void> {
  const { build, output, cache, progress = () => undefined } = options;
  await checkReplaceable(output, { what: 'a release', list: checksumsName }, { allowsLinks: true });
  const images = releaseImages(build.release, options.images);
  progress(`building wmco ${build.version} ...`);
  const program = await makeProgram({ build, ...(cache !== undefined && { cache }) });
  await mkdir(dirname(output), { recursive: true });
  const folder = await mkdtemp(`${output}.partial-`);
  try {
    for (const { path, make } of releaseParts) {
      progress(`writing ${path} ...`);
      await make(join(folder, path), { ...options, images, folder, program });
    }
    await writeFile(join(folder, checksumsName), printChecksums(await sumsIn(folder, { allowsLinks: true })));
    await setModes(folder);
    await rm(output, { recursive: true, force: true });
    await rename(folder, output);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const checksumsName = 'SHA256SUMS';

/** The umask of the builder has no part in the release. */
async function setModes(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isDirectory()) await chmod(path, 0o755);
    else if (entry.isFile()) await chmod(path, ((await stat(path)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}
