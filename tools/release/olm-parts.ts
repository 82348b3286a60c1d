import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { installFiles } from '../../src/install/files.ts';
import { olmFiles } from '../../src/install/olm/files.ts';
import type { Build } from './build.ts';
import type { ReleaseImages } from './images.ts';

const root = join(import.meta.dirname, '..', '..');

/** Manifests for clusters without OLM, and the policies that OLM cannot install. */
export async function writeManifests(folder: string, { operator }: ReleaseImages): Promise<void> {
  const copied = ['admission/agents.yaml', 'crd/windowsinstances.yaml', 'rbac/cluster-api.yaml'];
  for (const path of copied) await put(join(folder, path), await readFile(join(root, 'deploy', path), 'utf8'));
  await putAll(folder, installFiles(operator));
}

/** The context of the bundle image, or of the catalog image. */
export async function writeOlmContext(
  folder: string,
  part: 'bundle' | 'catalog',
  { release, date }: Build,
  { operator, bundle, pause }: ReleaseImages,
): Promise<void> {
  const options = { version: release, image: operator, bundleImage: bundle, pauseImage: pause, createdAt: date };
  const own = Object.entries(olmFiles(options)).filter(([path]) => path.startsWith(`${part}/`));
  await putAll(folder, Object.fromEntries(own.map(([path, text]) => [path.slice(part.length + 1), text])));
}

/** Namespace, OperatorGroup, Subscriptions and CatalogSources, with the catalog of this release. */
export async function writeExamples(folder: string, { catalog }: ReleaseImages): Promise<void> {
  const source = join(root, 'examples', 'olm');
  for (const name of await readdir(source)) {
    const text = await readFile(join(source, name), 'utf8');
    await put(join(folder, name), text.replace(/quay\.io\/\S+\/catalog:\S+/, catalog));
  }
}

async function putAll(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) await put(join(folder, path), text);
}

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o755 });
  await writeFile(path, text);
}
