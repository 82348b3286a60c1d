import { expect, test } from 'vitest';
import { microTimestamp, systemClock, timestamp } from './clock.ts';

const moment = Date.UTC(2026, 10, 15, 4, 45, 6, 789);

test('times are written as the API server writes them', () => {
  expect(timestamp(moment)).toBe('2026-11-15T04:45:06Z');
  expect(microTimestamp(moment)).toBe('2026-11-15T04:45:06.789000Z');
});

test('the steady clock goes forward', async () => {
  const before = systemClock.monotonicMs();
  await systemClock.sleep(5);
  expect(systemClock.monotonicMs()).toBeGreaterThan(before);
  expect(systemClock.now()).toBeGreaterThan(moment - 1);
});

test('a sleep ends at once when it is aborted', async () => {
  const stop = new AbortController();
  const sleep = systemClock.sleep(3_600_000, stop.signal);
  stop.abort();
  await expect(sleep).rejects.toThrow();
});

test('a sleep that begins aborted does not sleep', async () => {
  await expect(systemClock.sleep(3_600_000, AbortSignal.abort())).rejects.toThrow();
});
