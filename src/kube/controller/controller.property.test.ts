import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { MemoryInformer } from '../../../test/kit/memory-informer.ts';
import { Controller } from './controller.ts';
import { after, done, type Outcome } from './reconcile.ts';
import type { KubeResource } from '../resource.ts';
import { watching } from './watches.ts';

interface Plan {
  seed: number;
  keys: number;
  workers: number;
  maxKeys: number;
  /** How many changes each key sees, on average. */
  changes: number;
}

/** Small and quick, of good enough chance, and the same for the same seed. */
function chanceFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const turn = () => new Promise<void>(resolve => setImmediate(resolve));

/** Changes and deletes objects at random while the controller works on them, and tells what it has seen. */
async function play({ seed, keys, workers, maxKeys, changes }: Plan) {
  const chance = chanceFrom(seed);
  const source = new MemoryInformer();
  const [running, seen] = [new Set<string>(), new Map<string, number | undefined>()];
  const report = { twiceAtOnce: 0, mostAtOnce: 0, passes: 0, failures: 0 };
  const generationOf = (name: string) => source.get({ namespace: '', name })?.metadata.generation;

  async function reconcile({ name }: { name: string }): Promise<Outcome> {
    if (running.has(name)) report.twiceAtOnce += 1;
    running.add(name);
    report.mostAtOnce = Math.max(report.mostAtOnce, running.size);
    report.passes += 1;
    const generation = generationOf(name);
    try {
      for (let waits = chance() * 3; waits > 1; waits -= 1) await turn();
      const fate = chance();
      if (fate < 0.2) report.failures += 1;
      if (fate < 0.1) throw new Error('at random');
      if (fate < 0.15) return await Promise.reject('no error at all');
      if (fate < 0.2) throw new TypeError('x is undefined');
      if (fate < 0.3) return after(chance() * 5, 'at random');
      seen.set(name, generation);
      return done;
    } finally {
      running.delete(name);
    }
  }

  const controller = new Controller({
    name: 'things',
    watches: [watching({ source })],
    reconcile,
    concurrency: workers,
    queue: { firstRetryMs: 1, maxRetryMs: 8, maxKeys, random: chance },
  });
  const stop = new AbortController();
  source.sync();
  const over = controller.run(stop.signal, () => undefined);
  const nameOf = (index: number) => `k${index}`;
  let generation = 0;
  const touch = (name: string) => {
    const object: KubeResource = { metadata: { name, generation: (generation += 1) } };
    if (chance() < 0.05) source.remove({ namespace: '', name });
    else source.put(object);
  };
  const all = Array.from({ length: keys }, (_, index) => nameOf(index));
  for (const name of all) source.put({ metadata: { name, generation: 0 } });
  for (let times = 0; times < keys * (changes - 1); times += 1) {
    touch(nameOf(Math.floor(chance() * keys)));
    if (times % 200 === 0) await turn();
  }
  const isBehind = (name: string) => !seen.has(name) || seen.get(name) !== generationOf(name);
  for (let waits = 0; waits < 3000 && (running.size > 0 || all.some(isBehind)); waits += 1) await systemClock.sleep(5);
  stop.abort();
  await over;
  return { ...report, behind: all.filter(isBehind) };
}

test('10,000 keys, 50 workers, random failures: no key twice at once, every last change seen', async () => {
  const report = await play({ seed: 20_260_301, keys: 10_000, workers: 50, maxKeys: 100_000, changes: 3 });
  expect(report).toMatchObject({ twiceAtOnce: 0, behind: [], mostAtOnce: 50 });
  expect(report.passes).toBeGreaterThan(12_000);
  expect(report.failures).toBeGreaterThan(2000);
});

test('the same with a queue that holds a twentieth of the keys', async () => {
  const report = await play({ seed: 7, keys: 10_000, workers: 50, maxKeys: 500, changes: 2 });
  expect(report).toMatchObject({ twiceAtOnce: 0, behind: [], mostAtOnce: 50 });
});

test('the same for any seed, number of keys, workers and size of the queue', async () => {
  const plan = fc.record({
    seed: fc.integer(),
    keys: fc.integer({ min: 1, max: 60 }),
    workers: fc.integer({ min: 1, max: 8 }),
    maxKeys: fc.integer({ min: 1, max: 80 }),
    changes: fc.integer({ min: 1, max: 6 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async each => {
      const report = await play(each);
      expect(report).toMatchObject({ twiceAtOnce: 0, behind: [] });
      expect(report.mostAtOnce).toBeLessThanOrEqual(each.workers);
    }),
    { numRuns: 40 },
  );
});
