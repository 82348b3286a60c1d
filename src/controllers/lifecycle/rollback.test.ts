import { expect, test } from 'vitest';
import { findCondition } from '#base/condition.ts';
import { AppError } from '#base/errors.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { emptyReport, printReport } from '#contract/agent-report.ts';
import { configMapName, instanceAnnotation, nodeAnnotation } from '#contract/names.ts';
import { agentProgram } from '#contract/paths.ts';
import { stoppedVersion } from '#contract/windows-instance/upgrade-state.ts';
import { type InstanceUpgrade, instanceCondition } from '#contract/windows-instance/resource.ts';
import type { Watch } from '#kube/controller/watches.ts';
import { configMaps, type Pod, pods } from '#kube/resources.ts';
import type { Grants } from '#node/rollout/grants.ts';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { namespace, version } from '../../../test/kit/lifecycle/join-lab.ts';
import { annotate, refusingEvictions, removalRequest, untilGone } from '../../../test/kit/lifecycle/removal-lab.ts';
import {
  agentOf,
  newer,
  rolledBack,
  upgraded,
  upgradeLab,
  untilInService,
} from '../../../test/kit/lifecycle/upgrade-lab.ts';
import { unlimitedGrants } from '../../../test/kit/unlimited-grants.ts';
import { until } from '../../../test/kit/until.ts';

const noWatch: Watch = { synced: Promise.resolve(), start: () => () => undefined, relist: () => [] };

async function isBack(lab: Awaited<ReturnType<typeof upgradeLab>>['lab'], failed: Partial<InstanceUpgrade['failed']>) {
  const status = await rolledBack(lab);
  expect(status.version).toBe(version);
  expect(status.upgrade).toMatchObject({ from: version, to: newer, failed });
  await untilInService(lab);
  const condition = findCondition(status.conditions, instanceCondition.rolledBack);
  expect(condition).toMatchObject({ status: 'True', reason: status.upgrade?.failed?.code });
  for (const name of [instanceAnnotation.retry, instanceAnnotation.acceptedRollback, instanceAnnotation.pinnedVersion])
    expect(condition?.message).toContain(name);
  return condition?.message ?? '';
}

test('a host that went back by itself is in service with its former version', async () => {
  const { lab, host, start } = await upgradeLab();
  host.activator.reports = running => running !== newer;
  start({ clock: fastClock(100) });
  const message = await isBack(lab, { code: 'ACTIVATION_REVERTED' });
  expect(message).toContain(`the agent of version ${newer} did not report`);
  expect(host.activator.swaps).toEqual([version]);
  await until(async () => (await lab.events()).some(text => text.includes('InstanceRolledBack')));
  const { conditions } = await lab.statusWhen(
    ({ conditions: all }) => findCondition(all, instanceCondition.ready)?.reason === 'RolledBack',
  );
  expect(findCondition(conditions, instanceCondition.ready)).toMatchObject({ status: 'True' });
});

test('a new agent that never confirms its version is rolled back by the former program', async () => {
  const { lab, host, start } = await upgradeLab();
  lab.behavior.brokenVersion = newer;
  const before = await agentOf(host);
  start({ clock: fastClock(100) });
  await isBack(lab, { code: 'NODE_VERSION_TIMEOUT' });
  expect(host.activator.swaps).toEqual([newer, version]);
  expect(host.commands.filter(command => command.includes('--set previous'))).toEqual([
    expect.stringMatching(`^${agentProgram(before).replaceAll('\\', '\\\\')} `),
  ]);
});

test('an agent that reports failures for a minute is rolled back before the time is over', async () => {
  const { lab, host, start } = await upgradeLab();
  lab.behavior.brokenVersion = newer;
  const { onChange } = host;
  host.onChange = () => {
    onChange();
    if (host.activator.swaps.at(-1) !== newer) return;
    const failure = { type: 'Warning', reason: 'ServiceFailure', message: 'kubelet.exe ended: exit code 3.' } as const;
    const started = { type: 'Normal', reason: 'ServiceStarted', message: 'Started kubelet' } as const;
    // A kubelet that ends again and again is started each time.
    const events = [failure, started].map(event => ({ ...event, time: new Date().toISOString() }));
    const { events: text = '' } = printReport({ ...emptyReport, events });
    void lab.report({ events: text });
  };
  start({ clock: fastClock(100) });
  const message = await isBack(lab, { code: 'UPGRADE_UNHEALTHY' });
  expect(message).toContain('kubelet.exe ended: exit code 3. The roll-out');
});

