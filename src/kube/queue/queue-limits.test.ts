import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { settle } from '../../../test/kit/manual-clock.ts';
import { key, queueBench } from '../../../test/kit/queue-bench.ts';
import { queueMetrics } from './queue.ts';
import type { Key } from '../resource.ts';

const [a, b, c] = [key('a'), key('b'), key('c')];
const labels = { name: 'test' };

test('rejects keys beyond its bound, takes those it knows, and counts what it refused', () => {
  const { queue, metrics } = queueBench({ maxKeys: 2 });
  expect([a, b, c, a].map(each => queue.add(each))).toEqual([true, true, false, true]);
  expect([queue.addAfter(c, 10), queue.addAfter(b, 10), queue.retry(c)]).toEqual([false, true, 0]);
  expect([queue.size, metrics.read(queueMetrics.refused, labels)]).toEqual([2, 3]);
});

test('the bound holds for keys in every state', async () => {
  const { queue } = queueBench({ maxKeys: 3 });
  queue.add(a);
  await queue.take();
  queue.addAfter(b, 100);
  queue.add(c);
  expect(queue.add(key('d'))).toBe(false);
});

test('takes a key that no relist would find, although it is full', async () => {
  const { queue, handledNames } = queueBench({ maxKeys: 1 });
  queue.add(a);
  expect([queue.add(b), queue.add(b, 'always')]).toEqual([false, true]);
  expect(await handledNames()).toEqual(['a', 'b']);
});

test('calls onRoom once when half of the queue is free', async () => {
  let calls = 0;
  const { queue } = queueBench({ maxKeys: 4, onRoom: () => (calls += 1) });
  for (let index = 0; index < 6; index += 1) queue.add(key(`k${index}`));
  const seen: number[] = [];
  for (let index = 0; index < 4; index += 1) {
    queue.done((await queue.take()) as Key);
    seen.push(calls);
  }
  expect(seen).toEqual([0, 1, 1, 1]);
});

test('does not call onRoom without a rejected key', async () => {
  let calls = 0;
  const { queue, handledNames } = queueBench({ maxKeys: 2, onRoom: () => (calls += 1) });
  for (const each of [a, b]) queue.add(each);
  await handledNames();
  expect(calls).toBe(0);
});

test('onRoom can add keys at once', async () => {
  const missed = [c];
  const { queue, handledNames } = queueBench({
    maxKeys: 2,
    onRoom: () => missed.splice(0).forEach(each => queue.add(each)),
  });
  for (const each of [a, b, c]) queue.add(each);
  expect(await handledNames()).toEqual(['a', 'b', 'c']);
});

test('shutDown drops all keys that no worker has', async () => {
  const { clock, queue } = queueBench();
  queue.add(a);
  queue.addAfter(b, 10);
  await queue.shutDown();
  expect([queue.size, queue.depth, clock.sleepers(), await queue.take()]).toEqual([0, 0, 0, undefined]);
});

test('shutDown does not hand out a key again that changed while a worker had it', async () => {
  const { queue } = queueBench();
  queue.add(a);
  await queue.take();
  queue.add(a);
  const over = queue.shutDown();
  queue.done(a);
  await over;
  expect([await queue.take(), queue.size]).toEqual([undefined, 0]);
});

test('shutDown ends the wait of idle workers', async () => {
  const { queue } = queueBench();
  const taking = [queue.take(), queue.take()];
  await queue.shutDown();
  expect(await Promise.all(taking)).toEqual([undefined, undefined]);
});

test('shutDown resolves when every key that was handed out is done', async () => {
  const { queue } = queueBench();
  for (const each of [a, b]) queue.add(each);
  await queue.take();
  await queue.take();
  let isOver = false;
  void queue.shutDown().then(() => (isOver = true));
  queue.done(a);
  await settle();
  expect(isOver).toBe(false);
  queue.done(b);
  await settle();
  expect(isOver).toBe(true);
});

test('a queue that is shut down rejects keys and sets no timer', async () => {
  const { clock, queue } = queueBench();
  queue.add(a);
  await queue.take();
  void queue.shutDown();
  expect([queue.add(b), queue.add(b, 'always'), queue.addAfter(a, 5), queue.retry(a)]).toEqual([
    false,
    false,
    false,
    0,
  ]);
  queue.done(a);
  expect([clock.sleepers(), queue.size]).toEqual([0, 0]);
});

test('shutDown does not ask for a relist', async () => {
  let calls = 0;
  const { queue } = queueBench({ maxKeys: 1, onRoom: () => (calls += 1) });
  queue.add(a);
  queue.add(b);
  await queue.take();
  void queue.shutDown();
  queue.done(a);
  expect(calls).toBe(0);
});

test('measures depth, adds, retries, and the time of waiting and of work', async () => {
  const { clock, queue, metrics } = queueBench();
  for (const each of [a, a, b]) queue.add(each);
  expect(metrics.read(queueMetrics.depth, labels)).toBe(2);
  await clock.advance(2000);
  await queue.take();
  await clock.advance(5000);
  queue.retry(a);
  queue.done(a);
  const [adds, retries, depth] = [queueMetrics.adds, queueMetrics.retries, queueMetrics.depth];
  expect([adds, retries, depth].map(metric => metrics.read(metric, labels))).toEqual([2, 1, 1]);
  const sumOf = (name: string) => metrics.all().find(({ metric }) => metric.name === name);
  expect(sumOf('workqueue_queue_duration_seconds')).toMatchObject({ count: 1, sum: 2 });
  expect(sumOf('workqueue_work_duration_seconds')).toMatchObject({ count: 1, sum: 5 });
});

test('no key is handed out twice or lost', async () => {
  const step = fc.record({
    do: fc.constantFrom('add', 'addAfter', 'take', 'done', 'retry', 'advance'),
    key: fc.nat(5),
    ms: fc.integer({ min: 1, max: 200 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async steps => {
      const { clock, queue } = queueBench({ maxRetryMs: 100 });
      const [held, wanted] = [new Set<string>(), new Set<string>()];
      const take = async () => {
        if (queue.depth === 0) return;
        const taken = (await queue.take()) as Key;
        expect(held.has(taken.name)).toBe(false);
        held.add(taken.name);
        wanted.delete(taken.name);
      };
      for (const { do: what, key: number, ms } of steps) {
        const each = key(`k${number}`);
        if (['add', 'addAfter', 'retry'].includes(what)) wanted.add(each.name);
        if (what === 'done') held.delete(each.name);
        const acts: Record<string, () => unknown> = {
          add: () => queue.add(each),
          addAfter: () => queue.addAfter(each, ms),
          retry: () => queue.retry(each),
          done: () => queue.done(each),
          advance: () => clock.advance(ms),
          take,
        };
        await acts[what]?.();
      }
      for (const name of held) queue.done(key(name));
      held.clear();
      await clock.advance(1000);
      while (queue.depth > 0) {
        await take();
        for (const name of held) queue.done(key(name));
        held.clear();
      }
      expect([[...wanted], queue.size, clock.sleepers()]).toEqual([[], 0, 0]);
    }),
    { numRuns: 300 },
  );
});
