import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import {
  condition,
  failure,
  hostIn,
  instanceOf,
  nodeOf,
  noonMs,
  type StateName,
  step,
  statuses,
  viewOf,
} from '../../../../test/kit/status-views.ts';
import { isGood, configureMs } from './host-view.ts';
import { hostOfInstance } from './instance-host.ts';

const emptyView = viewOf();

const phases: [state: StateName, phase: string, tone: string][] = [
  ['fresh', 'Pending', 'busy'],
  ['configuring', 'Configuring', 'busy'],
  ['waiting', 'Configuring', 'busy'],
  ['failed', 'Failed', 'bad'],
  ['retrying', 'Retrying', 'bad'],
  ['booting', 'Waiting', 'busy'],
  ['ready', 'Ready', 'good'],
  ['nodeNotReady', 'NodeNotReady', 'bad'],
  ['refused', 'Duplicate', 'bad'],
  ['slow', 'Slow', 'slow'],
  ['paused', 'Paused', 'idle'],
];
for (const [state, phase, tone] of phases) {
  test(`a host in state ${state} has phase ${phase}`, () => {
    const host = hostIn(state);
    expect([host.phase, host.tone]).toEqual([phase, tone]);
    expect(isGood(host)).toBe(tone === 'good' || tone === 'idle');
  });
}

test('an instance that is being deleted is Removing in every phase', () => {
  const instance = instanceOf('10.0.0.1', structuredClone(statuses.ready));
  instance.metadata.deletionTimestamp = '2026-03-01T12:00:00Z';
  expect(hostOfInstance(instance, emptyView)).toMatchObject({ phase: 'Removing', tone: 'busy' });
});

test('a Ready host with an invalid entry has a problem', () => {
  const conditions = [...statuses.ready.conditions, condition('Accepted', 'False', 'INSTANCE_ENTRY_MALFORMED')];
  const host = hostOfInstance(instanceOf('10.0.0.1', { phase: 'Ready', conditions }), emptyView);
  expect(host).toMatchObject({ phase: 'Ready', tone: 'bad', problem: { code: 'INSTANCE_ENTRY_MALFORMED' } });
});

const problems: [state: StateName, code: string | undefined, remedy: string | undefined][] = [
  ['fresh', undefined, undefined],
  ['configuring', undefined, undefined],
  ['ready', undefined, undefined],
  ['paused', undefined, undefined],
  ['failed', failure.code, failure.remedy],
  ['retrying', failure.code, failure.remedy],
  ['booting', 'HOST_UNREACHABLE', failure.remedy],
  ['refused', 'INSTANCE_DUPLICATE', ''],
  ['nodeNotReady', 'NodeNotReady', 'Run `kubectl describe node win-1`'],
  ['slow', 'SlowStep', 'Check the kubelet.'],
];
for (const [state, code, remedy] of problems) {
  test(`the problem of a host that is ${state} is ${code ?? 'none'}`, () => {
    const { problem } = hostIn(state);
    expect(problem?.code).toBe(code);
    if (remedy !== undefined) expect(problem?.remedy).toContain(remedy);
  });
}

test('a failure in the timeline is no problem before the condition is written', () => {
  const { timeline } = statuses.failed;
  const conditions = [...statuses.configuring.conditions];
  const status: WindowsInstanceStatus = { phase: 'Configuring', step: 'connect', timeline: [...timeline], conditions };
  expect(hostOfInstance(instanceOf('10.0.0.1', status), emptyView)).toMatchObject({
    phase: 'Configuring',
    tone: 'busy',
    problem: undefined,
  });
});

test('takes the problem from the condition when there is no timeline', () => {
  const conditions = [condition('Configured', 'False', 'MATERIAL_MISSING', 'no key yet. Make one.')];
  const host = hostOfInstance(instanceOf('10.0.0.1', { phase: 'Failed', conditions }), emptyView);
  expect(host.problem).toEqual({ code: 'MATERIAL_MISSING', message: 'no key yet. Make one.', remedy: '' });
});

test('a finished step that failed before is no problem', () => {
  const timeline = [step('connect', 0, 1, { attempts: 2 }), step('prepare files', 2)];
  const conditions = [condition('Configured', 'False', 'Configuring')];
  const host = hostOfInstance(
    instanceOf('10.0.0.1', { phase: 'Configuring', step: 'prepare files', timeline, conditions }),
    emptyView,
  );
  expect([host.problem, host.attempts]).toEqual([undefined, 0]);
});

test('has the attempts of the failing step and the time of the next one', () => {
  expect(hostIn('failed')).toMatchObject({ attempts: 3, nextAttemptMs: noonMs + 30_000 });
  expect(hostIn('retrying')).toMatchObject({ attempts: 4, nextAttemptMs: undefined });
  expect(hostIn('configuring').nextAttemptMs).toBeUndefined();
});

const times: [state: StateName, ms: number | undefined][] = [
  ['fresh', undefined],
  ['paused', undefined],
  ['configuring', 60_000],
  ['failed', 60_000],
  ['ready', 12_000],
];
for (const [state, ms] of times) {
  test(`a minute after the start, a host in state ${state} took ${ms ?? 'no time'}`, () =>
    expect(configureMs(hostIn(state), noonMs + 60_000)).toBe(ms));
}

test('a duration is never negative', () => {
  expect(configureMs(hostIn('configuring'), noonMs - 60_000)).toBe(0);
});

test('ignores invalid times', () => {
  const timeline = [{ name: 'connect', started: 'yesterday', finished: '', attempts: 1 }];
  const host = hostOfInstance(instanceOf('a', { phase: 'Ready', timeline, nextAttempt: 'soon' }), emptyView);
  expect([host.startedMs, host.endedMs, host.nextAttemptMs]).toEqual([undefined, undefined, undefined]);
});

