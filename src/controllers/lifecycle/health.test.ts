import { expect, test } from 'vitest';
import type { NodeView } from '#contract/node.ts';
import type { InstanceUpgrade } from '#contract/windows-instance/resource.ts';
import { BrokenTimes } from './act/broken-times.ts';
import { brokenLimitMs, type BrokenTime, decideHealth, type HealthDecision, isWatched, troubleOf } from './health.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const [second, minute, hour] = [1000, 60_000, 3_600_000];
const ago = (ms: number) => new Date(nowMs - ms).toISOString();
const soakMs = 10 * minute;
const soaking = (ms: number): Partial<InstanceUpgrade> => ({ ready: ago(ms) });
const soaked = (ms: number): Partial<InstanceUpgrade> => ({ ready: ago(2 * hour), soaked: ago(ms) });

const again = { from: 'v2' };
const silent = (totalMs: number): BrokenTime => ({ totalMs });
const rows: [
  about: string,
  upgrade: Partial<InstanceUpgrade>,
  broken: BrokenTime | number | undefined,
  want: HealthDecision,
][] = [
  ['soaks', soaking(minute), undefined, { do: 'wait', ms: 9 * minute }],
  ['has soaked', soaking(10 * minute), undefined, { do: 'end soak' }],
  ['is broken for a moment', soaking(minute), 0, { do: 'wait', ms: brokenLimitMs }],
  ['is broken at the end of its soak', soaking(10 * minute), 20 * second, { do: 'wait', ms: 40 * second }],
  ['stays broken', soaking(minute), minute, { do: 'fail' }],
  ['is well after its soak', soaked(minute), undefined, { do: 'nothing' }],
  ['breaks within an hour after its soak', soaked(59 * minute), minute, { do: 'fail' }],
  ['breaks later', soaked(hour), minute, { do: 'nothing' }],
  ['is not in service yet', {}, minute, { do: 'nothing' }],
  ['goes back already', { ...soaking(minute), failed: { code: 'X', message: '', at: '' } }, minute, { do: 'nothing' }],
  [
    'was set up again with its version, and breaks',
    { ...again, ...soaking(9 * minute) },
    hour,
    { do: 'wait', ms: minute },
  ],
  ['was set up again with its version, and stays broken', { ...again, ...soaking(soakMs) }, hour, { do: 'end soak' }],
  ['was set up again with its version, and soaks', { ...again, ...soaking(soakMs) }, undefined, { do: 'end soak' }],
  ['is silent, as in a reboot', soaking(minute), silent(2 * minute), { do: 'wait', ms: 3 * minute }],
  ['stays silent', soaking(minute), silent(5 * minute), { do: 'fail' }],
  [
    'starts after a reboot',
    soaking(minute),
    { totalMs: 3 * minute, reportedMs: 20 * second },
    { do: 'wait', ms: 40 * second },
  ],
  ['is silent again and again', soaking(minute), { totalMs: 5 * minute, reportedMs: second }, { do: 'fail' }],
  ['soaks, while the clock is set back', soaking(-30 * minute), undefined, { do: 'wait', ms: soakMs }],
  ['soaks since a time far in the future', soaking(-25 * hour), undefined, { do: 'end soak' }],
  ['soaks since a time that cannot be read', { ready: '?' }, undefined, { do: 'end soak' }],
];
for (const [about, over, time, want] of rows) {
  test(`a node that ${about}`, () => {
    const upgrade = { from: 'v1', to: 'v2', activated: ago(3 * hour), ...over };
    const broken = typeof time === 'number' ? { totalMs: time, reportedMs: time } : time;
    expect(decideHealth({ upgrade, broken, soakMs, nowMs })).toEqual(want);
  });
}

test('a host that was never upgraded is not watched', () => {
  expect(isWatched(undefined, nowMs)).toBe(false);
});

const node: NodeView = {
  name: 'win-5',
  uid: 'u',
  labels: {},
  annotations: {},
  addresses: [],
  ready: true,
  unschedulable: true,
};
test('a node is unhealthy when it is not ready or its agent reports a failure, not when it is cordoned', () => {
  expect(troubleOf(node, undefined)).toBeUndefined();
  const down = { ...node, ready: false, readyMessage: 'kubelet stopped' };
  const text = 'Node win-5 is not ready: kubelet stopped';
  expect(troubleOf(down, undefined)).toEqual({ text, isSilent: false });
  expect(troubleOf({ ...down, isSilent: true }, undefined)).toEqual({ text, isSilent: true });
  const both = `${text}; the agent of Node win-5 reports ServiceFailure: x`;
  expect(troubleOf({ ...down, isSilent: true }, 'ServiceFailure: x')).toEqual({ text: both, isSilent: false });
  expect(troubleOf(node, 'ServiceFailure: kubelet\u001b[0m')).toEqual({
    text: 'the agent of Node win-5 reports ServiceFailure: kubelet\\u001b[0m',
    isSilent: false,
  });
});

test('only continuous trouble adds up', () => {
  const broken = new BrokenTimes();
  const [loud, quiet] = [{ isSilent: false }, { isSilent: true }];
  expect(broken.note('a', loud, 5000)).toEqual({ totalMs: 0, reportedMs: 0 });
  expect(broken.note('a', loud, 60_000)).toEqual({ totalMs: 55_000, reportedMs: 55_000 });
  expect(broken.note('b', loud, 60_000)).toEqual({ totalMs: 0, reportedMs: 0 });
  expect(broken.note('a', quiet, 61_000)).toEqual({ totalMs: 56_000 });
  expect(broken.note('a', loud, 62_000)).toEqual({ totalMs: 57_000, reportedMs: 0 });
  expect(broken.note('a', undefined, 63_000)).toBeUndefined();
  expect(broken.note('a', loud, 64_000)).toEqual({ totalMs: 0, reportedMs: 0 });
  broken.forget('a');
  expect(broken.note('a', loud, 99_000)).toEqual({ totalMs: 0, reportedMs: 0 });
});
