import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Candidate, leaseBench, never, stallingClock } from '../../../test/kit/lease-bench.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import type { Metadata } from '../resource.ts';
import { leases } from '../resources.ts';

const second = 1000;
const place: Metadata = { name: 'lock', namespace: 'ns' };
const unavailable = () => Promise.reject(refused(503, 'ServiceUnavailable'));

/** A leader that has led for a while. */
async function leading() {
  const bench = leaseBench();
  const a = bench.candidate('a');
  await bench.clock.advance(10 * second);
  return { ...bench, a };
}

test('goes on leading through failures that end before the deadline', async () => {
  const { clock, a, spec } = await leading();
  a.road.before = unavailable;
  await clock.advance(7 * second);
  a.road.before = () => undefined;
  await clock.advance(4 * second);
  expect([a.leadership.isHeld(), a.losses, spec().holderIdentity]).toEqual([true, [], 'a']);
  expect(a.log.messages('warn').length).toBe(3);
});

test('loses the lease when no renewal succeeds within the deadline', async () => {
  const { clock, a } = await leading();
  a.road.before = unavailable;
  await clock.advance(10 * second - 1);
  expect([a.leadership.isHeld(), a.losses]).toEqual([true, []]);
  await clock.advance(1);
  expect(a.leadership.isHeld()).toBe(false);
  expect(a.losses).toMatchObject([
    { code: 'LEADERSHIP_LOST', message: 'Lease ns/lock was not renewed for 10 s', cause: { code: 503 } },
  ]);
  expect((a.losses[0] as Error & { remedy: string }).remedy).not.toBe('');
  expect([a.leadership.transitions, clock.sleepers()]).toEqual([undefined, 0]);
});

test('has lost in time although its request hangs, and ends that request', async () => {
  const { clock, a } = await leading();
  const signals: AbortSignal[] = [];
  a.road.before = (_, signal) => {
    if (signal !== undefined) signals.push(signal);
    return never();
  };
  await clock.advance(10 * second);
  expect(a.losses.length).toBe(1);
  expect(signals.map(each => each.aborted)).toEqual([true, true]);
});

test('a request that hangs leaves time for a second one', async () => {
  const { clock, a } = await leading();
  a.road.before = () => {
    a.road.before = () => undefined;
    return never();
  };
  await clock.advance(15 * second);
  expect([a.leadership.isHeld(), a.losses]).toEqual([true, []]);
});

test('has lost at once when another holds the lease', async () => {
  const { clock, api, a } = await leading();
  api.put(leases, { metadata: place, spec: { holderIdentity: 'b', leaseTransitions: 1 } });
  await clock.advance(2 * second);
  expect(a.losses).toMatchObject([{ code: 'LEADERSHIP_LOST', message: 'Lease ns/lock is held by "b" now' }]);
  expect(a.leadership.isHeld()).toBe(false);
});

test('has lost when another of the same name took the lease', async () => {
  const { clock, api, a } = await leading();
  api.put(leases, { metadata: place, spec: { holderIdentity: 'a', leaseTransitions: 1 } });
  await clock.advance(2 * second);
  expect(a.losses.length).toBe(1);
});

test('loses the lease when another process has led meanwhile', async () => {
  const { clock, api, a } = await leading();
  api.put(leases, { metadata: place, spec: { holderIdentity: '', leaseTransitions: 1 } });
  await clock.advance(2 * second);
  expect(a.losses.length).toBe(1);
});

test('takes the lease back when a user only removed the name of the holder', async () => {
  const { clock, api, a, spec } = await leading();
  api.put(leases, { metadata: place, spec: { holderIdentity: '', leaseTransitions: 0 } });
  await clock.advance(2 * second);
  expect([a.losses, spec().holderIdentity]).toEqual([[], 'a']);
});

test('a changed label does not lose the lease', async () => {
  const { clock, api, lease, a } = await leading();
  const spec = lease()?.spec ?? {};
  api.put(leases, { metadata: { ...place, labels: { x: 'y' } }, spec });
  await clock.advance(2 * second);
  expect([a.losses, a.leadership.isHeld(), lease()?.metadata.labels]).toEqual([[], true, { x: 'y' }]);
  expect(a.log.messages('warn')).toEqual([]);
});

