import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { Watchdog } from './reflector-watchdog.ts';

function watchdogOf(silenceMs: number) {
  const [clock, caller] = [manualClock(), new AbortController()];
  return { clock, caller, watchdog: new Watchdog(caller.signal, clock, silenceMs) };
}

test('barks when the time is over, not before', async () => {
  const { clock, watchdog } = watchdogOf(1000);
  await clock.advance(999);
  expect([watchdog.hasBarked, watchdog.signal.aborted]).toEqual([false, false]);
  await clock.advance(1);
  expect([watchdog.hasBarked, watchdog.signal.aborted]).toEqual([true, true]);
  expect(watchdog.signal.reason).toMatchObject({ fault: 'overdue' });
});

test('gives more time when told so', async () => {
  const { clock, watchdog } = watchdogOf(1000);
  await clock.advance(900);
  watchdog.allow(1000);
  await clock.advance(999);
  expect(watchdog.hasBarked).toBe(false);
  await clock.advance(1);
  expect(watchdog.hasBarked).toBe(true);
});

test('sleeps once per allowance, however often it is told', async () => {
  const { clock, watchdog } = watchdogOf(1000);
  for (let event = 0; event < 1000; event += 1) watchdog.allow(1000);
  await clock.advance(0);
  expect(clock.sleepers()).toBe(1);
  watchdog.release();
});

test('does not care for jumps of the wall clock', async () => {
  const { clock, watchdog } = watchdogOf(1000);
  clock.jump(86_400_000);
  await clock.advance(999);
  expect(watchdog.hasBarked).toBe(false);
  watchdog.release();
});

test("passes the caller's abort on with its reason", async () => {
  const { caller, watchdog } = watchdogOf(1000);
  caller.abort(new Error('enough'));
  expect(watchdog.signal.reason).toMatchObject({ message: 'enough' });
  expect(watchdog.hasBarked).toBe(false);
});

test('is aborted from the start when the caller is', () => {
  const watchdog = new Watchdog(AbortSignal.abort(), manualClock(), 1000);
  expect(watchdog.signal.aborted).toBe(true);
  expect(watchdog.hasBarked).toBe(false);
});

test('leaves neither timer nor listener behind', async () => {
  const { clock, caller, watchdog } = watchdogOf(1000);
  watchdog.release();
  await clock.advance(5000);
  expect(clock.sleepers()).toBe(0);
  expect(getEventListeners(caller.signal, 'abort')).toEqual([]);
  expect(watchdog.hasBarked).toBe(false);
});
