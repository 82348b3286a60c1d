import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type {
  InstancePhase,
  JourneyName,
  TimelineStep,
  WindowsInstanceStatus,
} from '#contract/windows-instance/resource.ts';
import {
  configuringStatus,
  failedStatus,
  heldStatus,
  isNewJourney,
  joinedStatus,
  type JourneyView,
  pausedStatus,
  readyStatus,
  waitingStatus,
} from './instance-status.ts';

const stamp = { generation: 3, nowMs: Date.UTC(2026, 2, 1, 12) };
const now = '2026-03-01T12:00:00Z';
const node = (version: string, ready = true): NodeView => ({
  name: 'win-5',
  uid: 'u',
  labels: {},
  annotations: { [nodeAnnotation.version]: version },
  addresses: [],
  ready,
  unschedulable: false,
});
const done: TimelineStep = { name: 'connect', started: 's', finished: 'f', attempts: 1 };
const broken: TimelineStep = {
  name: 'bootstrap',
  started: 's',
  attempts: 2,
  lastError: { code: 'X', message: 'm', remedy: 'r' },
};
const view = (
  over: Partial<JourneyView> & { step?: string; waitsFor?: string; remedy?: string; timeline?: TimelineStep[] } = {},
): JourneyView => {
  const { step, waitsFor, remedy, timeline = [done], ...rest } = over;
  const times = { since: now, usualSeconds: 30, limitSeconds: 600 };
  const activity =
    step === undefined ? undefined : { ...times, ...(waitsFor && { waitsFor }), ...(remedy && { remedy }) };
  return {
    journal: { step, activity, progress: undefined, timeline: () => timeline },
    reboot: undefined,
    ipv4: '10.0.0.5',
    node: undefined,
    record: {},
    ...rest,
  };
};
const error = new AppError('HOST_DISK_FULL', '10.0.0.5: full', { remedy: 'Make room.' });
const conditionsOf = ({ conditions }: WindowsInstanceStatus) =>
  Object.fromEntries((conditions ?? []).map(({ type, status, reason, message }) => [type, [status, reason, message]]));

test('during a journey: phase, step, timeline, address, and what it waits for', () => {
  const status = configuringStatus(view({ step: 'find node', waitsFor: 'the kubelet', node: 'win-5' }), stamp)({});
  expect(status).toMatchObject({
    phase: 'Configuring',
    step: 'find node',
    timeline: [done],
    ipv4: '10.0.0.5',
    node: 'win-5',
    observedGeneration: 3,
  });
  expect(conditionsOf(status)).toEqual({
    Configured: ['False', 'Configuring', 'The host is being configured.'],
    Ready: ['False', 'Configuring', 'find node: the kubelet'],
  });
  expect(status.conditions?.[0]).toMatchObject({ lastTransitionTime: now, observedGeneration: 3 });
});

test('a slow step has its own reason, with the usual time, the limit and the remedy', () => {
  const slow = view({ step: 'find node', waitsFor: 'the kubelet', remedy: 'Check the kubelet.' });
  const status = configuringStatus(slow, stamp)({});
  expect(conditionsOf(status)).toEqual({
    Configured: ['False', 'Configuring', 'The host is being configured.'],
    Ready: ['False', 'SlowStep', 'find node: the kubelet; usually 30 s, limit 10 min. Check the kubelet.'],
  });
  expect(status.activity).toMatchObject({
    since: now,
    usualSeconds: 30,
    limitSeconds: 600,
    remedy: 'Check the kubelet.',
  });
  for (const change of [
    readyStatus(undefined, 'v', stamp),
    pausedStatus(stamp),
    failedStatus(view(), error, false, stamp),
  ])
    expect(change(status)).not.toHaveProperty('activity');
});

test('shows progress and reboot only while they last', () => {
  const reboot = { bootId: 'b', because: 'x' };
  const journal = { ...view().journal, progress: { bytes: 1, totalBytes: 2 } };
  const before = configuringStatus(view({ journal, reboot }), stamp)({});
  expect(before).toMatchObject({ progress: { bytes: 1, totalBytes: 2 }, reboot });
  const after = configuringStatus(view(), stamp)(before);
  expect(Object.keys(after)).not.toEqual(expect.arrayContaining(['progress']));
  expect(after).not.toHaveProperty('reboot');
  expect(after).not.toHaveProperty('step');
});

