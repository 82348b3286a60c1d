import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCondition } from '../../src/base/condition.ts';
import {
  configMapName,
  instanceAnnotation,
  nodeAnnotation,
  nodeLabel,
  trustedCaKey,
} from '../../src/contract/names.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { configMaps, events, type Node, nodes, services } from '../../src/kube/resources.ts';
import { serviceMonitors } from '../../src/kube/resources-openshift.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { hostTraces } from '../kit/host-traces.ts';
import { isOutOfService, type NodeHistory, recordNodes } from '../kit/node-history.ts';
import { administratorOf, type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { objectsNaming } from '../kit/secret-check.ts';

/** Removals of listed hosts in a cluster with a proxy and a CA bundle of its own. */

const proxy = 'http://proxy.example.com:3128';
const own = ['C:\\Temp\\own.txt', 'C:\\var\\log\\own.log'];
const strange = 'strange';

let sandbox: Sandbox;
let operator: SandboxOperator;
let history: NodeHistory;
let before: unknown;

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: 3, speed: 20, listsNames: true });
  for (const path of own) await sandbox.host('win-1').files.write(path, 'of a user');
  before = await hostTraces(sandbox.host('win-1'), own);
  await prepareCluster();
  const settings = { proxy: { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, NO_PROXY: '127.0.0.1,.svc' } };
  operator = startOperator(sandbox, { payloadBytes: 200_000, settings });
  await operator.allReady(3);
  history = await recordNodes(operator.client);
}, 120_000);
afterAll(async () => {
  await history?.[Symbol.asyncDispose]();
  await operator?.stop();
  await sandbox?.stop();
});

const inNamespace = () => ({ namespace: sandbox.namespace });

/** A budget for two hosts at once, a CA bundle, the monitor of an earlier operator, and a Windows Node of another one. */
async function prepareCluster(): Promise<void> {
  await using administrator = administratorOf(sandbox);
  const { client } = administrator;
  const { namespace } = sandbox;
  await client.create(configMaps, {
    metadata: { name: configMapName.rollout, namespace },
    data: { maxUnavailable: '2' },
  });
  await client.create(configMaps, {
    metadata: { name: configMapName.trustedCa, namespace },
    data: { [trustedCaKey]: sandbox.ca },
  });
  await client.create(serviceMonitors, { metadata: { name: 'windows-exporter', namespace }, spec: { endpoints: [] } });
  await client.create(nodes, { metadata: { name: strange, labels: { [nodeLabel.os]: 'windows' } } });
}

async function deleteEntry(name: string): Promise<void> {
  const patch = { type: 'merge', body: { data: { [name]: null } } } as const;
  await operator.client.patch(configMaps, configMapName.instances, patch, inNamespace());
}

const nodeNames = async () => (await operator.client.list(nodes)).items.map(({ metadata }) => metadata.name);
const instanceOf = async (name: string) => (await operator.instances()).find(({ metadata }) => metadata.name === name);
const eventLines = async () =>
  (await operator.client.list(events, { namespace: '' })).items.map(
    ({ type, reason, message, involvedObject }) => `${type} ${reason} ${involvedObject.kind}: ${message}`,
  );

async function retry(name: string): Promise<void> {
  const body = { metadata: { annotations: { [instanceAnnotation.retry]: String(Date.now()) } } };
  await operator.client.patch(windowsInstances, name, { type: 'merge', body }, inNamespace());
}

test('DEL-02: a host whose entry is deleted is as before its join, and its Node is gone', async () => {
  const { state, stats } = sandbox.host('win-1');
  expect([state.variables['HTTPS_PROXY'], state.certificates.size > 0]).toEqual([proxy, true]);
  const { spec, status } = (await instanceOf('win-1')) ?? expect.fail();
  const reboots = stats.reboots;
  await deleteEntry('win-1');
  await expect.poll(() => instanceOf('win-1')).toBeUndefined();
  expect(await nodeNames()).not.toContain('win-1');
  expect(await hostTraces(sandbox.host('win-1'), own)).toEqual(before);
  expect(stats.reboots).toBe(reboots + 1);
  const addresses = [...new Set([spec.address, ...(status?.host?.addresses ?? []), 'win-1'])];
  await expect.poll(eventLines).toContainEqual(expect.stringMatching(/^Normal InstanceTeardown ConfigMap: /));
  const message = (await eventLines()).find(line => line.startsWith('Normal InstanceTeardown ConfigMap')) ?? '';
  expect(message).toMatch(/Deconfigured node with addresses \[.+\]$/);
  for (const address of addresses) expect(message).toContain(address);
});