test('has what a step waits for, and the progress of an upload', () => {
  expect(hostIn('waiting').activity).toMatchObject({ waitsFor: 'the kubelet registers its Node', usualSeconds: 30 });
  expect(hostIn('configuring')).toMatchObject({ note: undefined, progress: { bytes: 3_000_000 } });
});

test('a Ready host has no step and no progress', () => {
  const status = { ...statuses.ready, step: 'uncordon', progress: { bytes: 1, totalBytes: 2 } };
  const host = hostOfInstance(instanceOf('a', structuredClone(status)), emptyView);
  expect([host.step, host.progress]).toEqual([undefined, undefined]);
});

const notes: [string, Parameters<typeof nodeOf>[1], string | undefined][] = [
  ['that is schedulable', {}, undefined],
  ['that a user cordoned', { unschedulable: true }, 'cordoned by a user'],
  [
    'that the operator has cordoned it',
    { unschedulable: true, annotations: { [nodeAnnotation.cordoned]: '' } },
    'cordoned by the operator',
  ],
];
for (const [name, over, want] of notes) {
  test(`has a note about a Ready host ${name}`, () => {
    const instance = instanceOf('10.0.0.1', structuredClone(statuses.ready));
    expect(hostOfInstance(instance, viewOf({ nodes: [nodeOf('win-1', over)] })).note).toBe(want);
  });
}

test('has a note about a Node of another version', () => {
  const conditions = [condition('Configured', 'True', 'OtherVersion', 'Node win-1 runs v1, and this operator is v2')];
  const host = hostOfInstance(instanceOf('a', { phase: 'Ready', conditions }), emptyView);
  expect(host).toMatchObject({ tone: 'good', note: 'Node win-1 runs v1, and this operator is v2' });
});

test('has a note about the limit of reboots, also when an upgrade is staged', () => {
  const upgrade = { from: 'v1', to: 'v2', staged: '2026-03-01T12:00:00Z' };
  const conditions = [condition('Ready', 'True', 'REBOOT_LIMIT')];
  const status: WindowsInstanceStatus = { phase: 'Ready', node: 'win-1', version: 'v1', upgrade, conditions };
  const { note } = hostOfInstance(instanceOf('win-1', status), viewOf({ nodes: [nodeOf('win-1')] }));
  expect(note).toBe('REBOOT_LIMIT; upgrade v1 -> v2 is staged');
});

test('finds the Node by the name in the record, never by address', () => {
  const [own, other] = [nodeOf('win-1'), nodeOf('other', { addresses: [{ type: 'InternalIP', address: '10.0.0.9' }] })];
  const nodes = viewOf({ nodes: [other, own] });
  expect(hostOfInstance(instanceOf('x', { node: 'win-1' }), nodes).node).toBe(own);
  const host = { name: 'win-1', addresses: ['10.0.0.9'] };
  expect(hostOfInstance(instanceOf('x', { node: 'other', host }), nodes).node).toBe(own);
  expect(hostOfInstance(instanceOf('10.0.0.9'), nodes).node).toBeUndefined();
  expect(hostOfInstance(instanceOf('x.example.com', { ipv4: '10.0.0.9' }), nodes).node).toBeUndefined();
  expect(hostOfInstance(instanceOf('y'), nodes).node).toBeUndefined();
  expect(hostOfInstance(instanceOf('y', { node: 'gone' }), nodes)).toMatchObject({
    node: undefined,
    nodeName: undefined,
  });
  const unread = viewOf({ unread: ['nodes'] });
  expect(hostOfInstance(instanceOf('y', { node: 'gone' }), unread)).toMatchObject({
    node: undefined,
    nodeName: 'gone',
  });
});

test('has all names of a host as aliases', () => {
  const status = { node: 'win-1', ipv4: '10.0.0.1' };
  const host = hostOfInstance(instanceOf('a', status, { address: 'win-1.example.com' }), emptyView);
  expect(host.aliases).toEqual(['win-1.example.com', '10.0.0.1', 'a', 'win-1']);
});

test('an instance without a source was created by an administrator', () => {
  const { spec: _, ...rest } = instanceOf('mine');
  const host = hostOfInstance({ ...rest, spec: { address: '10.0.0.5', username: 'Administrator' } }, emptyView);
  expect(host.source).toEqual({ kind: 'Direct', name: 'mine' });
});

test('a Ready host whose Node was deleted is configured again, without the old name and times', () => {
  const ready = instanceOf('10.0.0.1', structuredClone(statuses.ready));
  expect(hostOfInstance(ready, viewOf())).toMatchObject({
    phase: 'NodeDeleted',
    tone: 'busy',
    note: 'Node win-1 does not exist; the operator configures the host again',
    nodeName: undefined,
    startedMs: undefined,
    problem: undefined,
  });
  expect(hostOfInstance(ready, viewOf({ unread: ['nodes'] }))).toMatchObject({ phase: 'Ready', nodeName: 'win-1' });
});

const timeless: [string, WindowsInstanceStatus][] = [
  ['Paused', { ...statuses.ready, phase: 'Paused' }],
  ['Duplicate', { ...structuredClone(statuses.failed), ...structuredClone(statuses.refused) }],
];
for (const [phase, status] of timeless) {
  test(`a host that is ${phase} does not have the times of an earlier journey`, () => {
    const host = hostOfInstance(instanceOf('10.0.0.1', structuredClone(status)), emptyView);
    expect([host.phase, host.startedMs, host.nextAttemptMs]).toEqual([phase, undefined, undefined]);
  });
}
