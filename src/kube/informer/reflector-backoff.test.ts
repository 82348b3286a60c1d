import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { Backoff, reflectorBackoff } from './reflector-backoff.ts';

const bounds = { minMs: 100, maxMs: 1000, resetAfterMs: 60_000 };
const waits = (backoff: Backoff, ...timesMs: number[]) => timesMs.map(timeMs => backoff.next(timeMs));

test('doubles from the lower to the upper bound', () => {
  expect(waits(new Backoff(bounds, () => 1), 0, 1, 2, 3, 4, 5)).toEqual([100, 200, 400, 800, 1000, 1000]);
});

test('takes off up to a half at random', () => {
  expect(waits(new Backoff(bounds, () => 0), 0, 1, 2, 3, 4)).toEqual([50, 100, 200, 400, 500]);
});

const resets: [name: string, secondMs: number, want: number][] = [
  ['goes on when the next failure comes soon', 5000, 200],
  ['goes on just before the time of health is over', 100 + 59_999, 200],
  ['begins anew after the time of health', 100 + 60_000, 100],
];
test.each(resets)('%s', (_, secondMs, want) => {
  expect(waits(new Backoff(bounds, () => 1), 0, secondMs)).toEqual([100, want]);
});

test('begins with the lower bound for any clock shows', () => {
  expect(waits(new Backoff(bounds, () => 1), -5)).toEqual([100]);
});

test('never leaves its bounds', () => {
  const failure = fc.record({ afterMs: fc.nat(200_000), random: fc.double({ min: 0, max: 0.999, noNaN: true }) });
  fc.assert(
    fc.property(fc.array(failure, { maxLength: 100 }), failures => {
      let [nowMs, random] = [0, 0];
      const backoff = new Backoff(reflectorBackoff, () => random);
      for (const failure of failures) {
        nowMs += failure.afterMs;
        random = failure.random;
        const waitMs = backoff.next(nowMs);
        expect(waitMs).toBeGreaterThanOrEqual(reflectorBackoff.minMs / 2);
        expect(waitMs).toBeLessThanOrEqual(reflectorBackoff.maxMs);
      }
    }),
    { numRuns: 300 },
  );
});

test('leaves time to see the server within 15 s of its return', () => {
  expect(reflectorBackoff.maxMs).toBeLessThanOrEqual(5000);
});
