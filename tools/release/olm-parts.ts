import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { installFiles } from '../../src/install/files.ts';
import { olmFiles } from '../../src/install/olm/files.ts';
import type { Build } from './build.ts';
import type { ReleaseImages } from './images.ts';

const root = join(import.meta.dirname, '..', '..');

/** Manifests for clusters without OLM, and the policies that OLM cannot install. */
export async function writeManifests(
  folder: string,
  { operator }: ReleaseImages,
  payloadKey: string | undefined,
): Promise<void> {
  const copied = ['admission/agents.yaml', 'crd/windowsinstances.yaml', 'rbac/cluster-api.yaml'];
  for (const path of copied) await put(join(folder, path), await readFile(join(root, 'deploy', path), 'utf8'));
  await putAll(folder, installFiles(operator, payloadKey));
}

interface OlmRelease {
  build: Build;
  images: ReleaseImages;
  payloadKey?: string;
}

/** The context of the bundle image, or of the catalog image. */
export async function writeOlmContext(
  folder: string,
  part: 'bundle' | 'catalog',
  { build: { release, date }, images: { operator, bundle, pause }, payloadKey }: OlmRelease,
): Promise<void> {
  const options = {
    version: release,
    image: operator,
    bundleImage: bundle,
    pauseImage: pause,
    createdAt: date,
    ...(payloadKey !== undefined && { payloadKey }),
  };
  const own = Object.entries(olmFiles(options)).filter(([path]) => path.startsWith(`${part}/`));
  await putAll(folder, Object.fromEntries(own.map(([path, text]) => [path.slice(part.length + 1), text])));
}

const mirror = 'mirror.example.com:5000';
const withoutHost = (image: string) => image.replace(/^[^/]+\//, '');
/** Of an image by tag or digest, without its last part. */
const folderOf = (image: string) => image.replace(/\/[^/]+$/, '');

/** Namespace, OperatorGroup, Subscriptions, CatalogSources and mirror sets, with the images of this release. */
export async function writeExamples(folder: string, { operator, bundle, catalog }: ReleaseImages): Promise<void> {
  const sources = [...new Set([operator, bundle].map(folderOf))].map(
    source => `    - source: ${source}\n      mirrors:\n        - ${mirror}/${withoutHost(source)}\n`,
  );
  const source = join(root, 'examples', 'olm');
  for (const name of await readdir(source)) {
    const text = await readFile(join(source, name), 'utf8');
    const own = text
      .replace(/quay\.io\/\S+\/catalog:\S+/, catalog)
      .replace(/mirror\.example\.com:5000\/\S+\/catalog:\S+/, `${mirror}/${withoutHost(catalog)}`)
      .replace(/^ {4}- source: quay\.io\/\S+\n {6}mirrors:\n {8}- \S+\n/m, sources.join(''));
    await put(join(folder, name), own);
  }
}

async function putAll(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) await put(join(folder, path), text);
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  await writeFile(path, text);
}
