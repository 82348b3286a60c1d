import { expect, test } from 'vitest';
import { controllerBench, heldPasses, thing } from '../../../test/kit/controller-bench.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { MemoryInformer } from '../../../test/kit/memory-informer.ts';
import { key } from '../../../test/kit/queue-bench.ts';
import { ApiError } from '../api-error.ts';
import { Controller, controllerMetrics } from './controller.ts';
import { queueMetrics } from '../queue/queue.ts';
import { after, done, type Outcome, type Pass, type Reconcile, TerminalError } from './reconcile.ts';
import { watching } from './watches.ts';

const labels = { controller: 'things' };

/** A reconcile that answers from a list, and then is done. */
function answering(...answers: (Outcome | Error)[]) {
  const calls: { name: string; pass: Pass; atMs: number }[] = [];
  const reconcile: Reconcile = async ({ name }, pass) => {
    calls.push({ name, pass, atMs: 0 });
    const answer = answers.shift() ?? done;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  return { reconcile, names: () => calls.map(call => call.name), calls };
}

test('reconciles what is there, and what changes, by its key', async () => {
  const { reconcile, names } = answering();
  const { source, startSynced } = controllerBench(reconcile);
  source.put(thing('a'));
  await startSynced();
  await settle();
  source.put(thing('b'));
  source.put(thing('a', 2));
  await settle();
  source.remove(key('b'));
  await settle();
  expect(names()).toEqual(['a', 'b', 'a', 'b']);
});

test('does not begin before every source is in step', async () => {
  const { reconcile, names } = answering();
  const [one, other] = [new MemoryInformer(), new MemoryInformer()];
  const { state, start } = controllerBench(reconcile, {
    watches: [watching({ source: one }), watching({ source: other })],
  });
  one.put(thing('a'));
  void start();
  one.sync();
  await settle();
  expect([names(), state.isReady]).toEqual([[], false]);
  other.put(thing('a', 2));
  other.sync();
  await settle();
  expect([names(), state.isReady]).toEqual([['a'], true]);
});

test('fails when its sources are not in step in time, and names the remedy', async () => {
  const { clock, source, start, state } = controllerBench(async () => done, { syncTimeoutMs: 5000 });
  const over = start();
  await clock.advance(4999);
  expect(state.isOver).toBe(false);
  await clock.advance(1);
  await expect(over).rejects.toMatchObject({
    code: 'SYNC_TIMEOUT',
    message: expect.stringMatching(/things.*5 s/),
    remedy: expect.stringContaining('permission'),
  });
  expect([clock.sleepers(), source.handlerCount]).toEqual([0, 0]);
});

test('fails when a source does', async () => {
  const { source, start } = controllerBench(async () => done);
  const over = start();
  source.failSync(new Error('the informer was stopped'));
  await expect(over).rejects.toThrow('the informer was stopped');
});

test('can be stopped before its sources are in step', async () => {
  const { clock, source, start, stop, state } = controllerBench(async () => done);
  const over = start();
  await settle();
  stop.abort();
  await over;
  expect([state.isReady, clock.sleepers(), source.handlerCount]).toEqual([false, 0, 0]);
});

test('requeues after the given time and logs why at debug level', async () => {
  const { reconcile, names } = answering(after(30_000, 'another node is being upgraded'));
  const { clock, source, startSynced, lines } = controllerBench(reconcile);
  source.put(thing('a'));
  await startSynced();
  await clock.advance(29_999);
  expect(names()).toEqual(['a']);
  await clock.advance(1);
  expect(names()).toEqual(['a', 'a']);
  expect(lines).toMatchObject([{ level: 'debug', fields: { why: 'another node is being upgraded', afterMs: 30_000 } }]);
});

test('a change comes before the end of a wait, and the wait is then over', async () => {
  const { reconcile, names } = answering(after(30_000, 'x'));
  const { clock, source, startSynced } = controllerBench(reconcile);
  source.put(thing('a'));
  await startSynced();
  await clock.advance(1000);
  source.put(thing('a', 2));
  await settle();
  expect(names()).toEqual(['a', 'a']);
  await clock.advance(60_000);
  expect(names()).toEqual(['a', 'a']);
});

test('an immediate requeue does not starve other keys', async () => {
  const { reconcile, names } = answering(after(0, 'x'));
  const { clock, source, startSynced } = controllerBench(reconcile);
  for (const name of ['a', 'b']) source.put(thing(name));
  await startSynced();
  await clock.advance(5);
  expect(names()).toEqual(['a', 'b', 'a']);
});

test('retries with backoff, which a success resets', async () => {
  const boom = new Error('boom');
  const { reconcile, calls } = answering(boom, boom, boom, done, boom);
  const { clock, source, startSynced, lines } = controllerBench(reconcile, { queue: { firstRetryMs: 100 } });
  source.put(thing('a'));
  await startSynced();
  await clock.advance(699);
  expect(calls.length).toBe(3);
  await clock.advance(1);
  source.put(thing('a', 2));
  await clock.advance(1000);
  expect(calls.map(call => call.pass.attempt)).toEqual([1, 2, 3, 4, 1, 2]);
  expect(lines.map(line => line.fields['retryInMs'])).toEqual([100, 200, 400, 100]);
  expect(lines[0]).toMatchObject({
    level: 'error',
    message: 'Reconcile failed; retrying',
    fields: { error: boom, attempt: 1 },
  });
});

test('a change resets the backoff only if its watch does', async () => {
  const attempts = async (resetsBackoff: boolean) => {
    const { reconcile, calls } = answering(...Array.from({ length: 9 }, () => new Error('boom')));
    const source = new MemoryInformer();
    const watches = [watching({ source, resetsBackoff })];
    const { clock, start } = controllerBench(reconcile, { watches, queue: { firstRetryMs: 100 } });
    source.put(thing('a'));
    source.sync();
    void start();
    await clock.advance(350);
    source.put(thing('a', 2));
    await clock.advance(100);
    return calls.map(call => call.pass.attempt);
  };
  expect(await attempts(false)).toEqual([1, 2, 3, 4]);
  expect(await attempts(true)).toEqual([1, 2, 3, 1, 2]);
});

test('a wait ends a series of failures', async () => {
  const { reconcile, calls } = answering(new Error('boom'), after(10, 'x'), new Error('boom'));
  const { clock, source, startSynced } = controllerBench(reconcile);
  source.put(thing('a'));
  await startSynced();
  await clock.advance(1000);
  expect(calls.map(call => call.pass.attempt)).toEqual([1, 2, 1, 2]);
});

test('does not try again after a terminal error, until something changes', async () => {
  const { reconcile, calls } = answering(new Error('boom'), new TerminalError('never'));
  const { clock, source, startSynced, messages, metrics } = controllerBench(reconcile);
  source.put(thing('a'));
  await startSynced();
  await clock.advance(3_600_000);
  expect(calls.length).toBe(2);
  expect(messages('error')[1]).toContain('not retrying');
  expect(metrics.read(controllerMetrics.terminal, labels)).toBe(1);
  source.put(thing('a', 2));
  await settle();
  expect([calls.length, calls[2]?.pass.attempt]).toEqual([3, 1]);
});

const mishaps: [string, Reconcile, string][] = [
  ['throws a text', () => Promise.reject('boom'), 'the pass threw "boom"'],
  [
    'throws before its first await',
    () => {
      throw new TypeError('x is undefined');
    },
    'x is undefined',
  ],
  ['ends with nothing', async () => undefined as unknown as Outcome, 'not an outcome'],
];
for (const [name, mishap, message] of mishaps) {
  test(`a pass that ${name} is tried again, and other keys do not suffer`, async () => {
    const seen: string[] = [];
    const reconcile: Reconcile = (each, pass) => {
      seen.push(each.name);
      return each.name === 'bad' && seen.length === 1 ? mishap(each, pass) : Promise.resolve(done);
    };
    const { clock, source, startSynced, lines, metrics } = controllerBench(reconcile);
    for (const each of ['bad', 'good']) source.put(thing(each));
    await startSynced();
    await clock.advance(5);
    expect(seen).toEqual(['bad', 'good', 'bad']);
    expect(lines).toMatchObject([{ level: 'error', fields: { error: { message: expect.stringContaining(message) } } }]);
    expect(metrics.read(controllerMetrics.panics, labels)).toBe(1);
  });
}

test('each pass has an id, and a log that names controller, key and id', async () => {
  const { reconcile, calls } = answering();
  const { source, startSynced, lines } = controllerBench(async (each, pass) => {
    pass.log.info('Configuring');
    return reconcile(each, pass);
  });
  for (const name of ['a', 'b']) source.put({ metadata: { name, namespace: 'x' } });
  await startSynced();
  await settle();
  expect(calls.map(call => call.pass.id)).toEqual(['id-1', 'id-2']);
  expect(lines.map(line => line.fields)).toEqual([
    { controller: 'things', key: 'x/a', reconcileId: 'id-1' },
    { controller: 'things', key: 'x/b', reconcileId: 'id-2' },
  ]);
});

test('ids are different by themselves', async () => {
  const ids: string[] = [];
  const source = new MemoryInformer();
  const controller = new Controller({
    name: 'things',
    watches: [watching({ source })],
    reconcile: async (_, { id }) => [ids.push(id), done][1] as Outcome,
  });
  for (const name of ['a', 'b']) source.put(thing(name));
  source.sync();
  const stop = new AbortController();
  const over = controller.run(stop.signal, () => undefined);
  await settle();
  stop.abort();
  await over;
  expect(new Set(ids).size).toBe(2);
  expect(ids[0]).toMatch(/^[0-9a-f-]{36}$/);
});

for (const concurrency of [1, 3]) {
  test(`works on ${concurrency} at once and no more`, async () => {
    const { reconcile, running, release, most } = heldPasses();
    const { source, startSynced, metrics } = controllerBench(reconcile, { concurrency });
    for (let index = 0; index < 7; index += 1) source.put(thing(`k${index}`));
    await startSynced();
    await settle();
    expect(metrics.read(controllerMetrics.active, labels)).toBe(concurrency);
    for (let index = 0; index < 7; index += 1) await release([...running.keys()][0] ?? '');
    expect([most(), metrics.read(controllerMetrics.workers, labels)]).toEqual([concurrency, concurrency]);
    expect(metrics.read(controllerMetrics.active, labels)).toBe(0);
  });
}

test('a key that changes during its pass has another one afterwards, not beside it', async () => {
  const { reconcile, running, release, most } = heldPasses();
  const { source, startSynced } = controllerBench(reconcile, { concurrency: 5 });
  source.put(thing('a'));
  await startSynced();
  await settle();
  source.put(thing('a', 2));
  await settle();
  expect(running.size).toBe(1);
  await release('a');
  expect([[...running.keys()], most()]).toEqual([['a'], 1]);
});

test('can be given keys that no source knows', async () => {
  const { reconcile, names } = answering();
  const { controller, startSynced, stop, state } = controllerBench(reconcile);
  await startSynced();
  await settle();
  expect(controller.enqueue(key('z'))).toBe(true);
  await settle();
  stop.abort();
  await settle();
  expect([names(), controller.enqueue(key('z')), state.isOver]).toEqual([['z'], false, true]);
});

test('a pass that exceeds its deadline is retried', async () => {
  const attempts: number[] = [];
  const { clock, source, startSynced, lines } = controllerBench(
    async (_, { signal, attempt }) => {
      attempts.push(attempt);
      if (attempt === 1) await clock.sleep(60_000, signal);
      return done;
    },
    { passTimeoutMs: 1000 },
  );
  source.put(thing('a'));
  await startSynced();
  await clock.advance(1005);
  expect(attempts).toEqual([1, 2]);
  expect(lines).toMatchObject([{ message: 'Reconcile failed; retrying', fields: { error: { code: 'PASS_TIMEOUT' } } }]);
  expect(clock.sleepers()).toBe(0);
});

test('counts what passes ended with, and how long they took', async () => {
  const answers = [done, after(10, 'x'), done, new Error('boom'), done];
  const { reconcile } = answering(...answers);
  const { clock, source, startSynced, metrics } = controllerBench(reconcile);
  for (const name of ['a', 'b']) source.put(thing(name));
  await startSynced();
  await clock.advance(100);
  source.put(thing('a', 2));
  await clock.advance(100);
  const results = ['success', 'requeue_after', 'error'].map(result =>
    metrics.read(controllerMetrics.passes, { ...labels, result }),
  );
  expect(results).toEqual([3, 1, 1]);
  expect(metrics.read(controllerMetrics.errors, labels)).toBe(1);
  expect(metrics.read(controllerMetrics.panics, labels)).toBe(0);
  expect(metrics.read(controllerMetrics.seconds, labels)).toBe(5);
  expect(metrics.read(queueMetrics.adds, { name: 'things' })).toBe(5);
});

test('no pass begins after the controller was stopped', async () => {
  const started: boolean[] = [];
  const stop = new AbortController();
  const controller = new Controller({
    name: 'things',
    watches: [],
    reconcile: async (_key, { signal }) => {
      started.push(stop.signal.aborted && !signal.aborted);
      return done;
    },
  });
  const running = controller.run(stop.signal, () => undefined);
  await settle();
  controller.enqueue(key('a'));
  await Promise.resolve();
  stop.abort(new Error('leadership lost'));
  await running;
  await settle();
  expect(started).not.toContain(true);
});

const goneNamespaces: [about: string, error: ApiError][] = [
  [
    'is being deleted',
    new ApiError({ code: 403, reason: 'Forbidden', details: { causes: [{ reason: 'NamespaceTerminating' }] } }, 'POST'),
  ],
  ['does not exist', new ApiError({ code: 404, reason: 'NotFound', details: { kind: 'namespaces' } }, 'POST')],
];
for (const [about, error] of goneNamespaces) {
  test(`a failure because the namespace ${about} is retried and no error of the log`, async () => {
    const { reconcile, names } = answering(error);
    const { source, startSynced, clock, messages } = controllerBench(reconcile);
    source.put(thing('a'));
    await startSynced();
    await clock.advance(1000);
    expect(names()).toEqual(['a', 'a']);
    expect([messages('error'), messages('debug')]).toEqual([[], ['Reconcile failed; retrying']]);
  });
}
