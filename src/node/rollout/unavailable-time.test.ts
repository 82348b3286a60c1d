import { expect, test } from 'vitest';
import type { UnavailableTime } from '#contract/rollout-grants.ts';
import { chargeNodes, hasUsedItsHour } from './unavailable-time.ts';

const nowMs = Date.UTC(2026, 2, 2);
const minute = 60_000;
const hour = 60 * minute;
const times = (ms: number, agoMs: number): ReadonlyMap<string, UnavailableTime> =>
  new Map([['n1', { ms, lastMs: nowMs - agoMs }]]);

const rows: [title: string, ms: number, agoMs: number, want: boolean][] = [
  ['a node with time left counts', hour - 1, 0, false],
  ['a node without time left does not count', hour, 0, true],
  ['it does not count for a day', hour, 24 * hour - 1, true],
  ['it counts again after a day', hour, 24 * hour, false],
  ['a clock that was set back by days forgets', hour, -48 * hour, false],
];
for (const [title, ms, agoMs, want] of rows) {
  test(title, () => expect(hasUsedItsHour('n1', times(ms, agoMs), nowMs)).toBe(want));
}

test('sums up over flaps, each time moves the end of the day', () => {
  let sum = chargeNodes(new Map(), ['n1'], 20 * minute, nowMs);
  sum = chargeNodes(sum, [], 20 * minute, nowMs + hour);
  sum = chargeNodes(sum, ['n1', 'n2'], 40 * minute, nowMs + 23 * hour);
  expect(sum).toEqual(
    new Map([
      ['n1', { ms: hour, lastMs: nowMs + 23 * hour }],
      ['n2', { ms: 40 * minute, lastMs: nowMs + 23 * hour }],
    ]),
  );
  expect(hasUsedItsHour('n1', sum, nowMs + 46 * hour)).toBe(true);
  expect(chargeNodes(sum, [], 0, nowMs + 48 * hour).size).toBe(0);
});
