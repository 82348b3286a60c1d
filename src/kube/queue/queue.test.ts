import { expect, test } from 'vitest';
import { gotBy, key, queueBench } from '../../../test/kit/queue-bench.ts';
import type { WorkQueue } from './queue.ts';
import type { Key } from '../resource.ts';

const [a, b, c] = [key('a'), key('b'), key('c')];

test('hands out keys in the order in which they came', async () => {
  const { queue, handledNames } = queueBench();
  for (const each of [b, a, c]) queue.add(each);
  expect(await handledNames()).toEqual(['b', 'a', 'c']);
  expect(queue.size).toBe(0);
});

test('merges equal keys that wait', async () => {
  const { queue, handledNames } = queueBench();
  for (const each of [a, b, a, { ...a }, b]) queue.add(each);
  expect([queue.depth, await handledNames()]).toEqual([2, ['a', 'b']]);
});

test('keys of different namespaces are different', () => {
  const { queue } = queueBench();
  for (const each of [key('a', 'x'), key('a', 'y'), key('a')]) queue.add(each);
  expect(queue.depth).toBe(3);
});

test('hands a key to a worker that waits, and to one only', async () => {
  const { queue } = queueBench();
  const [first, second] = [queue.take(), queue.take()];
  queue.add(a);
  expect([await gotBy(first), await gotBy(second)]).toEqual(['a', 'waiting']);
  queue.add(b);
  expect(await gotBy(second)).toBe('b');
});

test('a key added while a worker has it is handed out again afterwards', async () => {
  const { queue } = queueBench();
  queue.add(a);
  await queue.take();
  const second = queue.take();
  for (let times = 0; times < 3; times += 1) expect(queue.add(a)).toBe(true);
  expect([await gotBy(second), queue.depth, queue.size]).toEqual(['waiting', 0, 1]);
  queue.done(a);
  expect(await gotBy(second)).toBe('a');
  queue.done(a);
  expect(queue.size).toBe(0);
});

test('a key that is done without being added meanwhile leaves the queue', async () => {
  const { queue } = queueBench();
  queue.add(a);
  await queue.take();
  expect(queue.size).toBe(1);
  queue.done(a);
  expect([queue.size, queue.depth]).toEqual([0, 0]);
});

const strayDones: [string, (queue: WorkQueue) => void][] = [
  ['of a key nobody added', queue => queue.done(b)],
  ['of a key that still waits', queue => queue.done(a)],
];
for (const [name, act] of strayDones) {
  test(`a done ${name} changes nothing`, async () => {
    const { queue, handledNames } = queueBench();
    queue.add(a);
    act(queue);
    expect(await handledNames()).toEqual(['a']);
  });
}

test('a second done does not let the key run twice', async () => {
  const { queue } = queueBench();
  queue.add(a);
  await queue.take();
  queue.done(a);
  queue.done(a);
  queue.add(a);
  const [first, second] = [queue.take(), queue.take()];
  expect([await gotBy(first), await gotBy(second)]).toEqual(['a', 'waiting']);
});

test('keeps the order over thousands of keys', async () => {
  const { queue, handledNames } = queueBench();
  const names = Array.from({ length: 5000 }, (_, index) => `k${index}`);
  for (const name of names.slice(0, 3000)) queue.add(key(name));
  for (let index = 0; index < 1500; index += 1) queue.done((await queue.take()) as Key);
  for (const name of names.slice(3000)) queue.add(key(name));
  expect(await handledNames()).toEqual(names.slice(1500));
});

test('a delayed key comes when its time has come', async () => {
  const { clock, queue, handledNames } = queueBench();
  queue.addAfter(a, 100);
  await clock.advance(99);
  expect([queue.depth, queue.size]).toEqual([0, 1]);
  await clock.advance(1);
  expect(await handledNames()).toEqual(['a']);
});

const delays: [string, (queue: WorkQueue) => void, number][] = [
  ['the earlier of two times', queue => [queue.addAfter(a, 500), queue.addAfter(a, 100)], 100],
  ['the earlier one, if it came first', queue => [queue.addAfter(a, 100), queue.addAfter(a, 500)], 100],
  ['now, before any time', queue => [queue.addAfter(a, 500), queue.add(a)], 0],
  ['now, if that came first', queue => [queue.add(a), queue.addAfter(a, 500)], 0],
  ['now, for no time at all', queue => queue.addAfter(a, 0), 0],
  ['now, for a time that is past', queue => queue.addAfter(a, -5), 0],
  ['now, for a time that is no number', queue => queue.addAfter(a, Number.NaN), 0],
];
for (const [name, act, wantMs] of delays) {
  test(`${name} wins, and the key comes once`, async () => {
    const { clock, queue } = queueBench();
    act(queue);
    let atMs = -1;
    void queue.take().then(() => (atMs = clock.monotonicMs()));
    await clock.advance(1000);
    expect([atMs, queue.depth]).toEqual([wantMs, 0]);
    queue.done(a);
    expect(queue.size).toBe(0);
  });
}

