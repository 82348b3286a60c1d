import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect as dialTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AppError, isAppError } from '#base/errors.ts';
import { parsePrivateKey } from '#host/keys/private-key.ts';
import { printPublicKey } from '#host/keys/public-key.ts';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import type { KubeResource } from '#kube/resource.ts';
import { configMaps, nodes, ofNamespace, secrets } from '#kube/resources.ts';
import { machines } from '#kube/resources-openshift.ts';
import { makeKey } from '../../test/kit/ssh-server.ts';
import { authorizedKeysAnnotation } from './machines/cluster/set-keys.ts';
import type { SimulatedHost } from './machines/host/host.ts';
import { publishedNetwork } from './machines/published-network.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from './sandbox.ts';

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'wmco-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function open(options: SandboxOptions = {}): Promise<Sandbox & { client: Client }> {
  const sandbox = await startSandbox({ speed: 100, ...options });
  const client = createClient(loadKubeconfig(sandbox.kubeconfig));
  return Object.assign(sandbox, {
    client,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await sandbox.stop();
    },
  });
}

const connectTo = (sandbox: Sandbox, address: string) =>
  sandbox.connect(
    {
      address,
      username: 'Administrator',
      privateKeys: [parsePrivateKey(sandbox.privateKey.reveal())],
      pinnedKey: undefined,
    },
    { dialTimeoutMs: 500 },
  );

test('starts the requested hosts, gives every third a DNS name and lists them all', async () => {
  await using sandbox = await open({ hosts: 6 });
  expect(sandbox.hosts.map(({ spec }) => spec.name)).toEqual(['win-1', 'win-2', 'win-3', 'win-4', 'win-5', 'win-6']);
  const { data = {} } = await sandbox.client.get(configMaps, 'windows-instances', { namespace: sandbox.namespace });
  expect(Object.values(data)).toEqual(Array(6).fill('username=Administrator'));
  expect(Object.keys(data).filter(name => name.endsWith('.sandbox.test'))).toEqual([
    'win-3.sandbox.test',
    'win-6.sandbox.test',
  ]);
  for (const name of Object.keys(data)) {
    await using connection = await connectTo(sandbox, name);
    expect(connection.facts.address).toBe(name);
  }
});

test('an empty sandbox is one, too', async () => {
  await using sandbox = await open();
  expect(sandbox.hosts).toEqual([]);
  expect((await sandbox.client.list(nodes)).items.map(({ metadata }) => metadata.name)).toEqual([
    'linux-control-plane-0',
    'linux-worker-0',
  ]);
});

test('hosts can wait without being listed', async () => {
  await using sandbox = await open({ hosts: 1, listsHosts: false });
  const options = { namespace: sandbox.namespace };
  await expect(sandbox.client.get(configMaps, 'windows-instances', options)).rejects.toMatchObject({ code: 404 });
});

test('the private key of the Secret opens the hosts, and is new in every sandbox', async () => {
  await using one = await open({ hosts: 1 });
  await using other = await open();
  const { data } = await one.client.get(secrets, 'cloud-private-key', { namespace: one.namespace });
  expect(Buffer.from(data?.['private-key.pem'] ?? '', 'base64').toString()).toBe(one.privateKey.reveal());
  expect(one.privateKey.reveal()).not.toBe(other.privateKey.reveal());
  expect(JSON.stringify(one.privateKey)).toBe('"<redacted>"');
});

test('unknown names and addresses fail as on a real network', async () => {
  await using sandbox = await open({ hosts: 1 });
  const codeOf = async (address: string) => {
    const error: unknown = await connectTo(sandbox, address).catch((thrown: unknown) => thrown);
    return isAppError(error) ? error.code : error;
  };
  expect(await codeOf('typo.sandbox.test')).toBe('INSTANCE_ADDRESS_UNRESOLVED');
  expect(await codeOf('10.250.0.1')).toBe('HOST_UNREACHABLE');
  expect(await sandbox.resolver.addresses('typo.sandbox.test')).toEqual([]);
});

test('hosts can be added and removed at run time, and their routes are published', async () => {
  await using sandbox = await open();
  const { findRoute } = publishedNetwork(sandbox.client);
  const host = await sandbox.addHost({ name: 'late', hasDnsName: true });
  await expect.poll(() => findRoute(host.spec.address)).toMatchObject({ port: expect.any(Number) });
  expect(await sandbox.resolver.addresses('late.sandbox.test')).toEqual([host.spec.address]);
  expect(sandbox.host('late')).toBe(host);
  host.cutPower();
  await expect.poll(() => findRoute(host.spec.address)).toBe('refused');
  await sandbox.removeHost('late');
  await expect.poll(() => findRoute(host.spec.address)).toBeUndefined();
  expect(() => sandbox.host('late')).toThrow(expect.objectContaining({ code: 'USAGE' }));
});

test('faults are assigned to the named hosts', async () => {
  await using sandbox = await open({ hosts: 3, faults: ['german@win-1', 'full-disk'] });
  expect(sandbox.hosts.map(({ spec }) => [spec.traits.language, spec.traits.diskBytes < 1e9])).toEqual([
    ['german', false],
    ['english', false],
    ['english', true],
  ]);
});

