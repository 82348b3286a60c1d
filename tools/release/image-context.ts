import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, copyFile, cp, lstat, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Component, linuxComponentsOf } from '../build-agent/components.ts';
import { hashOf } from '../build-agent/fetch-package.ts';
import type { Build } from './build.ts';
import type { BuiltProgram } from './program.ts';
import { printSpdx, type SystemLibrary } from './spdx.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const product = 'windows-machine-config-operator';

export interface ContextOptions {
  /** Must not exist. */
  folder: string;
  build: Build;
  program: BuiltProgram;
  /** Folder with a packed payload; an image without one does not start. */
  payload?: string;
}

/** Where the SBOM of the operator is in the image. */
export const sbomPath = `/usr/share/${product}/sbom.spdx.json`;

/** Writes the folder that an image is built from: the Containerfile, and `rootfs` with all files of the image. */
export async function writeImageContext({ folder, build, program, payload }: ContextOptions): Promise<void> {
  const inImage = (path: string) => join(folder, 'rootfs', path);
  for (const path of [`usr/local/bin`, `usr/local/lib/${product}`, `usr/share/${product}`, 'licenses', 'payload'])
    await mkdir(inImage(path), { recursive: true });
  await writeFile(join(folder, 'Containerfile'), await containerfile(build));
  await copyFile(program.path, inImage(`usr/local/bin/${product}`));
  await symlink(product, inImage('usr/local/bin/wmco'));
  const libraries: SystemLibrary[] = [];
  for (const path of await missingLibraries(program.path))
    libraries.push(await addLibrary(path, inImage(`usr/local/lib/${product}`), inImage('licenses')));
  const components = await linuxComponentsOf(program.inputs);
  await writeLicenses(inImage('licenses'), components);
  await writeFile(inImage(sbomPath), printSpdx({ build, sha256: program.sha256, components, libraries }));
  if (payload !== undefined) await addPayload(payload, inImage('payload'));
  await setModes(join(folder, 'rootfs'), path => path === inImage(`usr/local/bin/${product}`));
}

/** The Containerfile with the facts of the build as defaults of its arguments. */
async function containerfile({ release, commit, date }: Build): Promise<string> {
  const facts: Record<string, string> = { VERSION: release, RELEASE: release, COMMIT: commit || 'unknown', DATE: date };
  const text = await readFile(join(root, 'image', 'Containerfile'), 'utf8');
  return text.replaceAll(/^ARG ([A-Z]+)=.*$/gm, (line, name: string) =>
    facts[name] === undefined ? line : `ARG ${name}=${facts[name]}`,
  );
}

/** Every base has the libraries of C and C++; libatomic is the one that small bases lack. */
const ownLibraries = ['libatomic.so.1'];

async function missingLibraries(program: string): Promise<string[]> {
  const { stdout } = await run('ldd', [program]);
  return ownLibraries.flatMap(name => {
    const line = stdout.split('\n').find(each => each.trim().startsWith(`${name} `));
    if (line === undefined) return [];
    const path = / => (\/\S+)/.exec(line)?.[1];
    if (path === undefined) throw new Error(`${name} is missing on this machine: install the package libatomic1`);
    return [path];
  });
}

async function addLibrary(path: string, folder: string, licenses: string): Promise<SystemLibrary> {
  const [name = ''] = ownLibraries.filter(each => path.endsWith(`/${each}`));
  await copyFile(path, join(folder, name));
  const notice = '/usr/share/doc/libatomic1/copyright';
  if (existsSync(notice)) {
    await mkdir(join(licenses, 'libatomic'), { recursive: true });
    await copyFile(notice, join(licenses, 'libatomic', 'copyright'));
  }
  const sha256 = (await hashOf('sha256', join(folder, name))) ?? '';
  const version = (await packageVersion('libatomic1')) ?? sha256.slice(0, 12);
  return { name: 'libatomic', version, license: 'GPL-3.0-or-later WITH GCC-exception-3.1', sha256 };
}

/** Undefined where packages are not those of Debian. */
async function packageVersion(name: string): Promise<string | undefined> {
  const asked = await run('dpkg-query', ['--show', '--showformat', '${Version}', name]).catch(() => undefined);
  return asked?.stdout.trim() || undefined;
}

async function writeLicenses(folder: string, components: readonly Component[]): Promise<void> {
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  for (const { name, licenseText } of components) {
    if (licenseText === undefined) throw new Error(`${name} has no license text to distribute with it`);
    const path = join(folder, name.replace('/', '-'), 'LICENSE');
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, licenseText);
  }
}

/** Links could point out of the payload, so they are refused. */
async function addPayload(source: string, target: string): Promise<void> {
  for (const entry of await readdir(source, { recursive: true, withFileTypes: true }))
    if (!entry.isFile() && !entry.isDirectory())
      throw new Error(`${join(entry.parentPath, entry.name)} is neither file nor folder: a payload has no links`);
  if (!existsSync(join(source, 'sha256sum'))) throw new Error(`${source} is not a payload: it has no file sha256sum`);
  await cp(source, target, { recursive: true });
}

/** Any user can read everything and change nothing, whatever the umask of the builder is. */
async function setModes(path: string, isProgram: (path: string) => boolean): Promise<void> {
  const facts = await lstat(path);
  if (facts.isSymbolicLink()) return;
  await chmod(path, facts.isDirectory() || isProgram(path) ? 0o755 : 0o644);
  if (!facts.isDirectory()) return;
  for (const name of await readdir(path)) await setModes(join(path, name), isProgram);
}
