import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { findBinaries } from '../kit/cluster/binaries.ts';
import { apiServerFlags, controllerManagerFlags, type Layout } from '../kit/cluster/flags.ts';

const script = join(import.meta.dirname, '../kit/cluster/make-kube.sh');

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'binaries-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Programs that can only print their version. */
function fill(folder: string, programs: Record<string, string>): string {
  mkdirSync(folder, { recursive: true });
  for (const [name, said] of Object.entries(programs)) program(join(folder, name), `echo '${said}'`);
  return folder;
}

function program(path: string, body: string): void {
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
}

const whole = (version: string) => ({
  etcd: 'etcd Version: 3.5.0',
  'kube-apiserver': `Kubernetes ${version}`,
  'kube-controller-manager': `Kubernetes ${version}`,
});

async function find(assets: string, cache: string) {
  const said: string[] = [];
  return { ...(await findBinaries({ assets, cache, say: line => said.push(line) })), said };
}

test('uses all programs of the given folder', async () => {
  const assets = fill(makeFolder(), whole('v1.36.4'));
  const cache = makeFolder();
  fill(join(cache, 'kube-1.20.2-r2'), whole('v1.20.2'));
  expect(await find(assets, cache)).toEqual({
    etcd: join(assets, 'etcd'),
    apiServer: { path: join(assets, 'kube-apiserver'), version: 'v1.36.4', minor: 36 },
    controllerManager: { path: join(assets, 'kube-controller-manager'), version: 'v1.36.4', minor: 36 },
    said: [],
  });
});

test('uses kube-controller-manager from the cache if the folder lacks it, and reports it', async () => {
  const { etcd, 'kube-apiserver': server } = whole('v1.36.4-rc.1+abc');
  const assets = fill(makeFolder(), { etcd, 'kube-apiserver': server });
  const cache = makeFolder();
  const folder = fill(join(cache, 'kube-1.20.2-r2'), whole('v1.20.2'));
  const found = await find(assets, cache);
  expect(found.apiServer).toMatchObject({ version: 'v1.36.4-rc.1+abc', minor: 36 });
  expect(found.controllerManager).toMatchObject({ path: join(folder, 'kube-controller-manager'), minor: 20 });
  expect(found.said).toEqual([`${assets} has no kube-controller-manager; using ${folder}`]);
});

test('works without kube-controller-manager, and reports the consequences', async () => {
  const { etcd, 'kube-apiserver': server } = whole('v1.30.0');
  const assets = fill(makeFolder(), { etcd, 'kube-apiserver': server });
  const found = await find(assets, join(makeFolder(), 'none'));
  expect(found.controllerManager).toBeUndefined();
  expect(found.said[0]).toContain('no signing, no defaults, no garbage collection');
});

test('names programs that the given folder lacks', async () => {
  const assets = makeFolder();
  await expect(find(assets, makeFolder())).rejects.toThrow(
    `KUBEBUILDER_ASSETS is ${assets}, which lacks etcd and kube-apiserver: correct or unset it`,
  );
});

test('rejects a program that prints no version', async () => {
  const assets = fill(makeFolder(), { ...whole('v1.30.0'), 'kube-apiserver': 'hello' });
  await expect(find(assets, makeFolder())).rejects.toThrow('--version prints "hello\\n", not a version');
});

test('uses the newest complete version of the cache, and never the broken build', async () => {
  const cache = makeFolder();
  fill(join(cache, 'kube-1.20.2'), whole('v1.20.2'));
  fill(join(cache, 'kube-1.20.2-r2'), whole('v1.20.2'));
  fill(join(cache, 'kube-1.9.9'), whole('v1.9.9'));
  fill(join(cache, 'kube-1.99.0'), { etcd: '', 'kube-apiserver': 'Kubernetes v1.99.0' });
  fill(join(cache, 'kube-1.88.0.partial-7'), whole('v1.88.0'));
  expect((await find('', cache)).apiServer.path).toBe(join(cache, 'kube-1.20.2-r2', 'kube-apiserver'));
  fill(join(cache, 'kube-1.34.1'), whole('v1.34.1'));
  expect((await find('', cache)).apiServer.minor).toBe(34);
});

