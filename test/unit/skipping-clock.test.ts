import { expect, test } from 'vitest';
import { manualClock, settle } from '../kit/manual-clock.ts';
import { skippingClock } from '../kit/skipping-clock.ts';

function sleeping(ms: number, signal?: AbortSignal) {
  const base = manualClock(0);
  const clock = skippingClock(base);
  const seen: string[] = [];
  void clock.sleep(ms, signal).then(
    () => seen.push('awake'),
    (error: unknown) => seen.push(String(error)),
  );
  return { base, clock, seen };
}

test('advances with its base clock', async () => {
  const { base, clock, seen } = sleeping(1000);
  await base.advance(999);
  expect([seen, clock.now(), clock.monotonicMs()]).toEqual([[], 999, 999]);
  await base.advance(1);
  expect(seen).toEqual(['awake']);
});

test('wakes sleepers within the skipped time at once, others later', async () => {
  const { base, clock, seen } = sleeping(60_000);
  clock.skip(59_000);
  await settle();
  expect([seen, clock.now(), clock.monotonicMs()]).toEqual([[], 59_000, 59_000]);
  await base.advance(500);
  clock.skip(500);
  await settle();
  expect([seen, base.sleepers()]).toEqual([['awake'], 0]);
});

test('aborts a sleep before and after skipped time', async () => {
  const stop = new AbortController();
  const { clock, seen } = sleeping(60_000, stop.signal);
  clock.skip(1000);
  await settle();
  stop.abort(new Error('enough'));
  await settle();
  expect(seen).toEqual(['Error: enough']);
});