test('DEL-02: nothing in the cluster names the removed host', async () => {
  await expect.poll(() => objectsNaming(operator.client, 'win-1')).toEqual([]);
});

test('DEL-03: the Node is cordoned, loses its version, and is deleted when the clean-up is over', () => {
  const { verbs } = sandbox.host('win-1').stats;
  const removal = verbs.slice(verbs.lastIndexOf('install') + 1).filter(verb => verb !== 'inventory');
  expect([...new Set(removal)]).toEqual(
    expect.arrayContaining(['cleanup', 'reboot', 'remove-networks', 'remove-files']),
  );
  expect(removal.indexOf('cleanup')).toBeLessThan(removal.indexOf('remove-networks'));
  expect(removal.at(-1)).toBe('remove-files');
  const seen = history.events.filter(({ object }) => object.metadata.name === 'win-1');
  const cordoned = seen.findIndex(({ object }) => object.spec?.unschedulable === true);
  const cleaned = seen.findIndex(({ object }) => !hasVersion(object));
  expect([cordoned > 0, cleaned > cordoned, seen.at(-1)?.type]).toEqual([true, true, 'DELETED']);
});

const hasVersion = ({ metadata }: Node) => metadata.annotations?.[nodeAnnotation.version] !== undefined;

test('DEL-04: Nodes of listed hosts and Nodes that the operator did not configure stay as they are', async () => {
  expect((await nodeNames()).filter(name => name === strange || name?.startsWith('win-'))).toEqual(
    expect.arrayContaining([strange, 'win-2', 'win-3']),
  );
  const others = history.events.filter(({ object }) => ['win-2', 'win-3'].includes(object.metadata.name ?? ''));
  expect(others.filter(({ type, object }) => type === 'DELETED' || isOutOfService(object))).toEqual([]);
  expect(history.events.filter(({ object }) => object.metadata.name === strange && object.spec?.unschedulable)).toEqual(
    [],
  );
});

test('DEL-05: the Service and the ServiceMonitor of the exporters stay', async () => {
  const names = async (kind: typeof services | typeof serviceMonitors) =>
    (await operator.client.list(kind, inNamespace())).items.map(({ metadata }) => metadata.name);
  expect(await names(services)).toContain('windows-exporter');
  expect(await names(serviceMonitors)).toContain('windows-exporter');
});

const unreachable: [host: string, why: string, traits: object, code: string][] = [
  ['win-2', 'cannot be reached', { network: 'refuses' }, 'HOST_UNREACHABLE'],
  ['win-3', 'rejects the key', { acceptsKey: false }, 'HOST_REFUSED_KEY'],
];

test.each(unreachable)('DEL-07: a host (%s) that %s keeps its Node', async (name, _, traits, code) => {
  sandbox.host(name).change(traits);
  await deleteEntry(name);
  const reason = async () => findCondition((await instanceOf(name))?.status?.conditions, 'Ready')?.reason;
  await expect.poll(reason).toBe(code);
  const { spec } = await operator.client.get(nodes, name);
  expect(spec?.unschedulable ?? false).toBe(false);
  const failures = async () => (await eventLines()).filter(line => line.includes('InstanceTeardownFailure'));
  await expect.poll(failures).toContainEqual(expect.stringContaining(code));
});

test('DEL-07: a host that failed to be removed is removed when it answers again', async () => {
  for (const [name] of unreachable) {
    sandbox.host(name).change({ network: 'answers', acceptsKey: true });
    await retry(name);
  }
  await expect.poll(() => operator.instances()).toEqual([]);
  expect((await nodeNames()).filter(name => name?.startsWith('win-'))).toEqual([]);
  for (const [name] of unreachable) {
    const { files, services: left, networks } = await hostTraces(sandbox.host(name));
    expect([files.filter(path => /C:\\(k|Temp|var)\\/.test(path)), networks]).toEqual([[], []]);
    expect(left).toEqual(['sshd', 'hns', 'W32Time']);
  }
});
