import { afterAll, beforeAll, expect, test } from 'vitest';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { agentEvent } from '../../src/contract/agent-report.ts';
import { hnsNetwork, instanceAnnotation } from '../../src/contract/names.ts';
import { events } from '../../src/kube/resources.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { mostOutOfService, type NodeHistory, recordNodes } from '../kit/node-history.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { until } from '../kit/until.ts';

/** Reboots on request and by others, with the real agent, which loses networks and routes with each boot. */

const names = ['win-1', 'win-2'];
let sandbox: Sandbox;
let operator: SandboxOperator;
let history: NodeHistory;

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: 2, speed: 20 });
  operator = startOperator(sandbox, { payloadBytes: 200_000 });
  await operator.allReady(2);
  history = await recordNodes(operator.client);
}, 120_000);
afterAll(async () => {
  await history?.[Symbol.asyncDispose]();
  await operator?.stop();
  await sandbox?.stop();
});

const instances = async () =>
  (await operator.client.list(windowsInstances, { namespace: sandbox.namespace })).items.toSorted((one, other) =>
    (one.status?.node ?? '').localeCompare(other.status?.node ?? ''),
  );

test('two hosts that are asked to reboot at once do so one after the other, once each', async () => {
  const bootsBefore = names.map(name => sandbox.host(name).stats.reboots);
  for (const { metadata } of await instances()) {
    const body = { metadata: { annotations: { [instanceAnnotation.reboot]: 'now' } } };
    await operator.client.patch(
      windowsInstances,
      metadata.name ?? '',
      { type: 'merge', body },
      { namespace: sandbox.namespace },
    );
  }
  const isDone = ({ status = {} }: { status?: { phase?: string; rebootRequest?: string } }) =>
    status.phase === 'Ready' && status.rebootRequest === 'now';
  await until(async () => (await instances()).every(isDone), 'both hosts were rebooted');
  expect(names.map((name, index) => sandbox.host(name).stats.reboots - (bootsBefore[index] ?? 0))).toEqual([1, 1]);
  expect(mostOutOfService(history.events)).toBe(1);
  for (const name of names) {
    const { networks } = sandbox.host(name).state;
    expect(networks.map(network => network.name)).toContain(hnsNetwork.overlay);
  }
  const { items } = await operator.client.list(events, { namespace: '' });
  expect(items.filter(({ reason }) => reason === agentEvent.unplannedReboot)).toEqual([]);
}, 120_000);

test('a power cut is noticed and healed without the operator', async () => {
  const host = sandbox.host('win-1');
  host.cutPower();
  const reported = async () => {
    const { items } = await operator.client.list(events, { namespace: '' });
    return items.some(
      ({ reason, involvedObject }) => reason === agentEvent.unplannedReboot && involvedObject.name === 'win-1',
    );
  };
  await until(reported, 'the reboot is an event of the Node');
  await until(() => host.state.networks.some(({ name }) => name === hnsNetwork.overlay), 'the network is back');
}, 120_000);
