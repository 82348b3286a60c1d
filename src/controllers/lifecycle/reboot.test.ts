import { expect, test } from 'vitest';
import { timestamp } from '#base/clock.ts';
import { instanceAnnotation, nodeAnnotation } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import type { Watch } from '#kube/controller/watches.ts';
import { type Pod, pods } from '#kube/resources.ts';
import type { Grants } from '#node/rollout/grants.ts';
import { KillBeforeAct } from '../../../test/kit/lifecycle/kill-before-act.ts';
import { type JoinLab, namespace } from '../../../test/kit/lifecycle/join-lab.ts';
import { annotate, joinedLab, refusingEvictions } from '../../../test/kit/lifecycle/removal-lab.ts';
import { unlimitedGrants } from '../../../test/kit/unlimited-grants.ts';
import { until } from '../../../test/kit/until.ts';

async function budgetLab(isFree: boolean) {
  const budget = { isFree, isHeld: false };
  const grants: Grants = {
    ...unlimitedGrants,
    take: async () => {
      budget.isHeld ||= budget.isFree;
      return budget.isHeld ? { isGranted: true } : { isGranted: false, why: 'win-9 is being removed' };
    },
    end: async () => void (budget.isHeld = false),
  };
  let tellTurn: () => void = () => undefined;
  const turns: Watch = {
    synced: Promise.resolve(),
    start: enqueue => {
      tellTurn = () => enqueue({ namespace, name: 'win-5' }, 'always');
      return () => undefined;
    },
    relist: () => [],
  };
  const rollout = { grants, watchTurns: () => turns };
  const free = () => {
    budget.isFree = true;
    tellTurn();
  };
  return { ...(await joinedLab({ rollout })), budget, rollout, free };
}

const askByAgent = (lab: JoinLab) => lab.report({ rebootRequired: 'true' });
const askByHand = (lab: JoinLab, value: string) => annotate(lab, { [instanceAnnotation.reboot]: value });

/** Until the host was rebooted `count` times and is at rest. */
async function settled(lab: JoinLab, count: number): Promise<WindowsInstanceStatus> {
  const status = await lab.statusWhen(({ phase, reboots = [] }) => phase === 'Ready' && reboots.length === count);
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
  expect((await lab.node())?.metadata.annotations).not.toHaveProperty([nodeAnnotation.rebootRequired]);
  expect(status.reboot).toBeUndefined();
  return status;
}

test('a host whose agent requires a reboot is rebooted once, and its Node is in service again', async () => {
  const { lab, host, budget } = await budgetLab(true);
  await askByAgent(lab);
  const { timeline = [] } = await settled(lab, 1);
  expect(host.boots).toBe(2);
  expect(timeline.map(({ name }) => name)).toEqual([
    'connect',
    'agent program',
    'inventory',
    'budget',
    'cordon',
    'drain',
    'reboot',
    'wait for agent',
    'uncordon',
  ]);
  await until(() => !budget.isHeld);
  await until(async () => (await lab.events()).some(text => text.includes('InstanceRebooted')));
});

test('a new value of the annotation reboots the host, the same value does not', async () => {
  const { lab, host } = await joinedLab();
  await askByHand(lab, 'monday');
  expect((await settled(lab, 1)).rebootRequest).toBe('monday');
  await askByHand(lab, 'tuesday');
  expect((await settled(lab, 2)).rebootRequest).toBe('tuesday');
  await annotate(lab, { other: 'x' });
  expect(host.boots).toBe(3);
});

test('a host that waits for the budget stays in service and is not connected to', async () => {
  const { lab, host, free } = await budgetLab(false);
  const before = host.connectionCount;
  await askByAgent(lab);
  const { phase } = await lab.statusWhen(({ conditions = [] }) =>
    conditions.some(
      ({ reason, message = '' }) => reason === 'WaitsForBudget' && message.includes('win-9 is being removed'),
    ),
  );
  expect(phase).toBe('Ready');
  expect(host.connectionCount).toBe(before);
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
  free();
  await settled(lab, 1);
});

