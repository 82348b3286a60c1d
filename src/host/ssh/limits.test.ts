import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { type Limits, limited, type Operation } from './limits.ts';

const clock = manualClock();
const limits = (more: Partial<Limits> = {}): Limits => ({
  signals: [],
  timeoutMs: 1000,
  timeoutError: (limit, ms) => new Error(`${limit} ${ms}`),
  clock,
  ...more,
});
const forever = () => new Promise<never>(() => undefined);

/** The value or error of a promise that has settled. */
async function outcome(promise: Promise<unknown>): Promise<unknown> {
  const settled = promise.catch((error: unknown) => error);
  await settle();
  return Promise.race([settled, Promise.resolve('pending')]);
}

test('limited returns the value of an operation that ends in time', async () => {
  await expect(limited(limits(), () => Promise.resolve('done'))).resolves.toBe('done');
});

test('limited fails with the error of the operation', async () => {
  await expect(limited(limits(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test('limited fails with an error that the operation throws synchronously', async () => {
  const thrown = () => {
    throw new Error('at once');
  };
  await expect(limited(limits(), thrown)).rejects.toThrow('at once');
});

test('limited fails at the timeout although the operation never settles', async () => {
  const result = limited(limits(), forever);
  expect(await outcome(result)).toBe('pending');
  await Promise.all([expect(result).rejects.toThrow('timeout 1000'), clock.advance(1000)]);
});

test('progress prevents a stall but not the timeout', async () => {
  let operation: Operation | undefined;
  const result = limited(limits({ timeoutMs: 10_000, stallMs: 500 }), given => {
    operation = given;
    return forever();
  });
  for (let round = 0; round < 20; round += 1) {
    await clock.advance(499);
    operation?.progress();
  }
  expect(await outcome(result)).toBe('pending');
  await Promise.all([expect(result).rejects.toThrow('timeout 10000'), clock.advance(499)]);
});

test('limited fails when an operation makes no progress', async () => {
  const result = limited(limits({ stallMs: 500 }), forever);
  await Promise.all([expect(result).rejects.toThrow('stall 500'), clock.advance(500)]);
});

test('an operation without a stall limit can report progress', async () => {
  await expect(limited(limits(), async operation => operation.progress())).resolves.toBeUndefined();
});

for (const at of [0, 1]) {
  test(`signal ${at} aborts an operation with its reason`, async () => {
    const controllers = [new AbortController(), new AbortController()];
    let operation: Operation | undefined;
    const result = limited(limits({ signals: controllers.map(({ signal }) => signal) }), given => {
      operation = given;
      return forever();
    });
    controllers[at]?.abort(new Error(`reason ${at}`));
    await expect(result).rejects.toThrow(`reason ${at}`);
    expect(operation?.signal).toMatchObject({ aborted: true, reason: { message: `reason ${at}` } });
  });
}

test('limited does not start an operation when a signal is aborted already', async () => {
  let begun = false;
  const run = async () => {
    begun = true;
  };
  const signals = [undefined, AbortSignal.abort(new Error('too late'))];
  await expect(limited(limits({ signals }), run)).rejects.toThrow('too late');
  expect([begun, clock.sleepers()]).toEqual([false, 0]);
});

test('limited fails with the reason of the signal, not with the error of the aborted operation', async () => {
  const controller = new AbortController();
  const result = limited(
    limits({ signals: [controller.signal] }),
    ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new Error('channel closed')));
      }),
  );
  controller.abort(new Error('connection lost'));
  await expect(result).rejects.toThrow('connection lost');
});

test('limited leaves no timer and no listener', async () => {
  const { signal } = new AbortController();
  for (let round = 0; round < 50; round += 1) {
    await limited(limits({ signals: [signal, undefined], stallMs: 10 }), () => Promise.resolve(round));
    await limited(limits({ signals: [signal] }), () => Promise.reject(new Error('x'))).catch(() => undefined);
  }
  expect([clock.sleepers(), getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
});

test('limited does not overflow the timer with a very long timeout', async () => {
  const result = limited(limits({ timeoutMs: 1e12, stallMs: 1e12, clock: systemClock }), forever);
  expect(await outcome(result)).toBe('pending');
});
