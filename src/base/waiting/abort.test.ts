import { expect, test } from 'vitest';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { orAborted, startDeadline } from './abort.ts';

const late = () => new Error('late');

test('fires with its error when the time is over', async () => {
  const clock = manualClock();
  const deadline = startDeadline(clock, 1000, late, undefined);
  await clock.advance(999);
  expect(deadline.signal.aborted).toBe(false);
  await clock.advance(1);
  expect(deadline.signal.reason).toEqual(new Error('late'));
});

test('fires with the reason of the caller', () => {
  const caller = new AbortController();
  const deadline = startDeadline(manualClock(), 1000, late, caller.signal);
  caller.abort('enough');
  expect(deadline.signal.reason).toBe('enough');
});

test('has fired at once when the caller gave up before', () => {
  expect(startDeadline(manualClock(), 1000, late, AbortSignal.abort('gone')).signal.reason).toBe('gone');
});

test('keeps nothing once it is ended: no timer, no listener, and fires no more', async () => {
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

test('has no timer when there is no end', async () => {
  const clock = manualClock();
  const caller = new AbortController();
  const deadline = startDeadline(clock, Number.POSITIVE_INFINITY, late, caller.signal);
  expect(clock.sleepers()).toBe(0);
  caller.abort('enough');
  expect(deadline.signal.aborted).toBe(true);
});

test('a promise that settles first is not touched by the signal', async () => {
  const { signal } = new AbortController();
  await expect(orAborted(Promise.resolve(1), signal)).resolves.toBe(1);
  await expect(orAborted(Promise.reject(new Error('own')), signal)).rejects.toThrow('own');
});

test('the signal goes before a promise that takes long, and a later failure of that one is swallowed', async () => {
  const controller = new AbortController();
  const { promise, reject } = Promise.withResolvers<void>();
  const waiting = expect(orAborted(promise, controller.signal)).rejects.toBe('enough');
  controller.abort('enough');
  await waiting;
  reject(new Error('nobody listens'));
  await settle();
});

test('refuses at once under a signal that has fired', async () => {
  await expect(orAborted(Promise.resolve(1), AbortSignal.abort('gone'))).rejects.toBe('gone');
});

test('a promise that fails although its signal was aborted first harms nobody', async () => {
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