test('a host that does not answer gives its grant back, as its Node is still in service', async () => {
  const { lab, host, budget } = await budgetLab(true);
  host.stopAnswering();
  await askByAgent(lab);
  await lab.failed('HOST_UNREACHABLE');
  await until(() => !budget.isHeld);
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
  host.faults = {};
  await settled(lab, 1);
});

test('a Node that an administrator cordoned stays cordoned', async () => {
  const { lab, host } = await joinedLab();
  await lab.patchNode({ spec: { unschedulable: true } });
  await askByAgent(lab);
  await lab.statusWhen(({ phase, reboots = [] }) => phase === 'Ready' && reboots.length === 1);
  expect(host.boots).toBe(2);
  expect((await lab.node())?.spec?.unschedulable).toBe(true);
});

test('a drain that is blocked puts the Node back into service and ends the grant', async () => {
  const { lab, host, operator, budget, rollout } = await budgetLab(true);
  await operator.stop();
  const blocked = { isOn: true };
  lab.start({ rollout, client: refusingEvictions(lab.client, () => blocked.isOn) });
  await lab.client.create<Pod>(pods, {
    metadata: { name: 'web', namespace },
    spec: { nodeName: 'win-5', terminationGracePeriodSeconds: 0, containers: [{ name: 'web', image: 'web' }] },
  });
  await askByAgent(lab);
  expect(await lab.failed('DRAIN_BLOCKED')).toContain(`${namespace}/web`);
  await until(async () => !budget.isHeld && (await lab.node())?.spec?.unschedulable === undefined);
  expect(host.boots).toBe(1);
  blocked.isOn = false;
  await settled(lab, 1);
});

test('after three reboots in a day the host waits, and an event says so', async () => {
  const { lab, host } = await joinedLab();
  const hours = (count: number) => timestamp(Date.now() - count * 3_600_000);
  await lab.patchStatus({ reboots: [hours(20), hours(10), hours(1)] });
  await askByAgent(lab);
  await lab.statusWhen(({ conditions = [] }) =>
    conditions.some(({ message = '' }) => message.includes('rebooted 3 times')),
  );
  await until(async () => (await lab.events()).some(text => text.includes('RebootLimitReached: REBOOT_LIMIT')));
  expect(host.boots).toBe(1);
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
  await lab.patchStatus({ reboots: [hours(25), hours(10), hours(1)] });
  await askByHand(lab, 'now');
  await until(() => host.boots === 2);
});

test('a spec that is edited during the reboot causes no second one', async () => {
  const { lab, host } = await joinedLab();
  host.faults.exec = async command => {
    if (!command.includes(' reboot ')) return undefined;
    host.faults = {};
    const answer = await host.run(command);
    await lab.patchSpec({ labels: { zone: 'b' } });
    return answer;
  };
  await askByAgent(lab);
  await settled(lab, 1);
  expect(host.boots).toBe(2);
});

/** Kills the operator right before its act of a number, then starts another. */
async function killAt(number: number): Promise<'killed' | 'was done before'> {
  const { lab, host, operator } = await joinedLab();
  await operator.stop();
  const kill = new KillBeforeAct(lab, host, number, ['patch']);
  await askByHand(lab, 'now');
  await askByAgent(lab);
  kill.operator = lab.start({ client: kill.client });
  await until(async () => kill.isReached || (await lab.instance()).status?.rebootRequest === 'now');
  const outcome = kill.isReached ? 'killed' : 'was done before';
  await kill.operator.kill();
  host.faults = {};
  lab.start();
  await until(async () => (await lab.instance()).status?.rebootRequest === 'now');
  await settled(lab, 1);
  expect(host.boots).toBe(2);
  return outcome;
}

test('wherever the operator is killed, the host is rebooted exactly once and counted once', async () => {
  const outcomes: string[] = [];
  for (let first = 1; first < 24; first += 4) {
    outcomes.push(...(await Promise.all([0, 1, 2, 3].map(index => killAt(first + index)))));
  }
  expect(outcomes.filter(outcome => outcome === 'killed').length).toBeGreaterThan(10);
});
