import { expect, test } from 'vitest';
import { apiWith } from '../../../test/kit/following.ts';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { refusal, ScriptedApi, type Thing, things } from '../../../test/kit/scripted-api.ts';
import { silentLog } from '../../base/log.ts';
import { type Handler, Informer } from './informer.ts';
import type { WatchSource } from '../controller/watches.ts';

function informerOf(api: ScriptedApi, more: { withoutRight?: string } = {}) {
  const [clock, errors, warnings] = [manualClock(), [] as string[], [] as string[]];
  const log = {
    ...silentLog,
    warn: (message: string) => void warnings.push(message),
    error: (message: string, fields = {}) => void errors.push(`${message} ${JSON.stringify(fields)}`),
  };
  log.with = () => log;
  const informer = new Informer<Thing>({ client: api, resource: things, clock, random: () => 0, log, ...more });
  return { clock, errors, warnings, informer };
}

/** A handler that writes down what it is told. */
function notes(): { told: string[]; handler: Required<Handler<Thing>> } {
  const told: string[] = [];
  const handler = {
    added: (object: Thing) => void told.push(`+${object.metadata.name}=${object.data.value}`),
    updated: (old: Thing, object: Thing) =>
      void told.push(`${object.metadata.name}:${old.data.value}>${object.data.value}`),
    deleted: (object: Thing) => void told.push(`-${object.metadata.name}=${object.data.value}`),
  };
  return { told, handler };
}

test('reports every handler of additions, changes with old and new, and deletions', async () => {
  const api = apiWith('a');
  const { informer } = informerOf(api);
  const [one, other] = [notes(), notes()];
  informer.addHandler(one.handler);
  informer.addHandler(other.handler);
  informer.start();
  await informer.synced;
  await settle();
  api.put('b', 1);
  api.put('a', 2);
  api.remove('b');
  await settle();
  expect(one.told).toEqual(['+a=0', '+b=1', 'a:0>2', '-b=1']);
  expect(other.told).toEqual(one.told);
  await informer.stop();
});

for (const isOptional of [true, false]) {
  test(`without the right to list it ${isOptional ? 'goes on where it can, and has the objects later' : 'waits'}`, async () => {
    const api = apiWith('a');
    api.streaming = refusal(403);
    api.fail('list', ...Array.from({ length: 20 }, () => refusal(403)));
    const more = isOptional ? { withoutRight: 'Things are forgotten.' } : {};
    const { informer, clock, warnings } = informerOf(api, more);
    const { told, handler } = notes();
    informer.addHandler(handler);
    let isSynced = false;
    void informer.synced.then(() => (isSynced = true));
    informer.start();
    await clock.advance(2000);
    expect(isSynced).toBe(false);
    await clock.advance(15_000);
    expect([isSynced, informer.hasSynced, told]).toEqual([isOptional, false, []]);
    const told403 = warnings.filter(text => text.includes('Things are forgotten.'));
    expect(told403).toHaveLength(isOptional ? 1 : 0);
    api.streaming = refusal(422);
    await clock.advance(120_000);
    expect([isSynced, informer.hasSynced, told]).toEqual([true, true, ['+a=0']]);
    await informer.stop();
  });
}

test('synced resolves when store and handlers have the initial objects', async () => {
  const { informer } = informerOf(apiWith('a', 'b'));
  const { told, handler } = notes();
  informer.addHandler({ ...handler, added: object => told.push(`${object.metadata.name} ${informer.hasSynced}`) });
  expect(informer.hasSynced).toBe(false);
  informer.start();
  await informer.synced;
  expect(informer.hasSynced).toBe(true);
  expect(told).toEqual(['a false', 'b false']);
  expect(informer.store.size).toBe(2);
  await informer.stop();
});

test('has synced with an empty server too', async () => {
  const { informer } = informerOf(new ScriptedApi());
  informer.start();
  await informer.synced;
  expect(informer.store.list()).toEqual([]);
  await informer.stop();
});

test('reports why it has not synced, and syncs later', async () => {
  const api = apiWith('a');
  api.fail('list', refusal(403), refusal(403));
  const { clock, informer } = informerOf(api);
  informer.start();
  await settle();
  expect([informer.hasSynced, informer.trouble]).toEqual([false, 'GET /things: refused with 403']);
  await clock.advance(5000);
  expect([informer.hasSynced, informer.trouble]).toEqual([true, undefined]);
  await informer.stop();
});

