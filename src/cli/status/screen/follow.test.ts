import { expect, test } from 'vitest';
import { manualClock, settle } from '../../../../test/kit/manual-clock.ts';
import { follow } from './follow.ts';

function bench(lastLook = Infinity) {
  const clock = manualClock(0);
  const ending = new AbortController();
  const listeners = new Set<() => void>();
  const looks: number[] = [];
  const ended = follow(
    () => {
      looks.push(clock.monotonicMs());
      return looks.length >= lastLook ? 'end' : 'go on';
    },
    {
      onChange: listener => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      clock,
      signal: ending.signal,
    },
  );
  const change = () => {
    for (const listener of listeners) listener();
  };
  return { clock, looks, ended, listeners, change, stop: () => ending.abort(new Error('stop')) };
}

test('looks at once, and then about every second', async () => {
  const { clock, looks, stop, ended } = bench();
  await clock.advance(3400);
  expect(looks).toEqual([0, 1100, 2200, 3300]);
  stop();
  await ended;
});

test('looks soon after a change', async () => {
  const { clock, looks, change, stop, ended } = bench();
  await clock.advance(300);
  change();
  await clock.advance(150);
  expect(looks).toEqual([0, 400]);
  stop();
  await ended;
});

test('many changes are one look', async () => {
  const { clock, looks, change, stop, ended } = bench();
  for (let count = 0; count < 50; count += 1) {
    change();
    await clock.advance(10);
  }
  expect(looks.length).toBeLessThanOrEqual(6);
  stop();
  await ended;
});

test('a change while it rests is not lost', async () => {
  const { clock, looks, change, stop, ended } = bench();
  change();
  await clock.advance(50);
  change();
  await clock.advance(160);
  expect(looks).toEqual([0, 100, 200]);
  stop();
  await ended;
});

test('ends when there is nothing more to see', async () => {
  const { clock, looks, ended, listeners } = bench(3);
  await clock.advance(10_000);
  await ended;
  expect(looks).toHaveLength(3);
  expect([listeners.size, clock.sleepers()]).toEqual([0, 0]);
});

test('ends at once when it is told to, wherever it is', async () => {
  for (const ms of [0, 500, 1050]) {
    const { clock, stop, ended, listeners, looks } = bench();
    await clock.advance(ms);
    const before = looks.length;
    stop();
    await ended;
    expect([listeners.size, clock.sleepers(), looks.length]).toEqual([0, 0, before]);
  }
});

test('does not look when it was told to end before it began', async () => {
  const signal = AbortSignal.abort(new Error('stop'));
  let looks = 0;
  await follow(() => (looks++, 'go on'), { onChange: () => () => undefined, clock: manualClock(0), signal });
  expect(looks).toBe(0);
});

test('a look that fails ends it, and nothing is left behind', async () => {
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
