import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock, settle } from '../../test/kit/manual-clock.ts';
import { TokenBucket } from './rate-limit.ts';

const never = new AbortController().signal;

/** When each of many takers that come at once gets its token, in milliseconds. */
async function servedAt(limit: { qps: number; burst: number }, takers: number, runMs = 10_000): Promise<number[]> {
  const clock = manualClock();
  const bucket = new TokenBucket(limit, clock);
  const times: number[] = [];
  for (let taker = 0; taker < takers; taker += 1) {
    void bucket.take(never).then(() => times.push(Math.round(clock.monotonicMs())));
  }
  await clock.advance(runMs);
  return times;
}

const cases: [string, { qps: number; burst: number }, number, number[]][] = [
  ['lets a burst through at once', { qps: 10, burst: 3 }, 3, [0, 0, 0]],
  ['makes those after the burst wait, one after the other', { qps: 10, burst: 2 }, 5, [0, 0, 100, 200, 300]],
  ['serves less than one a second', { qps: 0.5, burst: 1 }, 3, [0, 2000, 4000]],
  ['serves a burst of one', { qps: 100, burst: 1 }, 4, [0, 10, 20, 30]],
];
for (const [name, limit, takers, want] of cases) {
  test(name, async () => expect(await servedAt(limit, takers)).toEqual(want));
}

test('fills again with time, and never above the burst', async () => {
  const clock = manualClock();
  const bucket = new TokenBucket({ qps: 10, burst: 2 }, clock);
  const served = async () => {
    let count = 0;
    const waiting = new AbortController();
    for (let taker = 0; taker < 5; taker += 1)
      void bucket.take(waiting.signal).then(
        () => (count += 1),
        () => undefined,
      );
    await settle();
    waiting.abort(new Error('enough'));
    await settle();
    return count;
  };
  expect(await served()).toBe(2);
  await clock.advance(100);
  expect(await served()).toBe(1);
  await clock.advance(60_000);
  expect(await served()).toBe(2);
});

test('a jump of the wall clock changes nothing', async () => {
  const clock = manualClock();
  const bucket = new TokenBucket({ qps: 1, burst: 1 }, clock);
  await bucket.take(never);
  clock.jump(3_600_000);
  let isServed = false;
  void bucket.take(never).then(() => (isServed = true));
  await clock.advance(999);
  expect(isServed).toBe(false);
  await clock.advance(1);
  expect(isServed).toBe(true);
});

test('refuses whoever has given up already, and takes no token for it', async () => {
  const bucket = new TokenBucket({ qps: 1, burst: 1 }, manualClock());
  const reason = new Error('gone');
  await expect(bucket.take(AbortSignal.abort(reason))).rejects.toBe(reason);
  await expect(bucket.take(never)).resolves.toBeUndefined();
});

test('gives back the token of one who gives up waiting', async () => {
  const clock = manualClock();
  const bucket = new TokenBucket({ qps: 1, burst: 1 }, clock);
  await bucket.take(never);
  const impatient = new AbortController();
  const waiting = expect(bucket.take(impatient.signal)).rejects.toThrow('enough');
  impatient.abort(new Error('enough'));
  await waiting;
  let isServed = false;
  void bucket.take(never).then(() => (isServed = true));
  await clock.advance(1000);
  expect(isServed).toBe(true);
  expect(clock.sleepers()).toBe(0);
});

test('never serves more than the burst and what time has earned', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 60 }),
      async (qps, burst, takers) => {
        const times = await servedAt({ qps, burst }, takers, 100_000);
        expect(times).toHaveLength(takers);
        times.forEach((time, at) => expect(at + 1).toBeLessThanOrEqual(burst + (time / 1000) * qps + 0.1));
      },
    ),
    { numRuns: 50 },
  );
});
