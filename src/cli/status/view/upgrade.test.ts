import { expect, test } from 'vitest';
import { instanceAnnotation } from '#contract/names.ts';
import type { InstanceUpgrade, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { at, condition, instanceOf, nodeOf, statuses, step, viewOf } from '../../../../test/kit/status-views.ts';
import { hostOfInstance } from './instance-host.ts';

const [from, to] = ['11.0.0', '11.1.0'];
const failed = { code: 'UPGRADE_UNHEALTHY', message: 'not Ready for 60 s', at: at(40) };
const rolledBack = { from, to, activated: at(5), failed, rolledBack: at(60) };
const { retry, acceptedRollback, pinnedVersion } = instanceAnnotation;

function hostWith(status: WindowsInstanceStatus, annotations: Record<string, string> = {}, operatorVersion = to) {
  const instance = instanceOf('win-1', { ...structuredClone(statuses.ready), version: from, ...status });
  const metadata = { ...instance.metadata, annotations };
  return hostOfInstance({ ...instance, metadata }, viewOf({ nodes: [nodeOf('win-1')], operatorVersion }));
}

const waits = [condition('Ready', 'True', 'WaitsForBudget', 'at most 1 of 9 nodes may be out of service')];
const told = [condition('Ready', 'True', 'WaitsForBudget', 'files of 11.1.0 are staged; win-2 is ahead')];
const notes: [what: string, upgrade: InstanceUpgrade, conditions: typeof waits, note: string | undefined][] = [
  ['is soaking', { from, to, ready: at(1) }, [], 'upgrade 11.0.0 -> 11.1.0 is soaking'],
  ['is staged', { from, to, staged: at(1) }, [], 'upgrade 11.0.0 -> 11.1.0 is staged'],
  [
    'waits for the budget',
    { from, to, staged: at(1) },
    waits,
    'upgrade 11.0.0 -> 11.1.0 is staged: at most 1 of 9 nodes may be out of service',
  ],
  ['waits, as the operator says', { from, to, staged: at(1) }, told, 'files of 11.1.0 are staged; win-2 is ahead'],
  ['has ended', { from, to, soaked: at(1) }, [], undefined],
];
for (const [what, upgrade, conditions, note] of notes) {
  test(`a host whose upgrade ${what} is Ready and says so`, () => {
    expect(hostWith({ upgrade, conditions })).toMatchObject({ phase: 'Ready', tone: 'good', note });
  });
}

test('a host that was rolled back has a problem with three ways on', () => {
  const { phase, tone, problem } = hostWith({ upgrade: rolledBack });
  expect([phase, tone, problem?.code]).toEqual(['RolledBack', 'bad', 'UPGRADE_UNHEALTHY']);
  expect(problem?.message).toBe('upgrade 11.0.0 -> 11.1.0 failed, and the host runs 11.0.0 again: not Ready for 60 s');
  expect(problem?.remedy.match(/`[^`]+`/g)).toEqual([
    '`wmco rollout retry win-1`',
    '`wmco rollout continue`',
    '`wmco rollout pin win-1`',
  ]);
});

const settled: [what: string, annotations: Record<string, string>, version: string, note: string][] = [
  ['is accepted', { [acceptedRollback]: to }, to, 'was rolled back: UPGRADE_UNHEALTHY'],
  ['is tried again', { [retry]: 'now' }, to, 'was rolled back: UPGRADE_UNHEALTHY; it is tried again'],
  ['was of another version', {}, '11.2.0', 'was rolled back: UPGRADE_UNHEALTHY'],
];
for (const [what, annotations, version, note] of settled) {
  test(`a rollback that ${what} is no problem`, () => {
    expect(hostWith({ upgrade: rolledBack }, annotations, version)).toMatchObject({
      phase: 'Ready',
      tone: 'good',
      problem: undefined,
      note: `upgrade 11.0.0 -> 11.1.0 ${note}`,
    });
  });
}

test('the value of retry at the time of the failure is no new attempt', () => {
  const host = hostWith({ upgrade: { ...rolledBack, retry: 'before' } }, { [retry]: 'before' });
  expect([host.phase, host.upgrade?.isRetried]).toEqual(['RolledBack', false]);
});

test('a retry of a pinned host is a problem still: the pin holds it', () => {
  const host = hostWith({ upgrade: rolledBack }, { [retry]: 'now', [pinnedVersion]: from });
  expect([host.phase, host.upgrade?.isRetried]).toEqual(['RolledBack', false]);
});

test('a Node that is not ready is the greater problem', () => {
  const conditions = [condition('Ready', 'False', 'NodeNotReady')];
  expect(hostWith({ upgrade: rolledBack, conditions })).toMatchObject({ phase: 'NodeNotReady', tone: 'bad' });
});

test('a pinned host says so', () => {
  expect(hostWith({}, { [pinnedVersion]: from })).toMatchObject({ pinnedVersion: from, note: 'pinned to 11.0.0' });
});

for (const phase of ['Upgrading', 'RollingBack', 'Rebooting'] as const) {
  test(`a host that is ${phase} is busy, shows its time, and is retried after a failure`, () => {
    const running = { phase, step: 'drain', timeline: [step('drain', 3)], conditions: [] };
    expect(hostWith(running)).toMatchObject({ phase, tone: 'busy', step: 'drain', startedMs: Date.parse(at(3)) });
    const lastError = { code: 'DRAIN_BLOCKED', message: 'blocked', remedy: '' };
    const timeline = [step('drain', 3, undefined, { lastError })];
    const conditions = [condition('Configured', 'False', 'DRAIN_BLOCKED')];
    expect(hostWith({ ...running, timeline, conditions })).toMatchObject({
      phase: 'Retrying',
      tone: 'bad',
      problem: lastError,
    });
  });
}
