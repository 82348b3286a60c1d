import { expect, test } from 'vitest';
import type { NodeView } from '#contract/node.ts';
import type { InstanceUpgrade } from '#contract/windows-instance/resource.ts';
import { BrokenTimes } from './act/broken-times.ts';
import { brokenLimitMs, decideHealth, type HealthDecision, isWatched, troubleOf } from './health.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const [second, minute, hour] = [1000, 60_000, 3_600_000];
const ago = (ms: number) => new Date(nowMs - ms).toISOString();
const soakMs = 10 * minute;
const soaking = (ms: number): Partial<InstanceUpgrade> => ({ ready: ago(ms) });
const soaked = (ms: number): Partial<InstanceUpgrade> => ({ ready: ago(2 * hour), soaked: ago(ms) });

const rows: [about: string, upgrade: Partial<InstanceUpgrade>, brokenMs: number | undefined, want: HealthDecision][] = [
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
    { from: 'v2', ...soaking(minute) },
    hour,
    { do: 'wait', ms: minute },
  ],
  ['was set up again with its version, and soaks', { from: 'v2', ...soaking(soakMs) }, undefined, { do: 'end soak' }],
  ['soaks since a time that cannot be read', { ready: '?' }, undefined, { do: 'end soak' }],
];
for (const [about, over, brokenMs, want] of rows) {
  test(`a node that ${about}`, () => {
    const upgrade = { from: 'v1', to: 'v2', activated: ago(3 * hour), ...over };
    expect(decideHealth({ upgrade, brokenMs, soakMs, nowMs })).toEqual(want);
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
  expect(troubleOf({ ...node, ready: false, readyMessage: 'kubelet stopped' }, 'ServiceFailure: x')).toBe(
    'Node win-5 is not ready: kubelet stopped',
  );
  expect(troubleOf(node, 'ServiceFailure: kubelet\u001b[0m')).toBe(
    'the agent of Node win-5 reports ServiceFailure: kubelet\\u001b[0m',
  );
});

test('only continuous trouble adds up', () => {
  const broken = new BrokenTimes();
  expect(broken.note('a', true, 5000)).toBe(0);
  expect(broken.note('a', true, 60_000)).toBe(55_000);
  expect(broken.note('b', true, 60_000)).toBe(0);
  expect(broken.note('a', false, 61_000)).toBeUndefined();
  expect(broken.note('a', true, 62_000)).toBe(0);
  broken.forget('a');
  expect(broken.note('a', true, 99_000)).toBe(0);
});
