import { expect, test } from 'vitest';
import { findCondition } from '#base/condition.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { KillBeforeAct } from '../../../test/kit/lifecycle/kill-before-act.ts';
import { namespace, version } from '../../../test/kit/lifecycle/join-lab.ts';
import {
  newer,
  newerParts,
  rolledBack,
  untilInService,
  upgraded,
  upgradeLab,
} from '../../../test/kit/lifecycle/upgrade-lab.ts';
import { until } from '../../../test/kit/until.ts';

type Outcome = 'killed' | 'was done before';

/** Kills the operator right before its act of a number, counting all it does to host and cluster; then starts another. */
async function killUpgradeAt(number: number): Promise<Outcome> {
  const { lab, host } = await upgradeLab();
  const kill = new KillBeforeAct(lab, host, number, ['patch']);
  kill.operator = lab.start({ ...newerParts, client: kill.client });
  await until(async () => kill.isReached || (await lab.instance()).status?.version === newer);
  const outcome = kill.isReached ? 'killed' : 'was done before';
  await kill.operator.kill();
  lab.start(newerParts);
  const { upgrade } = await upgraded(lab);
  expect(upgrade).toMatchObject({ from: version, to: newer });
  expect(upgrade?.failed).toBeUndefined();
  expect(host.activator.swaps).toEqual([newer]);
  await untilInService(lab, newer);
  await until(() => host.openConnections === 0);
  return outcome;
}

/** The same for an upgrade whose new agent does not report, so that the host goes back by itself. */
async function killRevertAt(number: number): Promise<Outcome> {
  const { lab, host } = await upgradeLab();
  host.activator.reports = running => running !== newer;
  const kill = new KillBeforeAct(lab, host, number, ['patch']);
  kill.operator = lab.start({ ...newerParts, client: kill.client });
  const isBack = async () => (await lab.instance()).status?.upgrade?.rolledBack !== undefined;
  await until(async () => kill.isReached || (await isBack()));
  const outcome = kill.isReached ? 'killed' : 'was done before';
  await kill.operator.kill();
  lab.start(newerParts);
  const { upgrade, version: runs } = await rolledBack(lab);
  expect(upgrade?.failed?.code).toBe('ACTIVATION_REVERTED');
  expect(runs).toBe(version);
  expect(host.activator.swaps).toEqual([version]);
  await untilInService(lab);
  return outcome;
}

/** The same for the rollback of a host that was upgraded, and turned out not to work with the new version. */
async function killRollbackAt(number: number): Promise<Outcome> {
  const { lab, host, start } = await upgradeLab();
  const first = start();
  const { upgrade: done } = await upgraded(lab);
  await first.stop();
  host.uploads.splice(0);
  const failed = { code: 'UPGRADE_UNHEALTHY', message: 'Node win-5 is not ready', at: done?.ready };
  const body = { status: { upgrade: { ...done, failed } } };
  await lab.client.patch(windowsInstances, 'win-5', { type: 'merge', body }, { namespace, subresource: 'status' });
  const kill = new KillBeforeAct(lab, host, number, ['patch']);
  kill.operator = start({ client: kill.client });
  const isBack = async () => (await lab.instance()).status?.upgrade?.rolledBack !== undefined;
  await until(async () => kill.isReached || (await isBack()));
  const outcome = kill.isReached ? 'killed' : 'was done before';
  await kill.operator.kill();
  start();
  const { upgrade, version: runs, conditions } = await rolledBack(lab);
  expect(upgrade).toMatchObject({ from: version, to: newer, failed });
  expect(findCondition(conditions, instanceCondition.rolledBack)).toMatchObject({
    status: 'True',
    reason: failed.code,
  });
  expect(runs).toBe(version);
  expect(host.activator.swaps).toEqual([newer, version]);
  expect(host.uploads).toEqual([]);
  await untilInService(lab);
  await until(() => host.openConnections === 0);
  return outcome;
}

/** In batches of four. */
async function inBatches(last: number, step: number, run: (number: number) => Promise<Outcome>): Promise<Outcome[]> {
  const numbers = Array.from({ length: Math.ceil(last / step) }, (_, index) => 1 + index * step);
  const outcomes: Outcome[] = [];
  for (let at = 0; at < numbers.length; at += 4) {
    outcomes.push(...(await Promise.all(numbers.slice(at, at + 4).map(run))));
  }
  return outcomes;
}

test('wherever the operator is killed, the next one ends the upgrade with one swap', async () => {
  const outcomes = await inBatches(32, 1, killUpgradeAt);
  expect(outcomes.filter(outcome => outcome === 'killed').length).toBeGreaterThan(15);
});

test('wherever the operator is killed, a host that goes back by itself is in service again', async () => {
  const outcomes = await inBatches(48, 3, killRevertAt);
  expect(outcomes.filter(outcome => outcome === 'killed').length).toBeGreaterThan(5);
});

test('wherever the operator is killed, the next one ends the rollback with one swap and no upload', async () => {
  const outcomes = await inBatches(28, 1, killRollbackAt);
  expect(outcomes.filter(outcome => outcome === 'killed').length).toBeGreaterThan(10);
});