/** Runs the build script with replaced programs; it stops before building. */
function build(folder: string, path: string) {
  const { status, stderr } = spawnSync('/bin/bash', [script, folder], { env: { PATH: path }, encoding: 'utf8' });
  return { status, said: stderr };
}

test('the build reports that it needs root', () => {
  const bin = makeFolder();
  program(join(bin, 'id'), 'echo 1000');
  program(join(bin, 'apt-get'), 'exit 1');
  const folder = join(makeFolder(), 'kube');
  const { status, said } = build(folder, `${bin}:/usr/bin:/bin`);
  expect(status).toBe(1);
  expect(said).toContain(`not root: run 'sudo ${script} ${folder}' once, or set KUBEBUILDER_ASSETS`);
});

test('the build reports that it needs apt-get', () => {
  const bin = makeFolder();
  for (const name of ['readlink', 'date', 'mkdir', 'flock']) symlinkSync(`/usr/bin/${name}`, join(bin, name));
  const { status, said } = build(join(makeFolder(), 'kube'), bin);
  expect(status).toBe(1);
  expect(said).toContain('apt-get is missing: the build needs Debian or a relative of it');
});

test('the build reports an unreachable mirror', () => {
  const bin = makeFolder();
  program(join(bin, 'id'), 'echo 0');
  program(join(bin, 'apt-get'), 'echo "Could not resolve the mirror" >&2; exit 100');
  const { status, said } = build(join(makeFolder(), 'kube'), `${bin}:/usr/bin:/bin`);
  expect(status).toBe(1);
  expect(said).toContain('Could not resolve the mirror');
  expect(said).toContain('the Debian mirror must be reachable');
});

test('the build does nothing when all programs exist', () => {
  const folder = fill(join(makeFolder(), 'kube'), whole('v1.20.2'));
  expect(build(folder, '/usr/bin:/bin')).toEqual({ status: 0, said: '' });
});

test('a second build waits for the first', async () => {
  const folder = fill(join(makeFolder(), 'kube'), whole('v1.20.2'));
  const first = spawn('/usr/bin/flock', [`${folder}.lock`, 'sh', '-c', 'echo locked; sleep 0.5']);
  await once(first.stdout, 'data');
  const start = performance.now();
  const { status, said } = build(folder, '/usr/bin:/bin');
  expect([status, said]).toEqual([0, expect.stringContaining('another run is building; waiting for it')]);
  expect(performance.now() - start).toBeGreaterThan(50);
  first.kill();
});

const layout: Layout = {
  folder: '/f',
  etcdUrl: 'http://127.0.0.1:1',
  port: 2,
  apiServerMinor: 20,
  managerMinor: 20,
  authorization: 'RBAC',
  admissionPlugins: [],
  controllers: ['nodelifecycle'],
  apiServerFlags: [],
  controllerManagerFlags: ['--cluster-signing-duration=5m'],
};
test.each([
  [20, true],
  [24, true],
  [25, false],
  [36, false],
])('names beta APIs to kube-apiserver 1.%i only where they exist: %s', (apiServerMinor, isNamed) => {
  const flags = apiServerFlags({ ...layout, apiServerMinor });
  expect(flags.some(flag => flag.includes('v1beta1'))).toBe(isNamed);
});

const versions: [number, string, string, boolean][] = [
  [20, 'serviceaccount,serviceaccount-token,root-ca-cert-publisher,', 'nodelifecycle', true],
  [23, 'serviceaccount,', 'nodelifecycle', true],
  [24, 'serviceaccount,', 'nodelifecycle', false],
  [28, 'serviceaccount-controller,serviceaccount-token-controller,root-ca-', 'node-lifecycle-controller', false],
  [36, 'serviceaccount-controller,', 'node-lifecycle-controller', false],
];
for (const [managerMinor, controllers, last, hasPort] of versions) {
  test(`starts kube-controller-manager 1.${managerMinor} with flags that it supports`, () => {
    const flags = controllerManagerFlags({ ...layout, managerMinor });
    expect(flags.find(flag => flag.startsWith('--controllers='))).toMatch(
      new RegExp(`^--controllers=${controllers}.*,${last}$`),
    );
    expect(flags.includes('--port=0')).toBe(hasPort);
    expect(flags.at(-1)).toBe('--cluster-signing-duration=5m');
  });
}
