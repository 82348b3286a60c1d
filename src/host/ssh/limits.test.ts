import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { abortion, type Limits, limited, type Turn } from './limits.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const limits = (more: Partial<Limits> = {}): Limits => ({
  signals: [],
  timeoutMs: 1000,
  overdue: (why, ms) => new Error(`${why} ${ms}`),
  ...more,
});
const forever = () => new Promise<never>(() => undefined);

/** What became of it, or that nothing did yet. */
async function outcome(promise: Promise<unknown>): Promise<unknown> {
  const settled = promise.then(
    value => value,
    (error: unknown) => error,
  );
  for (let round = 0; round < 20; round += 1) await Promise.resolve();
  return Promise.race([settled, Promise.resolve('pending')]);
}

test('an operation that ends in time gives its value', async () => {
  await expect(limited(limits(), () => Promise.resolve('done'))).resolves.toBe('done');
});

test('an operation that fails gives its error', async () => {
  await expect(limited(limits(), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
});

test('an operation that throws at once fails likewise', async () => {
  const thrown = () => {
    throw new Error('at once');
  };
  await expect(limited(limits(), thrown)).rejects.toThrow('at once');
});

test('an operation that never settles fails when its time is over', async () => {
  const result = limited(limits(), forever);
  expect(await outcome(result)).toBe('pending');
  vi.advanceTimersByTime(1000);
  await expect(result).rejects.toThrow('took 1000');
});

test('progress keeps an operation from standing still, but not from taking too long', async () => {
  let turn: Turn | undefined;
  const result = limited(limits({ timeoutMs: 10_000, stallMs: 500 }), given => {
    turn = given;
    return forever();
  });
  for (let round = 0; round < 19; round += 1) {
    vi.advanceTimersByTime(499);
    turn?.progress();
  }
  expect(await outcome(result)).toBe('pending');
  vi.advanceTimersByTime(499);
  turn?.progress();
  vi.advanceTimersByTime(499);
  await expect(result).rejects.toThrow('took 10000');
});

test('an operation without progress stands still', async () => {
  const result = limited(limits({ stallMs: 500 }), forever);
  vi.advanceTimersByTime(500);
  await expect(result).rejects.toThrow('stood still 500');
});

test('progress of an operation that may stand still is no mistake', async () => {
  await expect(limited(limits(), async turn => turn.progress())).resolves.toBeUndefined();
});

for (const at of [0, 1]) {
  test(`signal ${at} ends an operation with its own reason`, async () => {
    const controllers = [new AbortController(), new AbortController()];
    let turn: Turn | undefined;
    const result = limited(limits({ signals: controllers.map(({ signal }) => signal) }), given => {
      turn = given;
      return forever();
    });
    controllers[at]?.abort(new Error(`reason ${at}`));
    await expect(result).rejects.toThrow(`reason ${at}`);
    expect(turn?.end).toMatchObject({ aborted: true, reason: { message: `reason ${at}` } });
  });
}

test('an operation is not begun when a signal is aborted already', async () => {
  let begun = false;
  const run = async () => {
    begun = true;
  };
  const signals = [undefined, AbortSignal.abort(new Error('too late'))];
  await expect(limited(limits({ signals }), run)).rejects.toThrow('too late');
  expect([begun, vi.getTimerCount()]).toEqual([false, 0]);
});

test('the caller hears the reason first, whatever the operation says when it is given up', async () => {
  const controller = new AbortController();
  const result = limited(
    limits({ signals: [controller.signal] }),
    ({ end }) =>
      new Promise((_, reject) => {
        end.addEventListener('abort', () => reject(new Error('channel closed')));
      }),
  );
  controller.abort(new Error('connection lost'));
  await expect(result).rejects.toThrow('connection lost');
});

test('nothing stays behind: no timer, no listener', async () => {
  const { signal } = new AbortController();
  for (let round = 0; round < 50; round += 1) {
    await limited(limits({ signals: [signal, undefined], stallMs: 10 }), () => Promise.resolve(round));
    await limited(limits({ signals: [signal] }), () => Promise.reject(new Error('x'))).catch(() => undefined);
  }
  expect([vi.getTimerCount(), getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
});

test('a very long time is not a very short one', async () => {
  const result = limited(limits({ timeoutMs: 1e12, stallMs: 1e12 }), forever);
  vi.advanceTimersByTime(1_000_000);
  expect(await outcome(result)).toBe('pending');
});

test('an abortion nobody waits for is no unhandled rejection', async () => {
  const controller = new AbortController();
  const promise = abortion(controller.signal);
  controller.abort(new Error('gone'));
  await expect(promise).rejects.toThrow('gone');
  await expect(abortion(controller.signal)).rejects.toThrow('gone');
});
