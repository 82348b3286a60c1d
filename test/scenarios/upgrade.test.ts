import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { findCondition } from '../../src/base/condition.ts';
import type { PayloadRelease } from '../../src/bin/sandbox-factory.ts';
import type { WindowsInstance } from '../../src/cluster/windows-instance-resource.ts';
import { activationService, configMapName, nodeLabel } from '../../src/contract/names.ts';
import { instanceCondition } from '../../src/contract/windows-instance/resource.ts';
import type { Client } from '../../src/kube/client.ts';
import { configMaps, type Node, nodes } from '../../src/kube/resources.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/sandbox.ts';
import { fastClock } from '../kit/fast-clock.ts';
import { setOf } from '../kit/host-set.ts';
import { mostOutOfService, recordNodes } from '../kit/node-history.ts';
import { administratorOf, type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';

/** A later operator takes simulated hosts along, and a bad one comes back. */

const old: PayloadRelease = { version: '11.0.0-a' };
const next: PayloadRelease = { version: '11.0.1-b', since: old.version };
const payloadBytes = 1_200_000;
const timeout = 300_000;
/** A minute of patience takes two seconds. */
const speed = 30;

/** The operator, and the hosts with it, on a clock that makes waits short; its Lease must survive that. */
const clock = fastClock(speed);
const settings = { lease: { leaseDurationMs: 3e6, renewDeadlineMs: 2e6, retryPeriodMs: 2000 } };
const operatorOf = (sandbox: Sandbox, release: PayloadRelease) =>
  startOperator(sandbox, { payloadBytes, release, clock, settings });

interface Scene extends AsyncDisposable {
  sandbox: Sandbox;
  client: Client;
}

/** Hosts that run the old version, without an operator. */
async function joined(hosts: number, options: SandboxOptions = {}): Promise<Scene> {
  const sandbox = await startSandbox({ hosts, listsNames: true, speed: 2, clock, ...options });
  const administrator = administratorOf(sandbox);
  const { client } = administrator;
  const { namespace } = sandbox;
  const data = { first: '1', soak: '1s' };
  await client.create(configMaps, { metadata: { name: configMapName.rollout, namespace }, data });
  await using operator = operatorOf(sandbox, old);
  await operator.allReady(hosts);
  return {
    sandbox,
    client,
    async [Symbol.asyncDispose]() {
      await administrator[Symbol.asyncDispose]();
      await sandbox.stop();
    },
  };
}

const isUpgraded =
  ({ version }: PayloadRelease) =>
  ({ status }: WindowsInstance) =>
    status?.phase === 'Ready' && status.version === version && status.upgrade?.soaked !== undefined;

/** Waits until this many hosts are so. */
async function until(operator: SandboxOperator, count: number, isSo: (each: WindowsInstance) => boolean) {
  const countSo = async () => (await operator.instances()).filter(isSo).length;
  await expect.poll(countSo, { timeout: 120_000, interval: 100 }).toBe(count);
  return (await operator.instances()).filter(isSo);
}

const bytesOf = ({ hosts }: Sandbox) => hosts.map(({ stats }) => stats.uploadedBytes);

test('UPG: hosts follow the operator to a later version and back, one at a time, and move only what differs', {
  timeout,
}, async () => {
  await using scene = await joined(3);
  const { sandbox, client } = scene;
  const before = bytesOf(sandbox);
  await using history = await recordNodes(client);
  {
    await using operator = operatorOf(sandbox, next);
    await until(operator, 3, isUpgraded(next));
  }
  for (const host of sandbox.hosts) {
    const set = await setOf(host);
    expect([host.spec.name, set]).toEqual([
      host.spec.name,
      { runs: next.version, keeps: old.version, agent: next.version, wrong: [] },
    ]);
    expect([host.stats.reboots, host.state.services.has(activationService)]).toEqual([0, false]);
  }
  // Of twelve programs the agent and two others differ.
  const moved = bytesOf(sandbox).map((bytes, at) => bytes - (before[at] ?? 0));
  for (const bytes of moved) expect(bytes / payloadBytes).toBeLessThan(0.35);
  expect(mostOutOfService(history.events)).toBe(1);
  const labels = history.events.map(({ object }) => object.metadata.labels?.[nodeLabel.upgrading]);
  expect(labels).toContain('true');
  const { items } = await client.list(nodes, { labelSelector: `${nodeLabel.os}=windows` });
  const isMarked = ({ spec, metadata }: Node) =>
    spec?.unschedulable === true || metadata.labels?.[nodeLabel.upgrading] !== undefined;
  expect([items.length, items.filter(isMarked)]).toEqual([3, []]);
  await using operator = operatorOf(sandbox, old);
  await until(operator, 3, isUpgraded(old));
  for (const host of sandbox.hosts) expect(await setOf(host)).toMatchObject({ runs: old.version, wrong: [] });
});

const bad: [what: string, release: PayloadRelease, codes: string[]][] = [
  ['a broken kubelet', { ...next, kubelet: 'broken' }, ['UPGRADE_UNHEALTHY', 'NODE_VERSION_TIMEOUT']],
  ['a broken agent', { ...next, agent: 'broken' }, ['ACTIVATION_REVERTED']],
  ['a kubelet that breaks in the soak', { ...next, kubelet: 'breaks-after-20s' }, ['UPGRADE_UNHEALTHY']],
];
test.each(bad)(
  '%s is rolled back on the first host, and no other host gets it',
  { timeout },
  async (_, release, codes) => {
    await using scene = await joined(3, {});
    const { sandbox, client } = scene;
    if (release.kubelet === 'breaks-after-20s')
      await client.patch(
        configMaps,
        configMapName.rollout,
        { type: 'merge', body: { data: { soak: '10m' } } },
        { namespace: sandbox.namespace },
      );
    await using operator = operatorOf(sandbox, release);
    const isBack = ({ status }: WindowsInstance) =>
      status?.upgrade?.rolledBack !== undefined && status.phase === 'Ready';
    const [back] = await until(operator, 1, isBack);
    expect(codes).toContain(back?.status?.upgrade?.failed?.code);
    expect(findCondition(back?.status?.conditions, instanceCondition.rolledBack)).toMatchObject({ status: 'True' });
    // Time for mistakes: others would start at once.
    await delay(2000);
    const touched = (await operator.instances()).filter(({ status }) => status?.upgrade?.activated !== undefined);
    expect(touched.map(({ metadata }) => metadata.name)).toEqual([back?.metadata.name]);
    for (const host of sandbox.hosts)
      expect([host.spec.name, await setOf(host)]).toMatchObject([
        host.spec.name,
        { runs: old.version, agent: old.version, wrong: [] },
      ]);
    const { items } = await client.list(nodes, { labelSelector: `${nodeLabel.os}=windows` });
    expect(items.filter(({ spec }) => spec?.unschedulable === true)).toEqual([]);
  },
);

test('a power cut while a host swaps its files does not leave a mixture', { timeout }, async () => {
  await using scene = await joined(1);
  const { sandbox } = scene;
  const [host] = sandbox.hosts;
  if (host === undefined) throw new Error('no host');
  // Slow enough to be caught in the middle.
  host.change({}, { diskBytesPerSecond: 1_000_000 });
  await using operator = operatorOf(sandbox, next);
  const isSwapping = () => host.state.services.get(activationService.toLowerCase())?.state === 'running';
  await expect.poll(isSwapping, { timeout: 60_000, interval: 5 }).toBe(true);
  const boots = host.state.boots;
  host.cutPower();
  await until(operator, 1, isUpgraded(next));
  expect(host.state.boots).toBe(boots + 1);
  expect(await setOf(host)).toEqual({ runs: next.version, keeps: old.version, agent: next.version, wrong: [] });
});