test('delayed keys come in the order of their times', async () => {
  const { clock, queue, handledNames } = queueBench();
  queue.addAfter(a, 300);
  queue.addAfter(b, 100);
  queue.addAfter(c, 200);
  await clock.advance(1000);
  expect(await handledNames()).toEqual(['b', 'c', 'a']);
});

test('one timer serves all delays', () => {
  const { clock, queue } = queueBench();
  for (let index = 0; index < 100; index += 1) queue.addAfter(key(`k${index}`), 1000 - index);
  expect(clock.sleepers()).toBe(1);
});

test('a delay that ends while a worker has the key waits for that worker', async () => {
  const { clock, queue } = queueBench();
  queue.add(a);
  await queue.take();
  queue.addAfter(a, 50);
  const second = queue.take();
  await clock.advance(100);
  expect(await gotBy(second)).toBe('waiting');
  queue.done(a);
  expect(await gotBy(second)).toBe('a');
});

test('a delay asked for while a worker has the key goes on after that worker', async () => {
  const { clock, queue, handledNames } = queueBench();
  queue.add(a);
  await queue.take();
  queue.addAfter(a, 50);
  queue.done(a);
  expect([queue.depth, queue.size]).toEqual([0, 1]);
  await clock.advance(50);
  expect(await handledNames()).toEqual(['a']);
});

test('a jump of the wall clock neither hurries nor delays a key', async () => {
  const { clock, queue } = queueBench();
  queue.addAfter(a, 100);
  clock.jump(86_400_000);
  await clock.advance(99);
  expect(queue.depth).toBe(0);
  clock.jump(-172_800_000);
  await clock.advance(1);
  expect(queue.depth).toBe(1);
});

test('waits twice as long after each failure, up to the bound', async () => {
  const { clock, queue } = queueBench({ maxRetryMs: 100 });
  const waits: number[] = [];
  queue.add(a);
  for (let times = 0; times < 7; times += 1) {
    await queue.take();
    waits.push(queue.retry(a));
    queue.done(a);
    await clock.advance(100);
  }
  expect(waits).toEqual([5, 10, 20, 40, 80, 100, 100]);
});

test('the default backoff is 5 ms to 5 minutes', () => {
  const { queue } = queueBench();
  const waits = Array.from({ length: 100 }, () => queue.retry(a));
  expect([waits[0], waits[16], waits[17], waits[99]]).toEqual([5, 300_000, 300_000, 300_000]);
  expect(queue.failuresOf(a)).toBe(100);
});

test('shortens each wait by up to a fifth at random', () => {
  expect(queueBench({ random: () => 0.5, firstRetryMs: 1000 }).queue.retry(a)).toBe(900);
  expect(queueBench({ random: () => 1, firstRetryMs: 1000 }).queue.retry(a)).toBe(800);
});

test('a retried key really comes when it should', async () => {
  const { clock, queue, handledNames } = queueBench({ firstRetryMs: 1000 });
  queue.add(a);
  await queue.take();
  queue.retry(a);
  queue.done(a);
  await clock.advance(999);
  expect(queue.depth).toBe(0);
  await clock.advance(1);
  expect(await handledNames()).toEqual(['a']);
});

test('forget begins the series again', () => {
  const { queue } = queueBench();
  const waits = [queue.retry(a), queue.retry(a)];
  queue.forget(a);
  expect([...waits, queue.retry(a)]).toEqual([5, 10, 5]);
});

test('forget ignores an unknown key', () => {
  const { queue } = queueBench();
  queue.forget(a);
  expect([queue.failuresOf(a), queue.size]).toEqual([0, 0]);
});

test('keys fail each for themselves', () => {
  const { queue } = queueBench();
  queue.retry(a);
  queue.retry(a);
  expect([queue.retry(b), queue.failuresOf(a), queue.failuresOf(b)]).toEqual([5, 2, 1]);
});

test('a change of a key that waits after a failure is worked on at once, and its failures are remembered', async () => {
  const { clock, queue } = queueBench({ firstRetryMs: 60_000 });
  queue.add(a);
  await queue.take();
  queue.retry(a);
  queue.done(a);
  queue.add(a);
  expect([await gotBy(queue.take()), queue.failuresOf(a)]).toEqual(['a', 1]);
  queue.done(a);
  await clock.advance(120_000);
  expect(queue.size).toBe(0);
});

test('a change that came while the key failed is worked on at once', async () => {
  const { queue } = queueBench({ firstRetryMs: 60_000 });
  queue.add(a);
  await queue.take();
  queue.add(a);
  queue.retry(a);
  queue.done(a);
  expect(await gotBy(queue.take())).toBe('a');
});

test('drops the failures of a finished key', async () => {
  const { clock, queue, handledNames } = queueBench();
  queue.retry(a);
  await clock.advance(5);
  await handledNames();
  expect([queue.size, queue.failuresOf(a)]).toEqual([0, 0]);
});
