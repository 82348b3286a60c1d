import { expect, test } from 'vitest';
import { settle } from '../../test/kit/manual-clock.ts';
import { Turns } from './turns.ts';

/** Work that ends when it is told to. */
function held() {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  return { run: () => promise, end: resolve, fail: reject };
}
const never = new AbortController().signal;

test('does so many at once, and the rest in the order in which they came', async () => {
  const turns = new Turns(2);
  const story: string[] = [];
  const works = ['a', 'b', 'c', 'd'].map(name => {
    const work = held();
    const run = () => {
      story.push(name);
      return work.run();
    };
    return { ...work, over: turns.take(run, never) };
  });
  await settle();
  expect(story).toEqual(['a', 'b']);
  expect(turns.waiting).toBe(2);
  works[1]?.end('B');
  await settle();
  expect(story).toEqual(['a', 'b', 'c']);
  works[2]?.end('C');
  works[0]?.end('A');
  works[3]?.end('D');
  expect(await Promise.all(works.map(work => work.over))).toEqual(['A', 'B', 'C', 'D']);
  expect(turns.waiting).toBe(0);
});

test('passes the turn on after a failure', async () => {
  const turns = new Turns(1);
  const bad = held();
  const first = turns.take(bad.run, never);
  const second = turns.take(async () => 'done', never);
  bad.fail(new Error('broken'));
  await expect(first).rejects.toThrow('broken');
  expect(await second).toBe('done');
  expect(await turns.take(async () => 'free again', never)).toBe('free again');
});

test('whoever is not wanted any more leaves the queue and is never run', async () => {
  const turns = new Turns(1);
  const first = held();
  const running = turns.take(first.run, never);
  const stop = new AbortController();
  let hasRun = false;
  const given = turns.take(async () => (hasRun = true), stop.signal);
  const last = turns.take(async () => 'last', never);
  stop.abort(new Error('given up'));
  await expect(given).rejects.toThrow('given up');
  expect(turns.waiting).toBe(1);
  first.end('');
  await running;
  expect(await last).toBe('last');
  expect(hasRun).toBe(false);
});

test('does not begin for somebody who has given up already', async () => {
  const turns = new Turns(1);
  await expect(turns.take(async () => 1, AbortSignal.abort(new Error('over')))).rejects.toThrow('over');
  expect(await turns.take(async () => 2, never)).toBe(2);
});
