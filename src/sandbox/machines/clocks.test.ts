import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { offsetClock, scaledClock } from './clocks.ts';

const startMs = Date.UTC(2026, 2, 1, 12);

test.each([
  [1, 1000],
  [10, 100],
  [0.5, 2000],
])('at speed %s a second takes %s ms', async (speed, realMs) => {
  const clock = manualClock(startMs);
  let isOver = false;
  const sleeping = scaledClock(clock, speed)
    .sleep(1000)
    .then(() => void (isOver = true));
  await clock.advance(realMs - 1);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await sleeping;
  expect(isOver).toBe(true);
});

test('a stopwatch runs as fast as delays do, so that limits stay in proportion', async () => {
  const clock = manualClock(startMs);
  const scaled = scaledClock(clock, 20);
  const before = scaled.monotonicMs();
  await clock.advance(50);
  expect(scaled.monotonicMs() - before).toBe(1000);
});

test('dates stay true at any speed: certificates are looked at by the real clock', async () => {
  const clock = manualClock(startMs);
  const scaled = scaledClock(clock, 1000);
  await clock.advance(60_000);
  expect(scaled.now()).toBe(startMs + 60_000);
});

test('a sleep ends early with the reason of its signal', async () => {
  const clock = manualClock(startMs);
  const stop = new AbortController();
  const sleeping = scaledClock(clock, 5).sleep(1000, stop.signal);
  stop.abort(new Error('enough'));
  await expect(sleeping).rejects.toThrow('enough');
  expect(clock.sleepers()).toBe(0);
});

for (const speed of [0, -1, Number.NaN, Infinity]) {
  test(`rejects the speed ${speed}`, () => {
    expect(() => scaledClock(manualClock(), speed)).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('speed'), remedy: expect.any(String) }),
    );
  });
}

test('the product of speed and real time is what was asked for', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 10_000 }), async (speed, ms) => {
      const clock = manualClock(startMs);
      let isOver = false;
      void scaledClock(clock, speed)
        .sleep(ms)
        .then(() => void (isOver = true));
      await clock.advance(Math.ceil(ms / speed));
      expect(isOver).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test('an offset clock differs only in its dates', async () => {
  const clock = manualClock(startMs);
  const late = offsetClock(clock, () => -7_200_000);
  expect(late.now()).toBe(startMs - 7_200_000);
  const before = late.monotonicMs();
  const sleeping = late.sleep(500);
  await clock.advance(500);
  await sleeping;
  expect(late.monotonicMs() - before).toBe(500);
  expect(late.now()).toBe(startMs - 7_200_000 + 500);
});
