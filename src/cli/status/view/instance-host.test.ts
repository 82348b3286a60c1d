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
} from '../../../../test/kit/status-views.ts';
import { isGood, travelMs } from './host-view.ts';
import { hostOfInstance } from './instance-host.ts';

const nothing = { nodes: [], hostKeys: {} };

const phases: [state: StateName, phase: string, tone: string][] = [
  ['fresh', 'Pending', 'busy'],
  ['configuring', 'Configuring', 'busy'],
  ['waiting', 'Configuring', 'busy'],
  ['failed', 'Failed', 'bad'],
  ['retrying', 'Retrying', 'bad'],
  ['booting', 'Waiting', 'busy'],
  ['ready', 'Ready', 'good'],
  ['nodeNotReady', 'NodeNotReady', 'bad'],
  ['refused', 'Refused', 'bad'],
  ['paused', 'Paused', 'still'],
];
for (const [state, phase, tone] of phases) {
  test(`a host that is ${state} is shown as ${phase}`, () => {
    const host = hostIn(state);
    expect([host.phase, host.tone]).toEqual([phase, tone]);
    expect(isGood(host)).toBe(tone === 'good' || tone === 'still');
  });
}

test('an instance that is being deleted is on its way out, whatever it was', () => {
  const instance = instanceOf('10.0.0.1', structuredClone(statuses.ready));
  instance.metadata.deletionTimestamp = '2026-03-01T12:00:00Z';
  expect(hostOfInstance(instance, nothing)).toMatchObject({ phase: 'Removing', tone: 'busy' });
});

