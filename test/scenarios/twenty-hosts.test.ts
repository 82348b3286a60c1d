import { afterAll, beforeAll, expect, test } from 'vitest';
import { configMapName } from '../../src/contract/names.ts';
import { configMaps, type Node, nodes } from '../../src/kube/resources.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { hostTraces } from '../kit/host-traces.ts';
import { isOutOfService, mostOutOfService, type NodeHistory, recordNodes } from '../kit/node-history.ts';
import { administratorOf, type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';

/** Twenty hosts: two of them change their address, and then the whole ConfigMap windows-instances is deleted. */

const hosts = 20;
const maxUnavailable = 4;
/** Listed by its DNS name, and by its address. */
const [named, addressed] = ['win-3', 'win-1'] as const;

let sandbox: Sandbox;
let operator: SandboxOperator;
let history: NodeHistory;
let before: unknown[];

beforeAll(async () => {
  sandbox = await startSandbox({ hosts, speed: 20 });
  before = await traces();
  await using administrator = administratorOf(sandbox);
  const metadata = { name: configMapName.rollout, namespace: sandbox.namespace };
  await administrator.client.create(configMaps, { metadata, data: { maxUnavailable: String(maxUnavailable) } });
  operator = startOperator(sandbox, { payloadBytes: 200_000 });
  await operator.allReady(hosts);
  history = await recordNodes(operator.client);
}, 120_000);
afterAll(async () => {
  await history?.[Symbol.asyncDispose]();
  await operator?.stop();
  await sandbox?.stop();
});

const traces = () => Promise.all(sandbox.hosts.map(host => hostTraces(host)));
const inNamespace = () => ({ namespace: sandbox.namespace });
const getNode = (name: string): Promise<Node> => operator.client.get(nodes, name);
const instanceOf = async (node: string) => (await operator.instances()).filter(({ status }) => status?.node === node);
const changesOf = (name: string) =>
  history.events.filter(({ object }) => object.metadata.name === name).map(({ type, object }) => ({ type, object }));

/** Never deleted, cordoned or NotReady. */
function expectInService(name: string, uid: string | undefined): void {
  const bad = changesOf(name).filter(
    ({ type, object }) => type === 'DELETED' || isOutOfService(object) || object.metadata.uid !== uid,
  );
  expect(bad).toEqual([]);
}

test('a host whose DNS name resolves to another address keeps instance, Node and services', async () => {
  const { uid } = (await getNode(named)).metadata;
  const [instance] = await instanceOf(named);
  const { stats } = sandbox.host(named);
  const { reboots, verbs } = structuredClone(stats);
  const address = sandbox.moveHost(named);
  expect(await sandbox.resolver.addresses(instance?.spec.address ?? '')).toEqual([address]);
  await restartOperator();
  await expect.poll(async () => (await instanceOf(named))[0]?.status?.phase).toBe('Ready');
  const [after] = await instanceOf(named);
  expect(after?.metadata.uid).toBe(instance?.metadata.uid);
  expect([stats.reboots, stats.verbs.filter(verb => !verbs.includes(verb))]).toEqual([reboots, []]);
  expectInService(named, uid);
});

/** The next operator resolves all names anew. */
async function restartOperator(): Promise<void> {
  await history[Symbol.asyncDispose]();
  await operator.stop();
  operator = startOperator(sandbox, { payloadBytes: 200_000 });
  history = await recordNodes(operator.client);
  await operator.allReady(hosts);
}

test('a host whose entry is replaced by its new address keeps its Node', async () => {
  const { uid } = (await getNode(addressed)).metadata;
  const host = sandbox.host(addressed);
  const [old] = [host.spec.address];
  const { reboots, verbs } = structuredClone(host.stats);
  const address = sandbox.moveHost(addressed);
  const body = { data: { [old]: null, [address]: 'username=Administrator' } };
  await operator.client.patch(configMaps, configMapName.instances, { type: 'merge', body }, inNamespace());
  const recorded = async () =>
    (await instanceOf(addressed)).map(({ spec, status }) => [spec.address, status?.phase, status?.nodeUID]);
  await expect.poll(recorded).toEqual([[address, 'Ready', uid]]);
  await expect.poll(async () => (await operator.instances()).length).toBe(hosts);
  expect([host.stats.reboots, host.stats.verbs.slice(verbs.length)]).toEqual([reboots, ['inventory']]);
  expectInService(addressed, uid);
});

test('all hosts of a deleted ConfigMap are removed within the budget', async () => {
  await operator.client.delete(configMaps, configMapName.instances, inNamespace());
  await expect.poll(() => operator.instances()).toEqual([]);
  await expect.poll(() => history.events.filter(({ type }) => type === 'DELETED').length).toBe(hosts);
  const most = mostOutOfService(history.events);
  expect([most <= maxUnavailable, most > 1]).toEqual([true, true]);
  expect((await traces()).map(each => JSON.stringify(each))).toEqual(before.map(each => JSON.stringify(each)));
});
