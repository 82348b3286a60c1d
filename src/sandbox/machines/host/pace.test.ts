import { expect, test } from 'vitest';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { createPace } from './pace.ts';

/** When each of some pieces got through, in milliseconds. */
async function timesOf(bytesPerSecond: number, pieces: readonly number[]): Promise<number[]> {
  const clock = manualClock();
  const pace = createPace(() => bytesPerSecond, clock);
  const through: number[] = [];
  const sending = (async () => {
    for (const bytes of pieces) {
      await pace(bytes);
      through.push(Math.round(clock.monotonicMs()));
    }
  })();
  await clock.advance(60_000);
  await sending;
  return through;
}

const cases: [string, number, number[], number[]][] = [
  ['lets everything through at once without a limit', Infinity, [1e9, 1e9], [0, 0]],
  ['takes a second for what may come in a second', 1000, [1000], [1000]],
  ['lets pieces wait for those before them', 1000, [500, 500, 1000], [500, 1000, 2000]],
  ['saves up waits that are too short for a timer', 1_000_000, [1000, 1000, 1000, 1000, 1000], [0, 0, 0, 0, 5]],
];
for (const [name, rate, pieces, want] of cases) {
  test(name, async () => expect(await timesOf(rate, pieces)).toEqual(want));
}

test('concurrent senders share the throughput', async () => {
  const clock = manualClock();
  const pace = createPace(() => 1000, clock);
  const done: string[] = [];
  const both = Promise.all([pace(1000).then(() => done.push('one')), pace(1000).then(() => done.push('other'))]);
  await clock.advance(1500);
  expect(done).toEqual(['one']);
  await clock.advance(500);
  await both;
  expect(done).toEqual(['one', 'other']);
});

test('idle time is not accumulated', async () => {
  const clock = manualClock();
  const pace = createPace(() => 1000, clock);
  await clock.advance(10_000);
  let isOver = false;
  const sending = pace(1000).then(() => void (isOver = true));
  await clock.advance(999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  await sending;
});