test('a write whose answer got lost is recognised as ours', async () => {
  const { clock, a, spec } = await leading();
  a.road.after = () => {
    a.road.after = () => undefined;
    throw new Error('connection reset');
  };
  await clock.advance(4 * second);
  expect([a.losses, a.leadership.isHeld(), a.log.messages('warn').length]).toEqual([[], true, 1]);
  expect(spec()).toMatchObject({ renewTime: '2026-03-01T12:00:14.000000Z', leaseTransitions: 0 });
});

test('creates a deleted lease again', async () => {
  const { clock, api, candidate, spec, a } = await leading();
  const b = candidate('b');
  await clock.advance(2 * second);
  api.remove(leases, 'lock', 'ns');
  await clock.advance(30 * second);
  expect([a.leadership.isHeld(), b.leadership.isHeld(), a.losses]).toEqual([true, false, []]);
  expect(spec()).toMatchObject({ holderIdentity: 'a', leaseTransitions: 0 });
});

test('after a long pause no renewal is sent and isHeld is false', async () => {
  const bench = leaseBench();
  const clock = stallingClock(bench.clock);
  const a = bench.candidate('a', { clock });
  await bench.clock.advance(10 * second);
  clock.stall(30 * second);
  expect([a.leadership.isHeld(), a.losses]).toEqual([false, []]);
  bench.api.calls.length = 0;
  await bench.clock.advance(2 * second);
  expect([a.losses.length, bench.api.calls]).toEqual([1, []]);
});

test('a renewal that succeeds too late does not count', async () => {
  const bench = leaseBench();
  const clock = stallingClock(bench.clock);
  const a = bench.candidate('a', { clock });
  await bench.clock.advance(10 * second);
  a.road.before = () => clock.stall(11 * second);
  await bench.clock.advance(2 * second);
  expect(a.leadership.isHeld()).toBe(false);
  await bench.clock.advance(2 * second);
  expect(a.losses.length).toBe(1);
});

test('a loss is reported once, and a later release has no effect', async () => {
  const { clock, api, a } = await leading();
  a.road.before = unavailable;
  await clock.advance(60 * second);
  api.calls.length = 0;
  await a.leadership.release('free', new AbortController().signal);
  expect([a.losses.length, api.calls]).toEqual([1, []]);
});

/** What the road to the server does to one call. */
const mood = fc.constantFrom('good', 'good', 'good', 'slow', 'error', 'hang', 'lost answer');

test('for any network does: never two leaders, and the lease is held again in the end', async () => {
  const plan = fc.array(fc.record({ moods: fc.tuple(mood, mood, mood), ms: fc.integer({ min: 100, max: 9000 }) }), {
    minLength: 1,
    maxLength: 25,
  });
  await fc.assert(
    fc.asyncProperty(plan, async steps => {
      const { clock, candidate } = leaseBench();
      const all = ['x', 'y', 'z'].map(identity => candidate(identity, { random: () => 0.5 }));
      const leaders = () => all.filter(each => each.leadership.isHeld()).map(each => each.identity);
      const again = (each: Candidate) => {
        const lost = each.losses.splice(0);
        if (lost.length > 0)
          void each.leadership.acquire(why => each.losses.push(why), each.stop.signal).catch(() => 0);
      };
      for (const { moods, ms } of steps) {
        for (const [index, each] of all.entries()) {
          const what = moods[index];
          each.road.before = (_, signal) => {
            if (what === 'error') throw refused(500, 'InternalError');
            if (what === 'hang') return never();
            if (what === 'slow') return clock.sleep(1500, signal);
            return undefined;
          };
          each.road.after = () => {
            if (what === 'lost answer') throw new Error('connection reset');
          };
        }
        for (let left = ms; left > 0; left -= 500) {
          await clock.advance(Math.min(left, 500));
          expect(leaders().length).toBeLessThanOrEqual(1);
          all.forEach(again);
        }
      }
      for (const { road } of all) Object.assign(road, { before: () => undefined, after: () => undefined });
      for (let turn = 0; turn < 80; turn += 1) {
        await clock.advance(500);
        all.forEach(again);
        expect(leaders().length).toBeLessThanOrEqual(1);
      }
      expect(leaders().length).toBe(1);
      for (const each of all) each.stop.abort();
      for (const each of all) await each.leadership.release('let expire', new AbortController().signal);
      await settle();
      expect(clock.sleepers()).toBe(0);
    }),
    { numRuns: 150 },
  );
});