test('reports a late handler the content as additions, at once and only to it', async () => {
  const api = apiWith('a', 'b');
  const { informer } = informerOf(api);
  const [early, late] = [notes(), notes()];
  informer.addHandler(early.handler);
  informer.start();
  await informer.synced;
  await settle();
  api.put('a', 1);
  await settle();
  informer.addHandler(late.handler);
  expect(late.told).toEqual(['+a=1', '+b=0']);
  api.remove('b');
  await settle();
  expect(late.told).toEqual(['+a=1', '+b=0', '-b=0']);
  expect(early.told).toEqual(['+a=0', '+b=0', 'a:0>1', '-b=0']);
  await informer.stop();
});

test('a handler added by another handler gets no change twice', async () => {
  const { informer } = informerOf(apiWith('a', 'b', 'c'));
  const inner = notes();
  let isAdded = false;
  informer.addHandler({
    added: () => {
      if (!isAdded) informer.addHandler(inner.handler);
      isAdded = true;
    },
  });
  informer.start();
  await informer.synced;
  expect(inner.told).toEqual(['+a=0', '+b=0', '+c=0']);
  await informer.stop();
});

test('a removed handler gets no more changes', async () => {
  const api = apiWith('a', 'b');
  const { informer } = informerOf(api);
  const [other, told] = [notes(), [] as string[]];
  const remove = informer.addHandler({
    added: object => {
      told.push(object.metadata.name ?? '');
      remove();
    },
  });
  informer.addHandler(other.handler);
  informer.start();
  await informer.synced;
  await settle();
  api.put('c');
  await settle();
  expect(told).toEqual(['a']);
  expect(other.told).toEqual(['+a=0', '+b=0', '+c=0']);
  await informer.stop();
});

test('does with handlers that want to know only some of it', async () => {
  const api = apiWith('a');
  const { informer, errors } = informerOf(api);
  const deleted: string[] = [];
  informer.addHandler({ deleted: object => deleted.push(object.metadata.name ?? '') });
  informer.addHandler({});
  informer.start();
  await informer.synced;
  await settle();
  api.put('a', 1);
  api.remove('a');
  await settle();
  expect(deleted).toEqual(['a']);
  expect(errors).toEqual([]);
  await informer.stop();
});

const brokenHandlers: [name: string, fail: () => unknown][] = [
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
  [
    'throws nothing in particular',
    () => {
      throw undefined;
    },
  ],
];
for (const [name, fail] of brokenHandlers) {
  test(`contains a handler that ${name}: others are told, the stream goes on, it is logged and counted`, async () => {
    const api = apiWith('a');
    const { informer, errors } = informerOf(api);
    const other = notes();
    informer.addHandler({ added: fail, updated: fail, deleted: fail });
    informer.addHandler(other.handler);
    informer.start();
    await informer.synced;
    await settle();
    api.put('a', 1);
    api.remove('a');
    await settle();
    expect(other.told).toEqual(['+a=0', 'a:0>1', '-a=1']);
    expect(informer.counts).toMatchObject({ handlerErrors: 3, failures: 0, lists: 1, watches: 2, events: 2 });
    expect(errors).toHaveLength(3);
    expect(errors[0]).toContain('Handler failed {"change":"added","object":"ns/a"');
    await informer.stop();
  });
}

test('contains a late handler that throws while it is reported the content', async () => {
  const { informer } = informerOf(apiWith('a', 'b'));
  informer.start();
  await informer.synced;
  const remove = informer.addHandler({
    added: () => {
      throw new Error('broken');
    },
  });
  expect(informer.counts.handlerErrors).toBe(2);
  remove();
  await informer.stop();
});

test('does not wait for handlers that take long', async () => {
  const api = apiWith('a', 'b');
  const { informer } = informerOf(api);
  const told: string[] = [];
  informer.addHandler({ added: object => new Promise<never>(() => told.push(object.metadata.name ?? '')) });
  informer.start();
  await informer.synced;
  expect(told).toEqual(['a', 'b']);
  await informer.stop();
});

test('reports what was deleted and made again while it was cut off as two lives', async () => {
  const api = apiWith('a', 'b');
  const { clock, informer } = informerOf(api);
  const { told, handler } = notes();
  informer.addHandler(handler);
  informer.start();
  await informer.synced;
  await settle();
  api.endStreams(refusal(410, 'Expired'));
  api.remove('a');
  api.put('a', 5);
  api.remove('b');
  await clock.advance(5000);
  expect(told.slice(2)).toEqual(['-b=0', '-a=0', '+a=5']);
  await informer.stop();
});

