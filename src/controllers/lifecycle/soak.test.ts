import { expect, test } from 'vitest';
import { findCondition } from '#base/condition.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { emptyReport, printReport } from '#contract/agent-report.ts';
import { configMapName, instanceAnnotation, nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { parseGrants } from '#contract/rollout-grants.ts';
import { instanceCondition, type WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { stoppedVersion } from '#contract/windows-instance/upgrade-state.ts';
import type { KubeResource } from '#kube/resource.ts';
import { configMaps, nodes, ofNamespace, type Pod, pods } from '#kube/resources.ts';
import { fastDates } from '../../../test/kit/fast-clock.ts';
import { type JoinLab, namespace, version } from '../../../test/kit/lifecycle/join-lab.ts';
import { annotate } from '../../../test/kit/lifecycle/removal-lab.ts';
import { unreachable } from '../../../test/kit/lifecycle/lab-host.ts';
import { newer, rolledBack, untilInService, upgraded, upgradeLab } from '../../../test/kit/lifecycle/upgrade-lab.ts';
import { until } from '../../../test/kit/until.ts';

const soaked = ({ upgrade }: WindowsInstanceStatus) => upgrade?.soaked !== undefined;
const clock = () => fastDates(200);

async function granted(lab: JoinLab): Promise<string[]> {
  const map = await lab.client.find(configMaps, configMapName.rolloutGrants, { namespace });
  return parseGrants(map?.data).grants.map(({ journey }) => journey);
}

async function reportReady(lab: JoinLab, status: 'True' | 'False' | 'Unknown'): Promise<void> {
  const body = { status: { conditions: [{ type: 'Ready', status, message: 'kubelet stopped posting' }] } };
  await lab.client.patch(nodes, 'win-5', { type: 'merge', body }, { subresource: 'status' });
}

test('an upgraded node soaks in service, with its grant and a text that says so; then it is over', async () => {
  const { lab, start } = await upgradeLab();
  start({ clock: clock() });
  const { conditions, upgrade } = await lab.statusWhen(
    ({ conditions: all }) => findCondition(all, instanceCondition.ready)?.message?.includes('it soaks until') === true,
  );
  expect(findCondition(conditions, instanceCondition.ready)).toMatchObject({ status: 'True', reason: 'Soaking' });
  expect(upgrade).toMatchObject({ to: newer });
  expect(await granted(lab)).toEqual(['upgrade']);
  await untilInService(lab, newer);
  const end = await lab.statusWhen(soaked);
  const { ready = '', soaked: endedAt = '' } = end.upgrade ?? {};
  expect(Date.parse(endedAt) - Date.parse(ready)).toBeGreaterThanOrEqual(600_000 - 1000);
  expect(end.upgrade?.failed).toBeUndefined();
});

const breaks: [about: string, breakIt: (lab: JoinLab) => Promise<void>, text: string][] = [
  ['is not ready', lab => reportReady(lab, 'False'), 'Node win-5 is not ready: kubelet stopped posting'],
  ['has an agent that fails', reportFailure, 'ServiceFailure: kubelet.exe ended'],
  ['has a dead kubelet, which its agent reports,', deadKubelet, 'ServiceFailure: kubelet.exe ended'],
];

async function deadKubelet(lab: JoinLab): Promise<void> {
  await reportFailure(lab);
  await reportReady(lab, 'Unknown');
}

async function reportFailure(lab: JoinLab): Promise<void> {
  const failure = { type: 'Warning', reason: 'ServiceFailure', message: 'kubelet.exe ended' } as const;
  const { events = '' } = printReport({ ...emptyReport, events: [{ ...failure, time: new Date().toISOString() }] });
  await lab.report({ events });
}

test.each(breaks)('a node that %s in its soak goes back to its version by itself', async (_about, breakIt, text) => {
  const { lab, start } = await upgradeLab();
  lab.host().activator.reports = () => true;
  start({ clock: clock() });
  await upgraded(lab);
  // In advance it has no effect.
  await annotate(lab, { [instanceAnnotation.acceptedRollback]: newer });
  await breakIt(lab);
  const isFailed = ({ upgrade }: WindowsInstanceStatus) => upgrade?.failed !== undefined;
  const { upgrade } = await lab.statusWhen(isFailed);
  expect(upgrade?.failed).toMatchObject({
    code: 'UPGRADE_UNHEALTHY',
    message: expect.stringContaining(text) as string,
  });
  expect(stoppedVersion(await lab.instance())).toBe(newer);
  // The former version works.
  await reportReady(lab, 'True');
  await lab.report({ events: '[]' });
  const { version: recorded } = await rolledBack(lab);
  expect(recorded).toBe(version);
  await untilInService(lab);
});

test('a node that is not ready for a moment keeps its new version', async () => {
  const { lab, start } = await upgradeLab();
  start({ clock: clock() });
  await upgraded(lab);
  await reportReady(lab, 'False');
  await until(async () => (await lab.instance()).status?.conditions?.some(({ reason }) => reason === 'NodeNotReady'));
  await reportReady(lab, 'True');
  const { upgrade } = await lab.statusWhen(soaked);
  expect(upgrade?.failed).toBeUndefined();
});

test('a node without heartbeat for minutes, as in a reboot by hand, keeps its new version', async () => {
  const { lab, start } = await upgradeLab();
  const time = clock();
  start({ clock: time });
  await upgraded(lab);
  const sinceMs = time.monotonicMs();
  await reportReady(lab, 'Unknown');
  await until(() => time.monotonicMs() - sinceMs > 3 * 60_000);
  await reportReady(lab, 'True');
  const { upgrade } = await lab.statusWhen(soaked);
  expect(upgrade?.failed).toBeUndefined();
});

const daemonSets = ofNamespace<KubeResource & { spec: object }>('apps/v1', 'DaemonSet', 'daemonsets');
const daemonSet: KubeResource & { spec: object } = {
  metadata: { name: 'ds', namespace },
  spec: {
    selector: { matchLabels: { app: 'ds' } },
    template: { metadata: { labels: { app: 'ds' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
  },
};

/** With data that is lost when it is evicted. */
async function addPod(lab: JoinLab, name: string, metadata: Pod['metadata'] = {}): Promise<void> {
  const volumes = [{ name: 'tmp', emptyDir: {} }];
  const containers = [{ name: 'web', image: 'web' }];
  await lab.client.create<Pod>(pods, {
    metadata: { name, namespace, ...metadata },
    spec: { nodeName: 'win-5', terminationGracePeriodSeconds: 0, containers, volumes },
  });
}

/** Long ago: before that, a Node is not set up again by what it claims. */
async function soakedAt(lab: JoinLab, time: string): Promise<void> {
  const body = { status: { upgrade: { soaked: time } } };
  await lab.client.patch(windowsInstances, 'win-5', { type: 'merge', body }, { namespace, subresource: 'status' });
}

test('NODE-16: a version that a user sets on a Node is an upgrade, and not put back before it', async () => {
  const { lab, host, start } = await upgradeLab();
  start({ clock: clock() });
  await lab.statusWhen(soaked);
  await soakedAt(lab, '2026-01-01T00:00:00Z');
  host.commands.splice(0);
  const seen: (string | undefined)[][] = [];
  host.faults.exec = async command => {
    const node = command.includes(' bootstrap') ? await lab.node() : undefined;
    if (node) seen.push([node.metadata.labels?.[nodeLabel.upgrading], String(node.spec?.unschedulable)]);
    return undefined;
  };
  const { uid = '' } = (await lab.client.create(daemonSets, daemonSet)).metadata;
  const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'ds', uid, controller: true };
  await addPod(lab, 'daemon', { ownerReferences: [owner] });
  await addPod(lab, 'web');
  await lab.patchNode({ metadata: { annotations: { [nodeAnnotation.version]: 'invalidVersion' } } });
  await until(() => host.verbs().includes('bootstrap'));
  const { items } = await lab.client.list<Pod>(pods, { namespace });
  expect(items.map(({ metadata }) => metadata.name)).toEqual(['daemon']);
  await untilInService(lab, newer);
  expect(seen[0]).toEqual(['true', 'true']);
  const { upgrade } = await lab.statusWhen(({ upgrade: now, phase }) => phase === 'Ready' && now?.ready !== undefined);
  // Without a soak: a Node that does it again and again must not keep the others from the budget.
  expect(upgrade).toMatchObject({ from: newer, to: newer, soaked: upgrade?.ready });
  host.commands.splice(0);
  for (const claimed of ['1.0.0', '2.0.0']) {
    await lab.patchNode({ metadata: { annotations: { [nodeAnnotation.version]: claimed } } });
    await lab.statusWhen(
      ({ conditions }) =>
        findCondition(conditions, instanceCondition.ready)?.message?.includes(`claims version ${claimed}`) === true,
    );
  }
  await until(async () => (await lab.events()).some(text => text.includes('NodeVersionClaimed')));
  expect(host.commands).toEqual([]);
  await annotate(lab, { [instanceAnnotation.retry]: '1' });
  await untilInService(lab, newer);
});

test('a host that dies while it is set up again with its own version fails, ends its grant, and starts again', async () => {
  const { lab, host, start } = await upgradeLab();
  start({ clock: clock() });
  await lab.statusWhen(soaked);
  host.faults.exec = command => {
    if (!command.includes(' bootstrap')) return undefined;
    host.stopAnswering();
    lab.behavior.brokenVersion = newer;
    throw unreachable('10.0.0.5');
  };
  await lab.patchNode({ metadata: { annotations: { [nodeAnnotation.version]: 'invalidVersion' } } });
  const { upgrade } = await lab.statusWhen(({ upgrade: now }) => now?.failed !== undefined);
  expect(upgrade).toMatchObject({ from: newer, to: newer, failed: { code: 'HOST_UNREACHABLE' } });
  const { activated = '', failed } = upgrade ?? {};
  expect(Date.parse(failed?.at ?? '') - Date.parse(activated)).toBeGreaterThanOrEqual(30 * 60_000);
  await until(async () => (await granted(lab)).length === 0, 'its grant has ended');
  await lab.statusWhen(({ phase, journey }) => phase === 'Failed' && journey?.name === 'upgrade');
  host.faults = {};
  lab.behavior = {};
  await untilInService(lab, newer);
  const { upgrade: last, conditions } = await lab.statusWhen(status => status.phase === 'Ready' && soaked(status));
  expect([last?.from, last?.failed]).toEqual([newer, undefined]);
  expect(findCondition(conditions, instanceCondition.rolledBack)).toBeUndefined();
  expect(host.activator.swaps).toEqual([newer]);
});

test('a Node that claims the new version before its upgrade is corrected, and upgraded', async () => {
  const { lab, host, start } = await upgradeLab();
  await lab.patchNode({ metadata: { annotations: { [nodeAnnotation.version]: newer } } });
  start({ clock: clock() });
  await upgraded(lab);
  expect(host.activator.swaps).toEqual([newer]);
});

test('a pinned host stays, and is upgraded when it is not pinned any more', async () => {
  const { lab, host, start } = await upgradeLab();
  const pin = (value: string | null) =>
    lab.client.patch(
      windowsInstances,
      'win-5',
      { type: 'merge', body: { metadata: { annotations: { [instanceAnnotation.pinnedVersion]: value } } } },
      { namespace },
    );
  await pin(version);
  start({ clock: clock() });
  const { conditions } = await lab.statusWhen(
    ({ conditions: all }) => findCondition(all, instanceCondition.ready)?.message?.includes('pinned') === true,
  );
  expect(findCondition(conditions, instanceCondition.ready)).toMatchObject({ status: 'True', reason: 'Waits' });
  expect(host.commands).toEqual([]);
  await pin(null);
  await upgraded(lab);
});

test('a paused roll-out starts no upgrade, not even a connection, and goes on when it is resumed', async () => {
  const { lab, host, start } = await upgradeLab();
  const name = configMapName.rollout;
  await lab.client.create(configMaps, { metadata: { name, namespace }, data: { paused: 'true' } });
  const before = host.connectionCount;
  start({ clock: clock() });
  await lab.statusWhen(
    ({ conditions }) =>
      findCondition(conditions, instanceCondition.ready)?.message?.includes('paused is true') === true,
  );
  expect(host.connectionCount).toBe(before);
  await lab.client.patch(configMaps, name, { type: 'merge', body: { data: { paused: 'false' } } }, { namespace });
  await upgraded(lab);
});