test('a swap that fails is rolled back, and a failing rollback keeps its grant and names both causes', async () => {
  const { lab, host, start } = await upgradeLab();
  lab.behavior.brokenVersion = newer;
  const error = { code: 'UPGRADE_IMPOSSIBLE', message: 'a copy is damaged', remedy: 'Stage it again.' };
  const refused = { exitCode: 1, stdout: JSON.stringify({ error }), stderr: '' };
  host.faults.exec = command => (command.includes('--set previous') ? refused : undefined);
  const ended: string[] = [];
  const grants: Grants = { ...unlimitedGrants, end: async ({ metadata }) => void ended.push(metadata.name ?? '') };
  start({ rollout: { grants, watchTurns: () => noWatch }, clock: fastClock(100) });
  const message = await lab.failed('ACTIVATION_FAILED');
  expect(message).toContain(`the rollback to version ${version} failed`);
  expect(message).toContain('NODE_VERSION_TIMEOUT');
  expect(ended).toEqual([]);
  expect((await lab.node())?.spec?.unschedulable).toBe(true);
  host.faults = {};
  await isBack(lab, { code: 'NODE_VERSION_TIMEOUT' });
});

test('a host that is still to swap its files when it is rolled back is ordered to go back', async () => {
  const { lab, host, start } = await upgradeLab();
  let isHeld = true;
  host.activator.isHeld = () => isHeld;
  const first = start();
  const { upgrade: begun } = await lab.statusWhen(({ step, upgrade }) => step === 'activate' && upgrade !== undefined);
  await until(() => host.verbs().includes('activation'));
  await first.kill();
  const failed = { code: 'ACTIVATION_FAILED', message: 'the host was off', at: begun?.activated };
  const body = { status: { upgrade: { ...begun, failed } } };
  await lab.client.patch(windowsInstances, 'win-5', { type: 'merge', body }, { namespace, subresource: 'status' });
  // As its former agent says when it starts before the swap goes on.
  await lab.report({ version });
  let isOrdered = false;
  host.faults.exec = command => {
    isHeld &&= !isOrdered;
    isOrdered ||= command.includes('--set previous');
    return undefined;
  };
  start();
  await rolledBack(lab);
  expect([await host.activator.version(), host.activator.swaps]).toEqual([version, [version]]);
  await untilInService(lab);
});

test('a failure that was accepted in advance stops the roll-out until it is accepted again', async () => {
  const { lab, start } = await upgradeLab();
  lab.behavior.brokenVersion = newer;
  await annotate(lab, { [instanceAnnotation.acceptedRollback]: newer });
  start({ clock: fastClock(100) });
  await rolledBack(lab);
  const stopped = await lab.instance();
  expect([stopped.metadata.annotations, stoppedVersion(stopped)]).toEqual([undefined, newer]);
  await annotate(lab, { [instanceAnnotation.acceptedRollback]: newer });
  expect(stoppedVersion(await lab.instance())).toBeUndefined();
});

test('a host that rolled back is upgraded again when its annotation retry changes', async () => {
  const { lab, host, start } = await upgradeLab();
  lab.behavior.brokenVersion = newer;
  start({ clock: fastClock(100) });
  await rolledBack(lab);
  lab.behavior = {};
  await annotate(lab, { [instanceAnnotation.retry]: '1' });
  const { conditions } = await upgraded(lab);
  expect(findCondition(conditions, instanceCondition.rolledBack)).toMatchObject({ status: 'False' });
  expect(host.activator.swaps).toEqual([newer, version, newer]);
});

test('a blocked drain gives node and grant back before anything is changed', async () => {
  const { lab, host, start } = await upgradeLab();
  const ended: string[] = [];
  const grants: Grants = {
    ...unlimitedGrants,
    end: async ({ metadata }) => void ended.push(metadata.name ?? ''),
    settings: () => ({ ...unlimitedGrants.settings(), drainTimeout: 1000 }),
  };
  await lab.client.create<Pod>(pods, {
    metadata: { name: 'web', namespace },
    spec: { nodeName: 'win-5', terminationGracePeriodSeconds: 0, containers: [{ name: 'web', image: 'web' }] },
  });
  const blocked = { isOn: true };
  const client = refusingEvictions(lab.client, () => blocked.isOn);
  start({ rollout: { grants, watchTurns: () => noWatch }, client, clock: fastClock(100) });
  await lab.failed('DRAIN_BLOCKED');
  await until(async () => ended.length > 0 && (await lab.node())?.spec?.unschedulable === undefined);
  expect(host.verbs()).not.toContain('activate');
  blocked.isOn = false;
  await upgraded(lab);
});