test('shows code and remedy of a failure in both conditions', () => {
  const status = failedStatus(view({ step: 'bootstrap' }), error, false, stamp)({});
  expect(status).toMatchObject({ phase: 'Failed', step: 'bootstrap' });
  expect(conditionsOf(status)).toEqual({
    Configured: ['False', 'HOST_DISK_FULL', '10.0.0.5: full. Make room.'],
    Ready: ['False', 'HOST_DISK_FULL', '10.0.0.5: full. Make room.'],
  });
});

test('only a failure shows the time of the next attempt', () => {
  const again = { ...stamp, nextAttemptMs: stamp.nowMs + 4_200 };
  const status = failedStatus(view(), error, false, again)({});
  expect(status.nextAttempt).toBe('2026-03-01T12:00:05Z');
  expect(failedStatus(view(), error, false, stamp)(status)).not.toHaveProperty('nextAttempt');
  for (const next of [configuringStatus(view(), stamp), readyStatus(node('v2'), 'v2', stamp), pausedStatus(stamp)])
    expect(next(status)).not.toHaveProperty('nextAttempt');
});

test('a host that may still start has not failed', () => {
  expect(conditionsOf(failedStatus(view(), error, true, stamp)({}))).toMatchObject({
    Configured: ['Unknown', 'HOST_DISK_FULL', expect.any(String)],
    Ready: ['False', 'HOST_DISK_FULL', expect.any(String)],
  });
});

test('another attempt shows the last failure until its step succeeds', () => {
  const before = failedStatus(view({ timeline: [done, broken] }), error, false, stamp)({});
  const again = configuringStatus(view({ step: 'connect', timeline: [done, broken] }), stamp)(before);
  expect(conditionsOf(again)).toMatchObject({ Configured: ['False', 'HOST_DISK_FULL', expect.any(String)] });
  expect(conditionsOf(again)['Ready']).toEqual(['False', 'Configuring', 'connect']);
  const behind = configuringStatus(view({ step: 'find node' }), stamp)(again);
  expect(conditionsOf(behind)['Configured']).toEqual(['False', 'Configuring', 'The host is being configured.']);
});

const claims: [what: string, claimed: string, recorded: string | undefined, want: string][] = [
  ['the recorded version', 'v1', 'v1', 'Node win-5 runs version v1, and this operator is v2'],
  ['a version, and none is recorded', 'v1', undefined, 'Node win-5 runs version v1, and this operator is v2'],
  ['another one than the recorded one', 'v9', 'v2', 'Node win-5 claims version v9, and this operator is v2'],
  ['an empty one', '', 'v2', 'Node win-5 has no version, and this operator is v2'],
  ['what is none', 'a `b`', 'v2', 'Node win-5 claims another version, and this operator is v2'],
];
for (const [what, claimed, version, want] of claims) {
  test(`a Node that says of itself that it has ${what}`, () => {
    const before = { tokens: [], ...(version !== undefined && { version }) };
    expect(conditionsOf(readyStatus(node(claimed), 'v2', stamp)(before))['Ready']).toEqual([
      'True',
      'OtherVersion',
      want,
    ]);
    const held = heldStatus(view(), { node: node(claimed), version: 'v2', why: 'win-9 is upgraded' }, stamp)(before);
    expect(conditionsOf(held)['Ready']?.[2]).toBe(`${want.split(',', 1)[0]}; win-9 is upgraded`);
  });
}

const rest: [string, NodeView, Record<string, string[]>][] = [
  [
    'joined',
    node('v2'),
    {
      Configured: ['True', 'Joined', 'Node win-5 runs version v2'],
      Ready: ['True', 'Joined', 'Node win-5 runs version v2'],
    },
  ],
  [
    'of another version',
    node('v1'),
    {
      Configured: ['True', 'OtherVersion', 'Node win-5 runs version v1, and this operator is v2'],
      Ready: ['True', 'OtherVersion', 'Node win-5 runs version v1, and this operator is v2'],
    },
  ],
  [
    'not ready',
    node('v2', false),
    {
      Configured: ['True', 'Joined', 'Node win-5 runs version v2'],
      Ready: ['False', 'NodeNotReady', 'Node win-5 is not ready'],
    },
  ],
];
for (const [name, seen, want] of rest) {
  test(`at rest, ${name}`, () => {
    const before = { phase: 'Failed', step: 'x', progress: { bytes: 1, totalBytes: 2 }, timeline: [done] } as const;
    const status = readyStatus(seen, 'v2', stamp)({ ...before, timeline: [...before.timeline] });
    expect(conditionsOf(status)).toEqual(want);
    expect(status).toMatchObject({ phase: 'Ready', node: 'win-5', timeline: [done], observedGeneration: 3 });
    expect(status.version).toBe(seen.annotations[nodeAnnotation.version]);
    expect(status).not.toHaveProperty('step');
    expect(status).not.toHaveProperty('progress');
  });
}

