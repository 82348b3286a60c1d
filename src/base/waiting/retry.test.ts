import { expect, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { type RetryLimits, retry } from './retry.ts';

/** An act that fails so many times, and what became of it. */
function failing(times: number, over: Partial<RetryLimits> = {}) {
  const clock = manualClock();
  const stop = new AbortController();
  const pauses: number[] = [];
  let calls = 0;
  const act = async (): Promise<string> => {
    calls += 1;
    if (calls <= times) throw new Error(`failure ${calls}`);
    return 'done';
  };
  const onFailure = (_error: unknown, pauseMs: number) => void pauses.push(pauseMs);
  const run = (other: (signal: AbortSignal) => Promise<string> = act) =>
    retry(other, { clock, signal: stop.signal, limitMs: 60_000, onFailure, ...over }).then(
      value => value,
      (error: unknown) => error,
    );
  return { clock, stop, pauses, calls: () => calls, act, run };
}

test('gives the answer of the first attempt that works', async () => {
  const { run, calls, pauses } = failing(0);
  expect([await run(), calls(), pauses]).toEqual(['done', 1, []]);
});

test('pauses longer each time, up to a limit', async () => {
  const { run, clock, pauses } = failing(6);
  const ended = run();
  await clock.advance(60_000);
  expect([await ended, pauses]).toEqual(['done', [1000, 2000, 4000, 8000, 15_000, 15_000]]);
});

test('retry uses the given pauses', async () => {
  const { run, clock, pauses } = failing(3, { firstPauseMs: 10, longestPauseMs: 25 });
  const ended = run();
  await clock.advance(1000);
  expect([await ended, pauses]).toEqual(['done', [10, 20, 25]]);
});

test('ends with the last error when the time is up', async () => {
  const { run, clock } = failing(99, { limitMs: 5000 });
  const ended = run();
  await clock.advance(5000);
  expect(await ended).toMatchObject({ message: 'failure 3' });
  expect(clock.sleepers()).toBe(0);
});

test('does not ask again when it was given an answer, though it be an error', async () => {
  const { run, calls } = failing(99, { isFinal: () => true });
  expect(await run()).toMatchObject({ message: 'failure 1' });
  expect(calls()).toBe(1);
});

test('retry aborts an attempt at the time limit', async () => {
  const { run, clock } = failing(0, { limitMs: 5000 });
  const signals: AbortSignal[] = [];
  const ended = run(signal => {
    signals.push(signal);
    return new Promise(() => undefined);
  });
  await clock.advance(5000);
  expect(await ended).toMatchObject({ message: 'no answer within 5 s' });
  expect(signals.map(signal => signal.aborted)).toEqual([true]);
});

test('ends at once, with the reason, when it is reported to stop', async () => {
  const { run, clock, stop } = failing(99);
  const ended = run();
  await clock.advance(1500);
  stop.abort(new Error('shutting down'));
  expect(await ended).toMatchObject({ message: 'shutting down' });
  expect(clock.sleepers()).toBe(0);
});

test('does not even begin when it is reported to stop before', async () => {
  const { run, calls, stop } = failing(0);
  stop.abort(new Error('shutting down'));
  expect(await run()).toMatchObject({ message: 'shutting down' });
  expect(calls()).toBe(0);
});

test('reports of what was thrown though it be no error', async () => {
  const { run, clock } = failing(0, { limitMs: 500 });
  const ended = run(() => Promise.reject('a text'));
  await clock.advance(500);
  expect(await ended).toMatchObject({ message: 'a text' });
});

test('goes on without a limit until it is stopped', async () => {
  const { clock, calls, stop, act } = failing(500);
  const ended = retry(act, { clock, signal: stop.signal }).catch((error: unknown) => error);
  await clock.advance(60 * 60_000);
  expect(calls()).toBeGreaterThan(200);
  stop.abort(new Error('enough'));
  expect(await ended).toMatchObject({ message: 'enough' });
});
