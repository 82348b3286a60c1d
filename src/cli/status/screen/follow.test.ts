import { expect, test } from 'vitest';
import { manualClock, settle } from '../../../../test/kit/manual-clock.ts';
import { follow } from './follow.ts';

function bench(lastLook = Infinity) {
  const clock = manualClock(0);
  const abort = new AbortController();
  const listeners = new Set<() => void>();
  const refreshes: number[] = [];
  const ended = follow(
    () => {
      refreshes.push(clock.monotonicMs());
      return refreshes.length >= lastLook ? 'stop' : 'continue';
    },
    {
      onChange: listener => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      clock,
      signal: abort.signal,
    },
  );
  const change = () => {
    for (const listener of listeners) listener();
  };
  return { clock, refreshes, ended, listeners, change, stop: () => abort.abort(new Error('stop')) };
}

test('refreshes at once and then about every second', async () => {
  const { clock, refreshes, stop, ended } = bench();
  await clock.advance(3400);
  expect(refreshes).toEqual([0, 1100, 2200, 3300]);
  stop();
  await ended;
});

test('refreshes soon after a change', async () => {
  const { clock, refreshes, change, stop, ended } = bench();
  await clock.advance(300);
  change();
  await clock.advance(150);
  expect(refreshes).toEqual([0, 400]);
  stop();
  await ended;
});

test('merges many changes into one refresh', async () => {
  const { clock, refreshes, change, stop, ended } = bench();
  for (let count = 0; count < 50; count += 1) {
    change();
    await clock.advance(10);
  }
  expect(refreshes.length).toBeLessThanOrEqual(6);
  stop();
  await ended;
});

test('does not lose a change during the pause', async () => {
  const { clock, refreshes, change, stop, ended } = bench();
  change();
  await clock.advance(50);
  change();
  await clock.advance(160);
  expect(refreshes).toEqual([0, 100, 200]);
  stop();
  await ended;
});

test('returns when refresh returns stop', async () => {
  const { clock, refreshes, ended, listeners } = bench(3);
  await clock.advance(10_000);
  await ended;
  expect(refreshes).toHaveLength(3);
  expect([listeners.size, clock.sleepers()]).toEqual([0, 0]);
});

test('returns at once when aborted at any time', async () => {
  for (const ms of [0, 500, 1050]) {
    const { clock, stop, ended, listeners, refreshes } = bench();
    await clock.advance(ms);
    const before = refreshes.length;
    stop();
    await ended;
    expect([listeners.size, clock.sleepers(), refreshes.length]).toEqual([0, 0, before]);
  }
});

test('does not refresh when aborted before the start', async () => {
  const signal = AbortSignal.abort(new Error('stop'));
  let refreshes = 0;
  await follow(() => (refreshes++, 'continue'), { onChange: () => () => undefined, clock: manualClock(0), signal });
  expect(refreshes).toBe(0);
});

test('fails when refresh fails and removes its listener', async () => {
  const clock = manualClock(0);
  let isListened = false;
  const onChange = () => {
    isListened = true;
    return () => {
      isListened = false;
    };
  };
  const signal = new AbortController().signal;
  const fail = () => {
    throw new Error('broken');
  };
  await expect(follow(fail, { onChange, clock, signal })).rejects.toThrow('broken');
  await settle();
  expect([isListened, clock.sleepers()]).toEqual([false, 0]);
});
