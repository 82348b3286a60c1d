import { expect, test } from 'vitest';
import { controllerBench, heldPasses, thing } from '../../../test/kit/controller-bench.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { MemoryInformer } from '../../../test/kit/memory-informer.ts';
import { key } from '../../../test/kit/queue-bench.ts';
import { controllerMetrics } from './controller.ts';
import { queueMetrics } from '../queue/queue.ts';
import { after, done } from './reconcile.ts';
import { watching } from './watches.ts';

const labels = { controller: 'things' };
const limits = { passTimeoutMs: 1000, overdueGraceMs: 100 };
const names = (count: number) => Array.from({ length: count }, (_, index) => `k${index}`);

test('a pass that ignores its deadline keeps its key but not its worker', async () => {
  const { reconcile, running, release } = heldPasses();
  const { clock, source, startSynced, messages, metrics } = controllerBench(reconcile, limits);
  for (const name of ['hung', 'good']) source.put(thing(name));
  await startSynced();
  await clock.advance(1099);
  expect([...running.keys()]).toEqual(['hung']);
  await clock.advance(1);
  expect([...running.keys()]).toEqual(['hung', 'good']);
  expect(messages('error')).toEqual(['Reconcile pass exceeded its deadline and is still running']);
  expect(metrics.read(controllerMetrics.overdue, labels)).toBe(1);
  await release('good');
  source.put(thing('hung', 2));
  await settle();
  expect([...running.keys()]).toEqual(['hung']);
});

test('a key whose pass ends at last is worked on again if it changed', async () => {
  const { reconcile, running, release } = heldPasses();
  const { clock, source, startSynced } = controllerBench(reconcile, limits);
  source.put(thing('hung'));
  await startSynced();
  await clock.advance(1100);
  source.put(thing('hung', 2));
  const first = running.get('hung');
  await release('hung');
  expect(running.get('hung')?.pass.id).not.toBe(first?.pass.id);
  expect(running.get('hung')?.pass.attempt).toBe(1);
});

test('no more passes hang beside the workers than there are workers', async () => {
  const { reconcile, running, release } = heldPasses();
  const { clock, source, startSynced } = controllerBench(reconcile, { ...limits, concurrency: 2 });
  for (const name of names(9)) source.put(thing(name));
  await startSynced();
  for (let times = 0; times < 5; times += 1) await clock.advance(1100);
  expect([...running.keys()]).toEqual(['k0', 'k1', 'k2', 'k3']);
  await release('k2');
  expect([...running.keys()]).toEqual(['k0', 'k1', 'k3', 'k4']);
});

test('stop aborts the passes, waits for them and rejects new keys', async () => {
  const { reconcile, running, release } = heldPasses();
  const { clock, source, startSynced, stop, state } = controllerBench(reconcile);
  for (const name of ['a', 'b']) source.put(thing(name));
  await startSynced();
  const reason = new Error('the operator ends');
  stop.abort(reason);
  await settle();
  expect([running.get('a')?.pass.signal.reason, state.isOver]).toEqual([reason, false]);
  source.put(thing('c'));
  await release('a');
  expect([state.isOver, running.size, clock.sleepers(), source.handlerCount]).toEqual([true, 0, 0, 0]);
});

test('a pass that is aborted by the stop does not count as failed', async () => {
  const { clock, source, startSynced, stop, state, lines, metrics } = controllerBench(async (_, { signal }) => {
    await clock.sleep(60_000, signal);
    return done;
  });
  source.put(thing('a'));
  await startSynced();
  stop.abort();
  await settle();
  expect([state.isOver, lines, metrics.read(controllerMetrics.errors, labels)]).toEqual([true, [], 0]);
  expect(clock.sleepers()).toBe(0);
});

test('leaves no timer for delayed and failed keys', async () => {
  const { clock, source, startSynced, stop, state } = controllerBench(async ({ name }) => {
    if (name === 'a') throw new Error('boom');
    return after(60_000, 'x');
  });
  for (const name of ['a', 'b']) source.put(thing(name));
  await startSynced();
  stop.abort();
  await settle();
  expect([state.isOver, clock.sleepers()]).toEqual([true, 0]);
});

test('is over at once when it is stopped before it starts', async () => {
  const { source, start, stop, state } = controllerBench(async () => done);
  source.sync();
  stop.abort();
  await start();
  expect([state.isReady, source.handlerCount]).toEqual([false, 0]);
});

test('fails, and ends its watches, when one of them cannot be started', async () => {
  const [good, bad] = [new MemoryInformer(), new MemoryInformer()];
  bad.addHandler = () => {
    throw new Error('no such resource');
  };
  const watches = [watching({ source: good }), watching({ source: bad })];
  const { start } = controllerBench(async () => done, { watches });
  await expect(start()).rejects.toThrow('no such resource');
  expect(good.handlerCount).toBe(0);
});

test('finds what a full queue refused, all of it, once', async () => {
  const seen = new Set<string>();
  const { source, startSynced, messages, metrics } = controllerBench(
    async ({ name }) => {
      seen.add(name);
      return done;
    },
    { queue: { maxKeys: 10 } },
  );
  for (const name of names(100)) source.put(thing(name));
  await startSynced();
  await settle();
  expect([...seen].sort()).toEqual(names(100).sort());
  expect(messages('warn')).toEqual(['Queue is full; relisting once there is room']);
  expect(metrics.read(queueMetrics.refused, { name: 'things' })).toBeGreaterThan(0);
});

test('loses neither the last state nor a deletion while the queue is full', async () => {
  const { reconcile, running, release } = heldPasses();
  const seen = new Map<string, number | undefined>();
  const { source, startSynced } = controllerBench(
    async (each, pass) => {
      const outcome = await reconcile(each, pass);
      seen.set(each.name, source.get(each)?.metadata.generation);
      return outcome;
    },
    { queue: { maxKeys: 4 } },
  );
  for (const name of names(20)) source.put(thing(name));
  await startSynced();
  for (const name of names(20)) source.put(thing(name, 2));
  for (const name of names(5)) source.remove(key(name));
  while (running.size > 0) {
    const [name = ''] = running.keys();
    await release(name);
  }
  const wanted = names(20).map((name, index): [string, number | undefined] => [name, index < 5 ? undefined : 2]);
  expect(seen).toEqual(new Map(wanted));
});

test('a log that fails ends the controller, instead of a silent stop of one worker', async () => {
  const { source, start } = controllerBench(() => Promise.reject(new Error('boom')), {
    log: {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: () => {
        throw new Error('disk full');
      },
      with(): never {
        return this as never;
      },
    },
  });
  source.put(thing('a'));
  source.sync();
  await expect(start()).rejects.toThrow('disk full');
});