test('a relist without changes calls no handler', async () => {
  const api = apiWith('a', 'b');
  const { clock, informer } = informerOf(api);
  const { told, handler } = notes();
  informer.addHandler(handler);
  informer.start();
  await informer.synced;
  await settle();
  const before = informer.store.get({ namespace: 'ns', name: 'a' });
  api.endStreams(refusal(410, 'Expired'));
  await clock.advance(5000);
  expect(informer.counts.lists).toBe(2);
  expect(told).toEqual(['+a=0', '+b=0']);
  expect(informer.store.get({ namespace: 'ns', name: 'a' })).toBe(before);
  await informer.stop();
});

test('serves its indexes from the store, also those that come late', async () => {
  const api = apiWith('a', 'b');
  const { informer } = informerOf(api);
  informer.addIndex('value', object => [String(object.data.value)]);
  informer.start();
  await informer.synced;
  await settle();
  api.put('b', 7);
  await settle();
  informer.addIndex('first letter', object => [object.metadata.name?.[0] ?? '']);
  expect(informer.store.byIndex('value', '7').map(object => object.metadata.name)).toEqual(['b']);
  expect(informer.store.byIndex('first letter', 'a')).toHaveLength(1);
  await informer.stop();
});

test('logs an object that an index cannot read and goes on', async () => {
  const { informer, errors } = informerOf(apiWith('a', 'b'));
  informer.addIndex('bad', () => {
    throw new Error('unreadable');
  });
  informer.start();
  await informer.synced;
  expect(informer.store.size).toBe(2);
  expect(errors).toHaveLength(2);
  expect(errors[0]).toContain('Indexing an object failed {"index":"bad","object":"ns/a"');
  await informer.stop();
});

test('all readers get the same frozen objects', async () => {
  const { informer } = informerOf(apiWith('a'));
  const seen: Thing[] = [];
  informer.addHandler({ added: object => seen.push(object) });
  informer.start();
  await informer.synced;
  const stored = informer.store.get({ namespace: 'ns', name: 'a' });
  expect(seen[0]).toBe(stored);
  expect(() => Object.assign(stored?.data ?? {}, { value: 1 })).toThrow(TypeError);
  await informer.stop();
});

test('starts once, however often it is reported to', async () => {
  const api = apiWith('a');
  const { informer } = informerOf(api);
  informer.start();
  informer.start();
  await informer.synced;
  await settle();
  expect(api.openStreams).toBe(1);
  await informer.stop();
  informer.start();
  await settle();
  expect(api.openStreams).toBe(0);
});

test('stop ends streams, timers and handlers; the store stays readable', async () => {
  const api = apiWith('a');
  const { clock, informer } = informerOf(api);
  const { told, handler } = notes();
  informer.addHandler(handler);
  informer.start();
  await informer.synced;
  await settle();
  await informer.stop();
  api.put('a', 1);
  await clock.advance(3_600_000);
  expect([api.openStreams, clock.sleepers()]).toEqual([0, 0]);
  expect(told).toEqual(['+a=0']);
  expect(informer.store.size).toBe(1);
  expect(informer.hasSynced).toBe(true);
});

test('synced rejects when the informer is stopped before', async () => {
  const api = apiWith('a');
  api.fail('list', refusal(500));
  const { informer } = informerOf(api);
  informer.start();
  await settle();
  await informer.stop();
  await expect(informer.synced).rejects.toThrow('the informer was stopped before it had synced');
});

test('a handler added after the stop gets the content and leaves no timer', async () => {
  const { clock, informer } = informerOf(apiWith('a'));
  informer.start();
  await informer.synced;
  await informer.stop();
  const { told, handler } = notes();
  informer.addHandler(handler)();
  await clock.advance(10_000);
  expect(told).toEqual(['+a=0']);
  expect(clock.sleepers()).toBe(0);
});

test('runs without clock, log and random numbers of its own', async () => {
  const api = apiWith('a');
  const informer = new Informer({ client: api, resource: things });
  informer.start();
  await informer.synced;
  expect(informer.store.list()).toHaveLength(1);
  await informer.stop();
});

test('is a source for controllers', async () => {
  const { informer } = informerOf(apiWith('a'));
  const source: WatchSource<Thing> = informer;
  informer.start();
  await source.synced;
  expect(source.store.list()).toHaveLength(1);
  await informer.stop();
});