test('a user sets the SSH keys of a host by an annotation of its instance', async () => {
  await using sandbox = await open({ hosts: 2 });
  const [{ spec }, other] = sandbox.hosts as [SimulatedHost, SimulatedHost];
  const { key } = makeKey();
  const annotations = { [authorizedKeysAnnotation]: `# new\n${printPublicKey(key.publicKey)}` };
  const instances = ofNamespace('windowsmachineconfig.openshift.io/v1alpha1', 'WindowsInstance', 'windowsinstances');
  await sandbox.client.create(instances, {
    apiVersion: 'windowsmachineconfig.openshift.io/v1alpha1',
    kind: 'WindowsInstance',
    metadata: { name: 'win-1', namespace: sandbox.namespace, annotations },
    spec: { address: spec.address, username: spec.user },
  } as KubeResource);
  const refusal = async () => {
    try {
      await using _ = await connectTo(sandbox, spec.address);
      return 'none';
    } catch (error) {
      return (error as AppError).code;
    }
  };
  await expect.poll(refusal).toBe('HOST_REFUSED_KEY');
  const login = { address: spec.address, username: spec.user, privateKeys: [key], pinnedKey: undefined };
  await using connection = await sandbox.connect(login, {});
  expect(connection.facts.acceptedKey).toEqual(key.publicKey);
  await using _ = await connectTo(sandbox, other.spec.address);
});

test('Machines wait for their user data and become hosts that accept its key', async () => {
  await using sandbox = await open({ machines: 2, faults: ['german@winworker-2'] });
  const namespace = 'openshift-machine-api';
  const phases = async () =>
    (await sandbox.client.list(machines, { namespace })).items.map(({ status }) => status?.phase ?? '');
  await expect.poll(phases).toEqual(['Provisioning', 'Provisioning']);
  const { publicKey } = parsePrivateKey(sandbox.privateKey.reveal());
  const line = `${publicKey.type} ${Buffer.from(publicKey.blob).toString('base64')}`;
  const stringData = { userData: `<powershell>\n$key = @'\n${line}\n'@\n</powershell>` };
  await sandbox.client.create(secrets, { metadata: { name: 'windows-user-data', namespace }, stringData });
  await expect.poll(phases).toEqual(['Provisioned', 'Provisioned']);
  const { items } = await sandbox.client.list(machines, { namespace });
  for (const { status } of items) {
    const address = status?.addresses?.[0]?.address ?? '';
    await expect
      .poll(async () => (await connectTo(sandbox, address).catch(() => undefined))?.facts.address)
      .toBe(address);
  }
  expect(sandbox.hosts.map(({ spec }) => spec.traits.language).toSorted()).toEqual(['english', 'german']);
  const name = items[0]?.metadata.name ?? '';
  await sandbox.client.delete(machines, name, { namespace });
  await expect.poll(() => sandbox.hosts.some(({ spec }) => spec.name === name)).toBe(false);
  await expect.poll(async () => (await phases()).length).toBe(2);
});

const refusals: [string, SandboxOptions, RegExp][] = [
  ['half a host', { hosts: 1.5 }, /1\.5 hosts/],
  ['fewer than no Machines', { machines: -1 }, /-1 hosts/],
  ['a platform that is none', { platform: 'Mainframe' as 'None' }, /platform "Mainframe"/],
  ['a cloud that it cannot play', { platform: 'AWS' as 'None' }, /platform "AWS"/],
  ['no speed', { speed: 0 }, /speed/],
  ['a fault that there is not', { hosts: 1, faults: ['meteor'] }, /unknown fault "meteor"/],
  ['a fault for an unknown host', { faults: ['german@win-1'] }, /unknown host "win-1"/],
];
for (const [name, options, message] of refusals) {
  test(`rejects ${name}, before anything is started`, async () => {
    await expect(startSandbox({ folder, ...options })).rejects.toMatchObject({
      code: 'USAGE',
      message: expect.stringMatching(message),
      remedy: expect.any(String),
    });
    expect(readdirSync(folder)).toEqual([]);
  });
}

test('each sandbox has its own API server and users', async () => {
  await using one = await open();
  await using other = await open();
  expect(one.url).not.toBe(other.url);
  const stranger = createClient(loadKubeconfig(one.kubeconfigFor({ commonName: 'nobody' })));
  await expect(stranger.list(nodes)).rejects.toMatchObject({ code: 403 });
  await stranger.close();
});

test('the API server listens on the given port', async () => {
  const first = await startSandbox();
  const port = Number(new URL(first.url).port);
  await first.stop();
  await using second = await open({ port });
  expect(new URL(second.url).port).toBe(String(port));
});

test('a port in use is an error and leaves no files behind', async () => {
  await using sandbox = await open();
  const port = Number(new URL(sandbox.url).port);
  await expect(startSandbox({ hosts: 2, port, folder })).rejects.toThrow(/EADDRINUSE/);
  expect(readdirSync(folder)).toEqual([]);
});

test('stops only once and leaves neither folder nor port', async () => {
  const sandbox = await startSandbox({ hosts: 3, speed: 100, folder });
  await using connection = await connectTo(sandbox, sandbox.host('win-1').spec.address);
  await connection.upload('C:\\k\\x', Buffer.alloc(500_000));
  const ports = sandbox.hosts.map(host => (host.route() as { port: number }).port);
  expect(readdirSync(folder)).toHaveLength(1);
  await Promise.all([sandbox.stop(), sandbox.stop()]);
  await sandbox.stop();
  expect([sandbox.hosts, readdirSync(folder)]).toEqual([[], []]);
  for (const port of ports) await expect(once(dialTcp(port, '127.0.0.1'), 'connect')).rejects.toThrow('ECONNREFUSED');
});
