import { expect, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { Alarm } from './alarm.ts';

function started() {
  const clock = manualClock();
  const rings: number[] = [];
  const alarm = new Alarm(clock, () => rings.push(clock.monotonicMs()));
  return { clock, rings, alarm };
}

test('rings once, at the time it was set for', async () => {
  const { clock, rings, alarm } = started();
  alarm.setFor(100);
  await clock.advance(99);
  expect(rings).toEqual([]);
  await clock.advance(1000);
  expect(rings).toEqual([100]);
  expect(clock.sleepers()).toBe(0);
});

test('the earliest time wins, with one timer', async () => {
  const { clock, rings, alarm } = started();
  for (const ms of [100, 40, 70]) alarm.setFor(ms);
  expect(clock.sleepers()).toBe(1);
  await clock.advance(200);
  expect(rings).toEqual([40]);
});

test('can be set again after it has rung', async () => {
  const { clock, rings, alarm } = started();
  alarm.setFor(10);
  await clock.advance(10);
  alarm.setFor(30);
  await clock.advance(100);
  expect(rings).toEqual([10, 30]);
});

test('rings at once for a time that is past', async () => {
  const { clock, rings, alarm } = started();
  await clock.advance(50);
  alarm.setFor(20);
  await clock.advance(0);
  expect(rings).toEqual([50]);
});

test('no time means no ring', async () => {
  const { clock, rings, alarm } = started();
  alarm.setFor(undefined);
  await clock.advance(1_000_000);
  expect([rings, clock.sleepers()]).toEqual([[], 0]);
});

test('a canceled alarm leaves no timer and does not ring', async () => {
  const { clock, rings, alarm } = started();
  alarm.setFor(10);
  alarm.cancel();
  expect(clock.sleepers()).toBe(0);
  await clock.advance(100);
  expect(rings).toEqual([]);
});

test('can be set after it was canceled, for a later time too', async () => {
  const { clock, rings, alarm } = started();
  alarm.setFor(10);
  alarm.cancel();
  alarm.setFor(50);
  await clock.advance(100);
  expect(rings).toEqual([50]);
});

test('sleeps in parts of an hour, so that no timer overflows', async () => {
  const clock = manualClock();
  const sleeps: number[] = [];
  const counting = {
    ...clock,
    sleep: (ms: number, signal?: AbortSignal) => [sleeps.push(ms), clock.sleep(ms, signal)][1],
  };
  const alarm = new Alarm(counting as typeof clock, () => undefined);
  alarm.setFor(30 * 86_400_000);
  expect(sleeps).toEqual([3_600_000]);
  alarm.cancel();
});

test('a jump of the wall clock does not matter', async () => {
  const { clock, rings, alarm } = started();
  alarm.setFor(100);
  clock.jump(3_600_000);
  await clock.advance(99);
  expect(rings).toEqual([]);
  clock.jump(-7_200_000);
  await clock.advance(1);
  expect(rings).toEqual([100]);
});
