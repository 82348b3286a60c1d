import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { whenAborted, withDeadline } from './deadline.ts';

const late = new Error('late');
const stopped = new Error('stopped');

function bench(signal?: AbortSignal) {
  const clock = manualClock();
  let inner: AbortSignal | undefined;
  const deadline = { clock, ms: 100, error: () => late, ...(signal && { signal }) };
  const start = <T>(work: Promise<T>) =>
    withDeadline(deadline, given => {
      inner = given;
      return work;
    });
  return { clock, start, innerSignal: () => inner };
}

/** How a promise has ended by now. */
async function stateOf(promise: Promise<unknown>): Promise<unknown> {
  let state: unknown = 'pending';
  promise.then(
    value => (state = ['resolved', value]),
    (error: unknown) => (state = ['rejected', error]),
  );
  await settle();
  return state;
}

test('withDeadline returns the value in time and leaves no timer', async () => {
  const { clock, start } = bench();
  expect(await start(Promise.resolve(7))).toBe(7);
  expect(clock.sleepers()).toBe(0);
});

test('withDeadline fails with the error and leaves no timer', async () => {
  const { clock, start } = bench();
  const failure = new Error('failed');
  await expect(start(Promise.reject(failure))).rejects.toBe(failure);
  expect(clock.sleepers()).toBe(0);
});

test('withDeadline fails at the deadline and aborts the work', async () => {
  const { clock, start, innerSignal } = bench();
  const waiting = start(new Promise(() => undefined));
  const state = stateOf(waiting);
  await clock.advance(99);
  expect(innerSignal()?.aborted).toBe(false);
  await clock.advance(1);
  expect([await state, await stateOf(waiting)]).toEqual(['pending', ['rejected', late]]);
  expect([innerSignal()?.reason, clock.sleepers()]).toEqual([late, 0]);
});

test('withDeadline fails with the reason of the outer signal', async () => {
  const outer = new AbortController();
  const { clock, start, innerSignal } = bench(outer.signal);
  const waiting = start(new Promise(() => undefined));
  outer.abort(stopped);
  await expect(waiting).rejects.toBe(stopped);
  expect([innerSignal()?.reason, clock.sleepers()]).toEqual([stopped, 0]);
});

test('withDeadline does not start when the outer signal is aborted', async () => {
  const { clock, start, innerSignal } = bench(AbortSignal.abort(stopped));
  await expect(start(Promise.resolve(1))).rejects.toBe(stopped);
  expect([innerSignal(), clock.sleepers()]).toEqual([undefined, 0]);
});

test('withDeadline leaves no listener on the outer signal', async () => {
  const outer = new AbortController();
  const { clock, start } = bench(outer.signal);
  await start(Promise.resolve(1));
  await start(Promise.reject(stopped)).catch(() => undefined);
  const waiting = start(new Promise(() => undefined)).catch(() => undefined);
  await clock.advance(100);
  await waiting;
  expect(getEventListeners(outer.signal, 'abort')).toEqual([]);
});

test('withDeadline ignores a failure after the deadline', async () => {
  const { clock, start } = bench();
  const { promise, reject } = Promise.withResolvers<never>();
  const waiting = start(promise).catch((error: unknown) => error);
  await clock.advance(100);
  reject(new Error('too late'));
  await settle();
  expect(await waiting).toBe(late);
});

test('whenAborted resolves for past and future aborts', async () => {
  const controller = new AbortController();
  const waiting = whenAborted(controller.signal);
  expect(await stateOf(waiting)).toBe('pending');
  controller.abort();
  expect(await stateOf(waiting)).toEqual(['resolved', undefined]);
  expect(await stateOf(whenAborted(AbortSignal.abort()))).toEqual(['resolved', undefined]);
});
