import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { orAborted, startDeadline } from './abort.ts';

const late = () => new Error('late');

test('a deadline aborts with its error when the time is over', async () => {
  const clock = manualClock();
  const deadline = startDeadline(clock, 1000, late);
  await clock.advance(999);
  expect(deadline.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(deadline.signal.reason).toEqual(new Error('late'));
});

test('a deadline aborts with the reason of the caller', () => {
  const caller = new AbortController();
  const deadline = startDeadline(manualClock(), 1000, late, caller.signal);
  caller.abort('enough');
  expect(deadline.signal.reason).toBe('enough');
});

test('a deadline is aborted from the start when the caller is', () => {
  expect(startDeadline(manualClock(), 1000, late, AbortSignal.abort('gone')).signal.reason).toBe('gone');
});

test('a deadline that has ended leaves no timer or listener and does not abort', async () => {
  const clock = manualClock();
  const caller = new AbortController();
  const deadline = startDeadline(clock, 1000, late, caller.signal);
  deadline.end();
  deadline.end();
  await settle();
  expect(clock.sleepers()).toBe(0);
  await clock.advance(5000);
  caller.abort();
  expect(deadline.signal.aborted).toBe(false);
});

test('a deadline can be extended, and sleeps once per period', async () => {
  const clock = manualClock();
  const deadline = startDeadline(clock, 1000, late);
  await clock.advance(900);
  for (let event = 0; event < 1000; event += 1) deadline.extend(1000);
  await clock.advance(999);
  expect([deadline.signal.aborted, clock.sleepers()]).toEqual([false, 1]);
  await clock.advance(1);
  expect(deadline.signal.reason).toEqual(new Error('late'));
});

test('a deadline ignores jumps of the wall clock', async () => {
  const clock = manualClock();
  const deadline = startDeadline(clock, 1000, late);
  clock.jump(86_400_000);
  await clock.advance(999);
  expect(deadline.signal.aborted).toBe(false);
});

test('a deadline listens to several callers and leaves no listener', () => {
  const callers = [new AbortController(), new AbortController()];
  const deadline = startDeadline(manualClock(), 1000, late, ...callers.map(({ signal }) => signal), undefined);
  callers[1]?.abort('enough');
  expect(deadline.signal.reason).toBe('enough');
  deadline.end();
  expect(callers.flatMap(({ signal }) => getEventListeners(signal, 'abort'))).toEqual([]);
});

test('a deadline without a limit has no timer', async () => {
  const clock = manualClock();
  const caller = new AbortController();
  const deadline = startDeadline(clock, Number.POSITIVE_INFINITY, late, caller.signal);
  expect(clock.sleepers()).toBe(0);
  caller.abort('enough');
  expect(deadline.signal.aborted).toBe(true);
});

test('orAborted settles like a promise that settles first', async () => {
  const { signal } = new AbortController();
  await expect(orAborted(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(orAborted(Promise.reject(new Error('own')), signal)).rejects.toThrow('own');
});

test('orAborted rejects with the reason of the signal and ignores a later rejection', async () => {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<void>();
  const waiting = expect(orAborted(promise, controller.signal)).rejects.toBe('enough');
  controller.abort('enough');
  await waiting;
  reject(new Error('too late'));
  await settle();
});

test('orAborted rejects at once when the signal is aborted already', async () => {
  await expect(orAborted(Promise.resolve(1), AbortSignal.abort('gone'))).rejects.toBe('gone');
});

test('orAborted leaves no unhandled rejection when the signal is aborted already', async () => {
  const failed: unknown[] = [];
  const note = (error: unknown) => void failed.push(error);
  process.on('unhandledRejection', note);
  try {
    const late = Promise.reject(new Error('late'));
    await expect(orAborted(late, AbortSignal.abort('gone'))).rejects.toBe('gone');
    await new Promise(resolve => setImmediate(resolve));
    expect(failed).toEqual([]);
  } finally {
    process.off('unhandledRejection', note);
  }
});