const identity = { keyHash: 'a', installed: now };
const versions: [string, WindowsInstanceStatus, running: string, want: string | undefined][] = [
  ['this version', {}, 'v2', 'v2'],
  ['this version in place of another', { version: 'v1', agent: identity }, 'v2', 'v2'],
  ['another version of a host that was never given a token', {}, 'v1', 'v1'],
  ['that version once', { version: 'v1' }, 'v0', 'v1'],
  ['what was recorded, whatever the Node of our agent says', { version: 'v2', agent: identity }, 'v1', 'v2'],
  ['no version by the word of a host that joins', { tokens: [] }, 'v1', undefined],
  ['no version by the word of a host whose agent is ours', { agent: identity }, 'v1', undefined],
];
for (const [name, before, running, want] of versions) {
  test(`records ${name}`, () => expect(readyStatus(node(running), 'v2', stamp)(before).version).toBe(want));
}

test('every status has what the journey recorded, and a certificate expiry stays with its key', () => {
  const host = { name: 'win-5', addresses: ['10.0.0.5'] };
  const before = { hostKey: 'old', agent: { ...identity, certificateEnds: now } };
  const made = view({ record: { hostKey: 'new', host, agent: identity } });
  for (const change of [
    configuringStatus(made, stamp),
    failedStatus(made, error, false, stamp),
    joinedStatus(made, node('v2'), 'v2', stamp),
  ]) {
    expect(change(before)).toMatchObject({ hostKey: 'new', host, agent: before.agent });
  }
  const other = view({ record: { agent: { ...identity, keyHash: 'b' } } });
  expect(configuringStatus(other, stamp)(before).agent).toEqual({ ...identity, keyHash: 'b' });
});

test('a reconnect has a phase of its own', () => {
  expect(configuringStatus(view(), stamp, 'Reconnecting')({}).phase).toBe('Reconnecting');
});

test('keeps the whole timeline at the end of a journey', () => {
  const status = joinedStatus(view({ reboot: { bootId: 'b', because: 'x' } }), node('v2'), 'v2', stamp)({ step: 'x' });
  expect(status).toMatchObject({ phase: 'Ready', timeline: [done], version: 'v2', ipv4: '10.0.0.5' });
  expect(status).not.toHaveProperty('reboot');
});

const staged = { from: 'v1', to: 'v2', staged: now };
test.each([
  ['is over when the host has joined with its version', 'v2', staged, undefined],
  ['stays while the host runs the former version', 'v1', staged, staged],
  ['stays once it was ordered', 'v2', { ...staged, activated: now }, { ...staged, activated: now }],
])('an upgrade that is staged %s', (_, runs, upgrade, want) => {
  expect(joinedStatus(view(), node(runs), 'v2', stamp)({ upgrade }).upgrade).toEqual(want);
});

test('a paused host keeps its status and shows the reason', () => {
  const next = 'configure, because it has no Node';
  const status = pausedStatus(stamp, next)({ phase: 'Failed', step: 'x', timeline: [broken], node: 'win-5' });
  expect(status).toMatchObject({ phase: 'Paused', timeline: [broken], node: 'win-5' });
  expect(conditionsOf(status)).toEqual({
    Ready: [
      'Unknown',
      'Paused',
      expect.stringMatching(/^spec\.paused is true.*resumed: configure, because it has no Node$/),
    ],
  });
});

test('keeps conditions of others, and changes times only with the state', () => {
  const other = { type: 'Resolved', status: 'True' as const, reason: 'r', message: '', lastTransitionTime: 'then' };
  const first = configuringStatus(view({ step: 'a' }), stamp)({ conditions: [other] });
  const later = { ...stamp, nowMs: stamp.nowMs + 60_000 };
  const second = configuringStatus(view({ step: 'b' }), later)(first);
  expect(second.conditions).toContainEqual(other);
  expect(second.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime).toBe(now);
  const third = readyStatus(node('v2'), 'v2', later)(second);
  expect(third.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime).toBe('2026-03-01T12:01:00Z');
});

test('cuts messages that are too long', () => {
  const long = new AppError('STEP_TIMEOUT', 'm'.repeat(5000), { remedy: 'r' });
  expect(failedStatus(view(), long, false, stamp)({}).conditions?.[0]?.message).toHaveLength(4000);
});

