import { readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type KeyPair, newKeyPair } from '../../../src/payload/signature.ts';
import type { Build } from '../../../tools/release/build.ts';
import { writeImageContext } from '../../../tools/release/image-context.ts';
import { releaseImages } from '../../../tools/release/images.ts';
import { writeOlmContext } from '../../../tools/release/olm-parts.ts';
import { type BuiltProgram, buildProgram } from '../../../tools/release/program.ts';
import { type Registry, startRegistry } from '../registry.ts';
import { baseName, makeBase } from './base.ts';
import { type ImageTools, imageTools } from './buildah.ts';
import { type Layer, layersIn } from './layers.ts';
import { packSimulated } from './payload.ts';

/** Always the same, so that the program is built only when its code changes. */
export const imageBuild: Build = {
  version: '11.0.0-0123456',
  release: '11.0.0',
  commit: '0123456789abcdef0123456789abcdef01234567',
  date: '2023-11-14T22:13:20Z',
};

/** The image of the operator with a small payload, in a registry on loopback and as a node has it. */
export interface ImageScene extends AsyncDisposable {
  tools: ImageTools;
  /** Signs the payload. */
  key: KeyPair;
  program: BuiltProgram;
  /** Built once more, without what is cached. */
  programAgain: BuiltProgram;
  /** Of two builds from contexts that were made at different times, in different folders, by users with different umasks. */
  imageIds: readonly string[];
  /** Both are names by digest. */
  image: string;
  bundle: string;
  /** Of the image, the base first. */
  layers: readonly Layer[];
  /** The files of the pulled image. */
  rootfs: string;
  inspect(image: string): Promise<Inspected>;
  config(): Promise<ImageConfig>;
}

export interface Inspected {
  Digest: string;
  Labels: Record<string, string>;
  Created: string;
}

export interface ImageConfig {
  User: string;
  Env: string[];
  Entrypoint: string[];
  Cmd?: string[];
}

/** Builds, pushes and pulls. */
export async function imageScene(): Promise<ImageScene> {
  const tools = imageTools();
  try {
    const registry = await startRegistry();
    try {
      return await buildAll(tools, registry);
    } catch (error) {
      await registry[Symbol.asyncDispose]();
      throw error;
    }
  } catch (error) {
    await tools[Symbol.asyncDispose]();
    throw error;
  }
}

async function buildAll(tools: ImageTools, registry: Registry): Promise<ImageScene> {
  const { folder, buildah, skopeo, forget } = tools;
  const key = newKeyPair();
  const program = await buildProgram({ build: imageBuild });
  const payload = await packSimulated(folder, imageBuild.version, key);
  await makeBase(tools);
  const contents = { program, payload };
  const buildTwice = async () => [
    await buildImage(tools, { ...contents, name: 'first', umask: 0o022 }),
    await buildImage(tools, { ...contents, name: 'a/second', umask: 0o077 }),
  ];
  const cache = join(folder, 'cache');
  const [imageIds, programAgain] = await Promise.all([buildTwice(), buildProgram({ build: imageBuild, cache })]);
  const image = await push(tools, registry, 'first', 'operator');
  await buildBundle(tools, image);
  const bundle = await push(tools, registry, 'bundle', 'bundle');
  forget();
  const rootfs = await buildah('mount', await buildah('from', '--tls-verify=false', `docker://${image}`));
  await skopeo('copy', '--src-tls-verify=false', `docker://${image}`, `dir:${join(folder, 'copy')}`);
  const inspect = async <T>(...words: string[]) =>
    JSON.parse(await skopeo('inspect', '--tls-verify=false', ...words)) as T;
  return {
    tools,
    key,
    program,
    programAgain,
    imageIds,
    image,
    bundle,
    rootfs,
    layers: layersIn(join(folder, 'copy')),
    inspect: name => inspect(`docker://${name}`),
    config: async () => (await inspect<{ config: ImageConfig }>('--config', `docker://${image}`)).config,
    [Symbol.asyncDispose]: async () => {
      await registry[Symbol.asyncDispose]();
      await tools[Symbol.asyncDispose]();
    },
  };
}

/** As in docs/release.md, but that no base is downloaded. */
const buildFlags = [
  '--isolation',
  'chroot',
  `--timestamp=${Date.parse(imageBuild.date) / 1000}`,
  '--identity-label=false',
  '--pull=never',
  '--quiet',
];

interface ImageOrder {
  /** Of the folder and the image. */
  name: string;
  umask: number;
  program: BuiltProgram;
  payload: string;
}

/** Gives the digest of the configuration, which names the layers. */
async function buildImage(tools: ImageTools, { name, umask, program, payload }: ImageOrder): Promise<string> {
  const context = join(tools.folder, name);
  const before = process.umask(umask);
  try {
    await writeImageContext({ folder: context, build: imageBuild, program, payload });
  } finally {
    process.umask(before);
  }
  const tag = `localhost/${basename(name)}:1`;
  const id = await tools.buildah('build', ...buildFlags, '--build-arg', `BASE=${baseName}`, '--tag', tag, context);
  rmSync(context, { recursive: true });
  return id;
}

/** The OLM bundle that installs the image. */
async function buildBundle(tools: ImageTools, image: string): Promise<void> {
  const context = join(tools.folder, 'bundle');
  const images = releaseImages(imageBuild.release, { operator: image });
  await writeOlmContext(context, 'bundle', { build: imageBuild, images });
  await tools.buildah('build', ...buildFlags, '--tag', 'localhost/bundle:1', context);
}

/** Gives its name by digest. */
async function push(tools: ImageTools, registry: Registry, local: string, name: string): Promise<string> {
  const digestFile = join(tools.folder, `${name}-digest`);
  const flags = ['--tls-verify=false', '--digestfile', digestFile];
  const target = `docker://${registry.host}/${name}:v${imageBuild.release}`;
  await tools.buildah('push', ...flags, `localhost/${local}:1`, target);
  return `${registry.host}/${name}@${readFileSync(digestFile, 'utf8').trim()}`;
}
