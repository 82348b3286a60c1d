import { expect, test } from 'vitest';
import { agentName } from '#contract/names.ts';
import type { CommandResult } from '#host/host.ts';
import type { Leader } from '#kube/leader/leader.ts';
import { type JoinLab, startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import type { LabHost } from '../../../test/kit/lifecycle/lab-host.ts';
import { until } from '../../../test/kit/until.ts';

const lease = '0b5c1f0e-7a7b-4f4b-9d7c-2f6f5f1f0a01';
const leader = (count: number, isCurrent: boolean): Leader => ({
  term: () => `${lease}.${count}`,
  isCurrent: async () => isCurrent,
});
const isOf = (count: number) => (command: string) => command.includes(`--leader ${lease}.${count}`);

/** A host on which Containers is enabled by a command that takes until it may end. */
function slowHost(lab: JoinLab) {
  const host = lab.host();
  host.model.state.containersFeature = 'disabled';
  const [began, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const enable = host.model.system.enableContainers.bind(host.model.system);
  let runs = 0;
  host.model.system.enableContainers = async signal => {
    runs += 1;
    began.resolve();
    await mayEnd.promise;
    return enable(signal);
  };
  return { host, began: began.promise, end: () => mayEnd.resolve(), runs: () => runs };
}

/** Every command with its result, in the order of their ends. */
function recordResults(host: LabHost): { command: string; result: CommandResult }[] {
  const results: { command: string; result: CommandResult }[] = [];
  const run = host.run.bind(host);
  host.run = async command => {
    const result = await run(command);
    results.push({ command, result });
    return result;
  };
  return results;
}

test('a command of the former leader ends before the next leader changes anything, and is its last', async () => {
  const lab = await startJoinLab();
  const slow = slowHost(lab);
  const results = recordResults(slow.host);
  // It does not know yet that it leads no more.
  lab.start({ leader: leader(3, false) });
  await lab.add();
  await slow.began;
  lab.start({ leader: leader(4, true) });
  const { activity } = await lab.statusWhen(status => status.activity?.waitsFor?.includes('another command') === true);
  expect(activity?.waitsFor).toMatch(/enable-containers since \d{4}-/);
  expect(results.filter(({ command }) => isOf(4)(command)).every(({ result }) => result.exitCode === 1)).toBe(true);
  const before = results.length;
  slow.end();
  await lab.ready();
  const later = results.slice(before);
  const [last, ...refused] = later.filter(({ command }) => isOf(3)(command));
  expect([last?.command.split(' ')[1], last?.result.exitCode]).toEqual(['enable-containers', 0]);
  for (const { result } of refused) expect(result.stdout).toContain('LEADER_STALE');
  expect(slow.host.model.services.calls.filter(call => call === `create ${agentName}`)).toHaveLength(1);
  expect([slow.host.boots, slow.runs()]).toEqual([2, 1]);
  const { timeline, conditions } = (await lab.instance()).status ?? {};
  expect(JSON.stringify([timeline, conditions])).not.toMatch(/LEADER_STALE|HOST_BUSY/);
});

test('a former leader reports no failure, and a leader does, whatever hosts say', async () => {
  const lab = await startJoinLab();
  const told = { code: 'LEADER_STALE', message: 'leader 3 orders it', remedy: 'No action is needed.' };
  lab.host().faults.exec = command =>
    command.includes('--leader') ? { exitCode: 1, stdout: JSON.stringify({ error: told }), stderr: '' } : undefined;
  const former = lab.start({ leader: leader(3, false) });
  await lab.add();
  await until(() => lab.host().commands.filter(isOf(3)).length > 2);
  expect((await lab.instance()).status?.phase).toBe('Configuring');
  expect(await lab.events()).toEqual([]);
  await former.stop();
  lab.start({ leader: leader(3, true) });
  expect(await lab.failed('LEADER_STALE')).toContain('leader 3 orders it');
});

test('after a lost connection the command that still runs is waited for, not started again', async () => {
  const lab = await startJoinLab();
  const slow = slowHost(lab);
  lab.start({ leader: leader(1, true) });
  await lab.add();
  await slow.began;
  slow.host.disconnect();
  await lab.statusWhen(status => status.activity?.waitsFor?.includes('another command') === true);
  expect(slow.runs()).toBe(1);
  slow.end();
  await lab.ready();
  expect([slow.runs(), slow.host.boots]).toEqual([1, 2]);
});
