import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCondition } from '../../src/base/condition.ts';
import { configMapName } from '../../src/contract/names.ts';
import { events, type KubeEvent } from '../../src/kube/resources.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';

/** What an administrator sees of a join without any fault. */

let sandbox: Sandbox;
let operator: SandboxOperator;

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: 4, machines: 2, speed: 10 });
  operator = startOperator(sandbox);
  await operator.allReady(6);
}, 120_000);
afterAll(async () => {
  await operator?.stop();
  await sandbox?.stop();
});

const allEvents = async (): Promise<KubeEvent[]> => (await operator.client.list(events, { namespace: '' })).items;
const lineOf = ({ type, reason, message = '', involvedObject: { kind, name } }: KubeEvent) =>
  `${type} ${kind} ${name} ${reason}: ${message}`;

/** Names of the objects of a kind that have an event with this reason. */
const namesWith = async (kind: string, reason: string) =>
  (await allEvents())
    .filter(event => event.involvedObject.kind === kind && event.reason === reason)
    .map(({ involvedObject }) => involvedObject.name);

test('healthy joins record events on each instance and on its source', async () => {
  const instances = (await operator.instances()).map(({ metadata, spec }) => [metadata.name, spec.source?.kind]);
  const named = (kind: string) => instances.flatMap(([name, source]) => (source === kind ? [name] : []));
  await expect
    .poll(() => namesWith('WindowsInstance', 'InstanceSetup'))
    .toEqual(expect.arrayContaining(named('ConfigMap')));
  await expect
    .poll(() => namesWith('WindowsInstance', 'MachineSetup'))
    .toEqual(expect.arrayContaining(named('Machine')));
  await expect.poll(() => namesWith('Machine', 'MachineSetup')).toEqual(expect.arrayContaining(named('Machine')));
  await expect.poll(async () => (await namesWith('ConfigMap', 'InstanceSetup')).length).toBe(4);
  expect(new Set(await namesWith('ConfigMap', 'InstanceSetup'))).toEqual(new Set([configMapName.instances]));
});

test('healthy joins record no Warning event', async () => {
  const all = await allEvents();
  expect(all.length).toBeGreaterThan(6);
  expect(all.filter(({ type }) => type !== 'Normal').map(lineOf)).toEqual([]);
});

test('the operator reaches the kubelet of every host', async () => {
  for (const { status } of await operator.instances()) {
    expect(findCondition(status?.conditions, 'KubeletReachable')).toMatchObject({ status: 'True' });
  }
});