test('a Ready host whose entry is broken has a problem all the same', () => {
  const conditions = [...statuses.ready.conditions, condition('Accepted', 'False', 'INSTANCE_ENTRY_MALFORMED')];
  const host = hostOfInstance(instanceOf('10.0.0.1', { phase: 'Ready', conditions }), nothing);
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
  ['nodeNotReady', 'NodeNotReady', 'See `kubectl describe node win-1`'],
];
for (const [state, code, remedy] of problems) {
  test(`the problem of a host that is ${state} is ${code ?? 'none'}`, () => {
    const { problem } = hostIn(state);
    expect(problem?.code).toBe(code);
    if (remedy !== undefined) expect(problem?.remedy).toContain(remedy);
  });
}

test('a failure is none before the operator has said whether the host may need time', () => {
  const { timeline } = statuses.failed;
  const conditions = [...statuses.configuring.conditions];
  const status: WindowsInstanceStatus = { phase: 'Configuring', step: 'connect', timeline: [...timeline], conditions };
  expect(hostOfInstance(instanceOf('10.0.0.1', status), nothing)).toMatchObject({
    phase: 'Configuring',
    tone: 'busy',
    problem: undefined,
  });
});

test('a problem without a timeline is told by the condition', () => {
  const conditions = [condition('Configured', 'False', 'MATERIAL_MISSING', 'no key yet. Make one.')];
  const host = hostOfInstance(instanceOf('10.0.0.1', { phase: 'Failed', conditions }), nothing);
  expect(host.problem).toEqual({ code: 'MATERIAL_MISSING', message: 'no key yet. Make one.', remedy: '' });
});

test('a step that has failed once and is done is no problem any more', () => {
  const timeline = [step('connect', 0, 1, { attempts: 2 }), step('prepare files', 2)];
  const conditions = [condition('Configured', 'False', 'Configuring')];
  const host = hostOfInstance(
    instanceOf('10.0.0.1', { phase: 'Configuring', step: 'prepare files', timeline, conditions }),
    nothing,
  );
  expect([host.problem, host.attempts]).toEqual([undefined, 0]);
});

test('counts the attempts of the step that fails, and knows when it is tried again', () => {
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
  test(`a minute after it began, a host that is ${state} took ${ms ?? 'no time'}`, () =>
    expect(travelMs(hostIn(state), noonMs + 60_000)).toBe(ms));
}

test('a clock that is behind makes no time negative', () => {
  expect(travelMs(hostIn('configuring'), noonMs - 60_000)).toBe(0);
});

test('times that cannot be read are not known', () => {
  const timeline = [{ name: 'connect', started: 'yesterday', finished: '', attempts: 1 }];
  const host = hostOfInstance(instanceOf('a', { phase: 'Ready', timeline, nextAttempt: 'soon' }), nothing);
  expect([host.startedMs, host.endedMs, host.nextAttemptMs]).toEqual([undefined, undefined, undefined]);
});

test('says what a step waits for, and how far an upload is', () => {
  expect(hostIn('waiting').note).toBe('the kubelet registers its Node');
  expect(hostIn('configuring')).toMatchObject({ note: undefined, progress: { bytes: 3_000_000 } });
});

test('a host that is Ready is at no step, and its old progress is forgotten', () => {
  const status = { ...statuses.ready, step: 'uncordon', progress: { bytes: 1, totalBytes: 2 } };
  const host = hostOfInstance(instanceOf('a', structuredClone(status)), nothing);
  expect([host.step, host.progress]).toEqual([undefined, undefined]);
});

const notes: [string, Parameters<typeof nodeOf>[1], string | undefined][] = [
  ['nothing of one that takes pods', {}, undefined],
  ['that somebody has cordoned it', { unschedulable: true }, 'cordoned by somebody'],
  [
    'that the operator has cordoned it',
    { unschedulable: true, annotations: { [nodeAnnotation.cordoned]: '' } },
    'cordoned by the operator',
  ],
];
for (const [name, over, want] of notes) {
  test(`tells of a Ready host ${name}`, () => {
    const instance = instanceOf('10.0.0.1', structuredClone(statuses.ready));
    expect(hostOfInstance(instance, { nodes: [nodeOf('win-1', over)], hostKeys: {} }).note).toBe(want);
  });
}

test('tells that a Node runs another version', () => {
  const conditions = [condition('Configured', 'True', 'OtherVersion', 'Node win-1 runs v1, and this operator is v2')];
  const host = hostOfInstance(instanceOf('a', { phase: 'Ready', conditions }), nothing);
  expect(host).toMatchObject({ tone: 'good', note: 'Node win-1 runs v1, and this operator is v2' });
});

test('finds its Node by the name in the record, never by an address', () => {
  const [own, other] = [nodeOf('win-1'), nodeOf('other', { addresses: [{ type: 'InternalIP', address: '10.0.0.9' }] })];
  const nodes = { nodes: [other, own], hostKeys: {} };
  expect(hostOfInstance(instanceOf('x', { node: 'win-1' }), nodes).node).toBe(own);
  const host = { name: 'win-1', addresses: ['10.0.0.9'] };
  expect(hostOfInstance(instanceOf('x', { node: 'other', host }), nodes).node).toBe(own);
  expect(hostOfInstance(instanceOf('10.0.0.9'), nodes).node).toBeUndefined();
  expect(hostOfInstance(instanceOf('x.example.com', { ipv4: '10.0.0.9' }), nodes).node).toBeUndefined();
  expect(hostOfInstance(instanceOf('y'), nodes).node).toBeUndefined();
  expect(hostOfInstance(instanceOf('y', { node: 'gone' }), nodes)).toMatchObject({ node: undefined, nodeName: 'gone' });
});

test('is known by every name that people have for it', () => {
  const status = { node: 'win-1', ipv4: '10.0.0.1' };
  const host = hostOfInstance(instanceOf('a', status, { address: 'win-1.example.com' }), nothing);
  expect(host.aliases).toEqual(['win-1.example.com', '10.0.0.1', 'a', 'win-1']);
});

test('who has made an object without a source is an administrator', () => {
  const { spec: _, ...rest } = instanceOf('mine');
  const host = hostOfInstance({ ...rest, spec: { address: '10.0.0.5' } }, nothing);
  expect(host.source).toEqual({ kind: 'Direct', name: 'mine' });
});