test('a host that does not answer at the order is asked again, and not rolled back', async () => {
  const { lab, host, start } = await upgradeLab();
  let count = 0;
  host.faults.exec = command => {
    if (!command.includes(' activate ')) return undefined;
    count += 1;
    if (count < 6) throw new AppError('HOST_CONNECTION_LOST', 'the connection broke', { remedy: 'Try again.' });
    return undefined;
  };
  start({ clock: fastClock(100) });
  const { upgrade } = await upgraded(lab);
  expect(upgrade?.failed).toBeUndefined();
});

test('a removal in the middle of an upgrade removes the host', async () => {
  const { lab, host, start } = await upgradeLab();
  lab.behavior.brokenVersion = newer;
  start({ clock: fastClock(100) });
  await until(() => host.activator.swaps.length > 0);
  await annotate(lab, removalRequest);
  await untilGone(lab);
  expect(await lab.node()).toBeUndefined();
});

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

test('a host that is dead half an hour after its order has failed, and a host that just got it is retried', async () => {
  const { lab, host, start } = await upgradeLab();
  const order = (activated: string) =>
    lab.patchStatus({
      upgrade: { from: version, to: newer, fromAgent: 'ab'.repeat(32), staged: activated, activated },
    });
  host.stopAnswering();
  await order(minutesAgo(1));
  const first = start();
  await lab.failed('HOST_UNREACHABLE');
  expect((await lab.instance()).status?.upgrade?.failed).toBeUndefined();
  await first.stop();
  await order(minutesAgo(31));
  start();
  const { upgrade } = await lab.statusWhen(({ upgrade: now }) => now?.failed !== undefined);
  expect(upgrade?.failed?.code).toBe('HOST_UNREACHABLE');
  await lab.statusWhen(({ journey, phase }) => journey?.name === 'rollback' && phase === 'Failed');
});

test('a former leader gives neither node nor grant back, and a leader does, whatever hosts say', async () => {
  const { lab, host, start } = await upgradeLab();
  const ended: string[] = [];
  const grants: Grants = { ...unlimitedGrants, end: async ({ metadata }) => void ended.push(metadata.name ?? '') };
  const parts = { rollout: { grants, watchTurns: () => noWatch } };
  const error = { code: 'LEADER_STALE', message: 'leader 4 orders it', remedy: 'No action is needed.' };
  const refusals: string[] = [];
  host.faults.exec = command => {
    if (!command.includes(' stage ')) return undefined;
    refusals.push(command);
    return { exitCode: 1, stdout: JSON.stringify({ error }), stderr: '' };
  };
  await lab.patchNode({ metadata: { annotations: { [nodeAnnotation.cordoned]: '' } }, spec: { unschedulable: true } });
  await lab.patchStatus({ phase: 'Upgrading', journey: { name: 'upgrade', cause: 'x', started: minutesAgo(1) } });
  const leader = (isCurrent: boolean) => ({ term: () => 'a.3', isCurrent: async () => isCurrent });
  const former = start({ ...parts, leader: leader(false) });
  await until(() => refusals.length > 1);
  await former.stop();
  expect([(await lab.node())?.spec?.unschedulable, ended]).toEqual([true, []]);
  start({ ...parts, leader: leader(true) });
  await until(async () => ended.length > 0 && (await lab.node())?.spec?.unschedulable === undefined);
});

test('a host that is rejected in the middle of its upgrade comes back into service', async () => {
  const { lab, host, start } = await upgradeLab({ source: { kind: 'ConfigMap', name: '10.0.0.5' } });
  const { instances: name } = configMapName;
  const data = { '10.0.0.5': 'username=Administrator' };
  await lab.client.create(configMaps, { metadata: { name, namespace }, data });
  const typo = { type: 'merge', body: { data: { '10.0.0.5': 'usrname' } } } as const;
  host.faults.exec = async command => {
    if (command.includes(' activate ')) await lab.client.patch(configMaps, name, typo, { namespace });
    return undefined;
  };
  start();
  const { conditions } = await upgraded(lab);
  expect(findCondition(conditions, instanceCondition.accepted)).toMatchObject({ status: 'False' });
  await untilInService(lab, newer);
});
