import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { silentIntervals, watchForSilence } from './liveness.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function watched(intervalMs = 1000) {
  const source = { bytesRead: 100 };
  const seen = { deaths: 0 };
  const watch = watchForSilence(source, intervalMs, () => {
    seen.deaths += 1;
  });
  return { source, seen, watch };
}

test('a silent connection is dead after four intervals', () => {
  const { seen } = watched();
  vi.advanceTimersByTime(silentIntervals * 1000 - 1);
  expect(seen.deaths).toBe(0);
  vi.advanceTimersByTime(1);
  expect(seen.deaths).toBe(1);
});

test('watchForSilence calls onDead once', () => {
  const { seen } = watched();
  vi.advanceTimersByTime(60_000);
  expect(seen.deaths).toBe(1);
});

test('any received byte resets the count of intervals', () => {
  const { source, seen } = watched();
  for (let round = 0; round < 20; round += 1) {
    vi.advanceTimersByTime(3500);
    source.bytesRead += 1;
  }
  expect(seen.deaths).toBe(0);
  vi.advanceTimersByTime(5000);
  expect(seen.deaths).toBe(1);
});

test('a suspended process does not count its hosts as dead', () => {
  const { source, seen } = watched();
  vi.advanceTimersByTime(1000);
  // An hour passes without a single tick; then the bytes that waited in the kernel are read.
  vi.setSystemTime(Date.now() + 3_600_000);
  vi.advanceTimersByTime(1000);
  source.bytesRead += 10;
  vi.advanceTimersByTime(3000);
  expect(seen.deaths).toBe(0);
});

test('watchForSilence does not call onDead after disposal', () => {
  const { seen, watch } = watched();
  vi.advanceTimersByTime(3000);
  watch[Symbol.dispose]();
  vi.advanceTimersByTime(60_000);
  expect([seen.deaths, vi.getTimerCount()]).toEqual([0, 0]);
});
