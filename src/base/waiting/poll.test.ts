import { expect, test } from 'vitest';
import { ModelClock } from '../../../test/kit/model-host.ts';
import { poll } from './poll.ts';

/** Answers undefined some times and then with a word; tells when it was asked. */
function answerAfter(looks: number, clock: ModelClock) {
  const asked: number[] = [];
  const look = async () => {
    asked.push(clock.ms);
    return asked.length > looks ? 'done' : undefined;
  };
  return { asked, look };
}

const cases: [name: string, looks: number, everyMs: number, limitMs: number, want: string | undefined, at: number[]][] =
  [
    ['looks at once', 0, 100, 1000, 'done', [0]],
    ['looks again after the interval', 2, 100, 1000, 'done', [0, 100, 200]],
    ['looks a last time when the time is up', 99, 400, 1000, undefined, [0, 400, 800, 1000]],
    ['finds an answer at the last look', 3, 400, 1000, 'done', [0, 400, 800, 1000]],
    ['looks once when there is no time', 5, 100, 0, undefined, [0]],
    ['never sleeps beyond the limit', 5, 5000, 1000, undefined, [0, 1000]],
  ];
for (const [name, looks, everyMs, limitMs, want, at] of cases) {
  test(name, async () => {
    const clock = new ModelClock();
    const { asked, look } = answerAfter(looks, clock);
    const signal = new AbortController().signal;
    expect(await poll(look, { clock, signal, patience: { everyMs, limitMs } })).toBe(want);
    expect(asked).toEqual(at);
  });
}

test('takes false as an answer', async () => {
  const waiting = {
    clock: new ModelClock(),
    signal: new AbortController().signal,
    patience: { everyMs: 1, limitMs: 1 },
  };
  expect(await poll(async () => false, waiting)).toBe(false);
});

test('poll does not call look when the signal is aborted', async () => {
  const clock = new ModelClock();
  const { asked, look } = answerAfter(0, clock);
  const signal = AbortSignal.abort(new Error('stop'));
  await expect(poll(look, { clock, signal, patience: { everyMs: 1, limitMs: 9 } })).rejects.toThrow('stop');
  expect(asked).toEqual([]);
});

test('poll fails with the error of look', async () => {
  const waiting = {
    clock: new ModelClock(),
    signal: new AbortController().signal,
    patience: { everyMs: 1, limitMs: 9 },
  };
  await expect(poll(() => Promise.reject(new Error('broken')), waiting)).rejects.toThrow('broken');
});
