import { expect, test } from 'vitest';
import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { agentProgram, file } from '#contract/paths.ts';
import type { Watch } from '#kube/controller/watches.ts';
import type { Node } from '#kube/resources.ts';
import type { Grants } from '#node/rollout/grants.ts';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { version } from '../../../test/kit/lifecycle/join-lab.ts';
import { memoryPayload } from '../../../test/kit/lifecycle/memory-payload.ts';
import { copiesOf, newer, upgraded, upgradeLab, untilInService } from '../../../test/kit/lifecycle/upgrade-lab.ts';
import { unlimitedGrants } from '../../../test/kit/unlimited-grants.ts';
import { until } from '../../../test/kit/until.ts';

const noWatch: Watch = { synced: Promise.resolve(), start: () => () => undefined, relist: () => [] };

test('UPG-01: a Node gets the files of the new version in one swap, and runs it', async () => {
  const { lab, host, start } = await upgradeLab();
  start();
  const { upgrade, version: recorded } = await upgraded(lab);
  expect(recorded).toBe(newer);
  expect(upgrade).toMatchObject({ from: version, to: newer });
  expect(upgrade?.failed).toBeUndefined();
  await untilInService(lab, newer);
  const { annotations } = (await lab.node())?.metadata ?? {};
  expect(annotations?.[nodeAnnotation.desiredVersion]).toBe(newer);
  expect(host.activator.swaps).toEqual([newer]);
  expect(host.verbs()).toEqual(expect.arrayContaining(['inventory', 'stage', 'activate', 'activation']));
  expect(host.verbs()).not.toContain('secure');
  expect(host.verbs()).not.toContain('cleanup');
  await until(async () => (await lab.events()).some(text => text.includes('InstanceUpgraded')));
  expect((await lab.events()).filter(text => text.includes('Warning'))).toEqual([]);
});

test('UPG-03: label and cordon come in one write before the swap, and go together after it', async () => {
  const { lab, host, start } = await upgradeLab();
  const seen: (Node | undefined)[] = [];
  host.faults.exec = async command => {
    if (/ (activate|stage) /.test(command)) seen.push(await lab.node());
    return undefined;
  };
  start();
  await upgraded(lab);
  const states = seen.map(node => [node?.spec?.unschedulable, node?.metadata.labels?.[nodeLabel.upgrading]]);
  expect(states).toEqual([
    [undefined, undefined],
    [undefined, undefined],
    [true, 'true'],
  ]);
  await untilInService(lab, newer);
});

test('a Node that a user cordoned stays cordoned', async () => {
  const { lab, start } = await upgradeLab();
  await lab.patchNode({ spec: { unschedulable: true } });
  start();
  await upgraded(lab);
  const node = await lab.node();
  expect(node?.spec?.unschedulable).toBe(true);
  expect(node?.metadata.labels?.[nodeLabel.upgrading]).toBeUndefined();
});

/** An upgrade that has begun, and gets no grant before the budget is free. */
async function waitingLab() {
  const { start, ...parts } = await upgradeLab();
  const budget = { isFree: false, why: 'win-9 is being upgraded' };
  const grants: Grants = {
    ...unlimitedGrants,
    take: async () => (budget.isFree ? { isGranted: true } : { isGranted: false, why: budget.why }),
  };
  start({ rollout: { grants, watchTurns: () => noWatch }, clock: fastClock(300) });
  return { ...parts, budget };
}

test('waits for the budget with its files staged, in service, and without a connection', async () => {
  const { lab, host, budget } = await waitingLab();
  const isWaiting = (reason?: string) => reason === 'WaitsForBudget';
  const { conditions = [], journey } = await lab.statusWhen(
    ({ phase, conditions: all = [] }) => phase === 'Ready' && all.some(({ reason }) => isWaiting(reason)),
  );
  expect(journey).toBeUndefined();
  expect(conditions.find(({ reason }) => isWaiting(reason))).toMatchObject({
    type: 'Ready',
    status: 'True',
    message: `Node win-5 runs version ${version}; upgrade ${version} -> ${newer} is staged and waits: win-9 is being upgraded`,
  });
  await until(() => host.openConnections === 0);
  budget.why = 'win-8 is being upgraded';
  // Also what it says later is that it waits for the budget, which `wmco status` lists.
  await lab.statusWhen(({ conditions: all = [] }) =>
    all.some(
      ({ reason, message = '' }) =>
        isWaiting(reason) && message.endsWith('is staged and waits: win-8 is being upgraded'),
    ),
  );
  const { connectionCount, uploads } = host;
  const [count, tokens] = [uploads.length, lab.tokens];
  expect((await lab.node())?.spec?.unschedulable).toBeUndefined();
  budget.isFree = true;
  await upgraded(lab);
  expect(host.connectionCount).toBeLessThanOrEqual(connectionCount + 1);
  expect(host.uploads).toHaveLength(count);
  expect(lab.tokens).toBe(tokens);
});

