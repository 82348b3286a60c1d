import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { settle } from '../../../test/kit/manual-clock.ts';
import { Slots } from './slots.ts';

const never = new AbortController().signal;

test('Slots are given in the order of requests', async () => {
  const slots = new Slots(2);
  const [one, two] = [await slots.take(never), await slots.take(never)];
  const order: string[] = [];
  const third = slots.take(never).then(place => (order.push('third'), place));
  const fourth = slots.take(never).then(place => (order.push('fourth'), place));
  await settle();
  expect([order, slots.taken, slots.waiting]).toEqual([[], 2, 2]);
  one[Symbol.dispose]();
  await settle();
  expect(order).toEqual(['third']);
  two[Symbol.dispose]();
  await settle();
  expect([order, slots.taken, slots.waiting]).toEqual([['third', 'fourth'], 2, 0]);
  (await third)[Symbol.dispose]();
  (await fourth)[Symbol.dispose]();
  expect(slots.taken).toBe(0);
});

test('disposing a slot twice returns it once', async () => {
  const slots = new Slots(1);
  const place = await slots.take(never);
  place[Symbol.dispose]();
  place[Symbol.dispose]();
  expect(slots.taken).toBe(0);
  await slots.take(never);
  expect(slots.taken).toBe(1);
});

test('an aborted request leaves the queue of Slots', async () => {
  const slots = new Slots(1);
  const place = await slots.take(never);
  const stop = new AbortController();
  const waiting = slots.take(stop.signal);
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(slots.waiting).toBe(0);
  place[Symbol.dispose]();
  await expect(slots.take(AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  expect(slots.taken).toBe(0);
});

test('a new request does not overtake waiting ones', async () => {
  const slots = new Slots(1);
  const first = await slots.take(never);
  const waiting = slots.take(never);
  first[Symbol.dispose]();
  const late = slots.take(never);
  await waiting;
  expect(slots.waiting).toBe(1);
  (await waiting)[Symbol.dispose]();
  await late;
});

test('Slots never exceed their number, and every request is served', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.array(fc.record({ turns: fc.integer({ min: 0, max: 3 }), leaves: fc.boolean() }), { maxLength: 20 }),
      async (count, takers) => {
        const slots = new Slots(count);
        let [now, most, served] = [0, 0, 0];
        const runs = takers.map(async ({ turns, leaves }) => {
          const stop = new AbortController();
          const taking = slots.take(stop.signal);
          if (leaves) stop.abort(new Error('leaves'));
          try {
            using _place = await taking;
            now += 1;
            most = Math.max(most, now);
            for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
            now -= 1;
            served += 1;
          } catch {
            // It left before.
          }
        });
        await Promise.all(runs);
        expect(most).toBeLessThanOrEqual(count);
        expect(served).toBeGreaterThanOrEqual(takers.filter(({ leaves }) => !leaves).length);
        expect([slots.taken, slots.waiting]).toEqual([0, 0]);
      },
    ),
    { numRuns: 300 },
  );
});
