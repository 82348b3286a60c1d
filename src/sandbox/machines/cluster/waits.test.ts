import { expect, test } from 'vitest';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { Waits } from './waits.ts';

test('counts down from the first question', async () => {
  const clock = manualClock();
  const waits = new Waits(clock, 1);
  expect(waits.left('a', 1000)).toBe(1000);
  await clock.advance(400);
  expect(waits.left('a', 1000)).toBe(600);
  await clock.advance(600);
  expect(waits.left('a', 1000)).toBe(0);
  await clock.advance(5000);
  expect(waits.left('a', 1000)).toBe(0);
});

test('converts the rest of a sandbox delay to real time', async () => {
  const clock = manualClock();
  const waits = new Waits(clock, 10);
  expect(waits.left('a', 5000)).toBe(500);
  await clock.advance(100);
  expect(waits.left('a', 5000)).toBe(400);
});

test('each name has its own time', async () => {
  const clock = manualClock();
  const waits = new Waits(clock, 1);
  waits.left('a', 100);
  await clock.advance(60);
  expect([waits.left('a', 100), waits.left('b', 100)]).toEqual([40, 100]);
});

test('a forgotten delay starts again', async () => {
  const clock = manualClock();
  const waits = new Waits(clock, 1);
  waits.left('a', 100);
  await clock.advance(100);
  waits.forget('a');
  waits.forget('never seen');
  expect(waits.left('a', 100)).toBe(100);
});

test('a zero delay is over at once', () => {
  expect(new Waits(manualClock(), 3).left('a', 0)).toBe(0);
});

test('never returns before the delay is over', async () => {
  const clock = manualClock();
  const waits = new Waits(clock, 7);
  const leftMs = waits.left('a', 1000);
  await clock.advance(leftMs);
  expect(waits.left('a', 1000)).toBe(0);
});