test('a host that lost its files while it waited is not staged until it has all of them again', async () => {
  const { lab, host, budget } = await waitingLab();
  await lab.statusWhen(({ upgrade, phase }) => phase === 'Ready' && upgrade?.staged !== undefined);
  await until(() => host.openConnections === 0);
  await host.model.files.remove(file.nextSet);
  const staged: (string | undefined)[] = [];
  host.faults.exec = async command => {
    if (command.includes(' stage ')) staged.push((await lab.instance()).status?.upgrade?.staged);
    return undefined;
  };
  budget.isFree = true;
  await upgraded(lab);
  expect(staged).toEqual([undefined]);
});

test('a patch release moves only the contents that changed', async () => {
  const { lab, host, start } = await upgradeLab();
  const [old, fresh] = [memoryPayload(), memoryPayload('two')];
  const files = async (platform: string) => {
    const [before, after] = await Promise.all([old.files(platform), fresh.files(platform)]);
    return before.map((each, index) => (each.path === file.kubelet ? (after[index] ?? each) : each));
  };
  const payload = { agent: () => fresh.agent(), files };
  const programs = await payload.files('None');
  const [kubelet] = programs.filter(({ path }) => path === file.kubelet);
  const copied = new Set(copiesOf(host));
  start({ payload });
  await upgraded(lab);
  const added = copiesOf(host).filter(hash => !copied.has(hash));
  const moved = programs.filter(({ sha256 }) => added.includes(sha256)).map(({ path }) => path);
  expect(moved).toEqual([kubelet?.path]);
  const { sha256 } = await fresh.agent();
  expect(host.uploads).toContain(agentProgram(sha256));
});

test('a downgrade is the same way', async () => {
  const { lab, host, start } = await upgradeLab();
  const operator = start();
  await upgraded(lab);
  await operator.stop();
  lab.start();
  const { upgrade } = await upgraded(lab, version);
  expect(upgrade).toMatchObject({ from: newer, to: version });
  expect(host.activator.swaps).toEqual([newer, version]);
  await untilInService(lab, version);
});

test('a host of another operator, whose files are no set, is drained and configured again', async () => {
  const { lab, host, start } = await upgradeLab();
  host.faults.answer = (verb, data) => (verb === 'inventory' ? { ...data, sets: {}, stagedVersion: '' } : data);
  await lab.patchStatus({ agent: null });
  start();
  const { upgrade } = await upgraded(lab);
  expect(upgrade?.fromAgent).toBeUndefined();
  expect(host.verbs()).toEqual(expect.arrayContaining(['secure', 'cleanup', 'bootstrap', 'install']));
  expect(host.verbs()).not.toContain('activate');
  await untilInService(lab, newer);
});

const claims = ['9.9.9', newer, '$(reboot)'];
test.each(claims)('the record of the operator counts, not the former version %s that a host claims', async claimed => {
  const { lab, host, start } = await upgradeLab();
  host.faults.answer = (verb, data) => {
    const sets = { current: { version: claimed, agent: 'ab'.repeat(32), bundle: '' } };
    return verb === 'inventory' ? { ...data, sets } : data;
  };
  start();
  const { upgrade } = await lab.statusWhen(({ upgrade: now }) => now?.staged !== undefined);
  expect(upgrade).toMatchObject({ from: version, to: newer });
});

test('an instance that is paused meanwhile is not touched, and goes on later', async () => {
  const { lab, host, start } = await upgradeLab();
  const gate = Promise.withResolvers<void>();
  host.faults.exec = async command => {
    if (command.includes(' stage ')) await gate.promise;
    return undefined;
  };
  start();
  await until(() => host.verbs().includes('stage'));
  await lab.patchSpec({ paused: true });
  await lab.statusWhen(({ phase }) => phase === 'Paused');
  gate.resolve();
  expect(host.verbs()).not.toContain('activate');
  await lab.patchSpec({ paused: false });
  await upgraded(lab);
});