test('omits an unknown generation', () => {
  const status = configuringStatus(view(), { generation: undefined, nowMs: 0 })({});
  expect(status).not.toHaveProperty('observedGeneration');
});

const journey = { name: 'configure', cause: 'it has no Node', started: '2026-03-01T12:00:00.000Z' } as const;
test('the journey is in the status until it has ended', () => {
  const running = { ...view(), journey };
  const error = new AppError('HOST_UNREACHABLE', 'x', { remedy: 'y' });
  const started = configuringStatus(running, stamp)({});
  const failed = failedStatus(running, error, false, stamp)(started);
  const paused = pausedStatus(stamp)(failed);
  expect([started, failed, paused].map(status => status.journey)).toEqual([journey, journey, journey]);
  expect(joinedStatus(running, node('v2'), 'v2', stamp)(failed)).not.toHaveProperty('journey');
  expect(readyStatus(node('v2'), 'v2', stamp)(failed)).not.toHaveProperty('journey');
});

test('another journey starts with an empty timeline; one of an earlier version goes on', () => {
  const spec = { address: 'a', username: 'Administrator' };
  const instance: WindowsInstance = { metadata: {}, spec, status: { phase: 'Failed', journey } };
  const names = ['configure', 'adopt', 'remove'] as const;
  expect(names.map(name => isNewJourney(instance, name))).toEqual([false, true, true]);
  const earlier: WindowsInstance = { ...instance, status: { phase: 'Failed' } };
  expect(names.map(name => isNewJourney(earlier, name))).toEqual([false, false, true]);
});

const journeys: [string, InstancePhase | undefined, observed: number | undefined, boolean][] = [
  ['first', undefined, undefined, true],
  ['cut short', 'Configuring', 3, false],
  ['cut short while it reconnected', 'Reconnecting', 3, false],
  ['cut short while it adopted', 'Adopting', 3, false],
  ['failed', 'Failed', 3, false],
  ['paused', 'Paused', 3, false],
  ['ended', 'Ready', 3, true],
  ['of which something else was wanted', 'Configuring', 2, true],
];
for (const [name, phase, observedGeneration, want] of journeys) {
  test(`after a journey that was ${name} a${want ? ' new one begins' : 'nother attempt is made'}`, () => {
    const status = { ...(phase && { phase }), ...(observedGeneration && { observedGeneration }) };
    const instance: WindowsInstance = {
      metadata: { generation: 3 },
      spec: { address: 'a', username: 'Administrator' },
      status,
    };
    expect(isNewJourney(instance)).toBe(want);
  });
}

const others: [about: string, recorded: JourneyName | undefined, next: JourneyName, boolean][] = [
  ['a removal after a removal continues it', 'remove', 'remove', false],
  ['a removal after a join starts with an empty timeline', 'configure', 'remove', true],
  ['a join after a removal that was canceled starts with an empty timeline', 'remove', 'configure', true],
  ['a join continues one of an operator that recorded no name', undefined, 'configure', false],
  ['a removal continues nothing of such an operator', undefined, 'remove', true],
];
test.each(others)('%s', (_, recorded, next, want) => {
  const journey = recorded && { journey: { name: recorded, cause: 'c', started: now } };
  const instance: WindowsInstance = {
    metadata: { generation: 3 },
    spec: { address: 'a', username: 'Administrator' },
    status: { phase: 'Failed', observedGeneration: 3, ...journey },
  };
  expect(isNewJourney(instance, next)).toBe(want);
});

test('during a removal the conditions do not say that the host is being configured', () => {
  const status = configuringStatus(view({ step: 'drain' }), stamp, 'Removing')({});
  expect(conditionsOf(status)).toEqual({
    Configured: ['False', 'Removing', 'The host is being removed.'],
    Ready: ['False', 'Removing', 'drain'],
  });
});

test('a removal that waits for the budget says who holds it', () => {
  const status = waitingStatus('win-9 is being removed', stamp)({ step: 'x', version: 'v2', node: 'win-5' });
  expect(status).toMatchObject({ phase: 'Removing', version: 'v2', node: 'win-5' });
  expect(status).not.toHaveProperty('step');
  expect(conditionsOf(status)['Ready']).toEqual(['False', 'WaitsForBudget', 'win-9 is being removed']);
});

test('a host that is being cleaned runs no version any more', () => {
  const before = { version: 'v2', node: 'win-5' };
  const versionAfter = (isUninstalled: boolean) =>
    configuringStatus(view({ isUninstalled }), stamp, 'Removing')(before).version;
  expect([versionAfter(false), versionAfter(true)]).toEqual(['v2', undefined]);
});
