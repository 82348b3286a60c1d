import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { apiWith, follow, reset } from '../../../test/kit/following.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refusal, ScriptedApi, type Thing, things } from '../../../test/kit/scripted-api.ts';
import { Reflector } from './reflector.ts';

test('lists, then watches from where the list was', async () => {
  const api = apiWith('a', 'b');
  const { values, calls, stop, reflector } = await follow(api);
  api.put('c', 3);
  api.put('a', 1);
  api.remove('b');
  await settle();
  expect(values()).toEqual({ a: 1, c: 3 });
  expect(calls()).toEqual(['watch+initial@', 'list@0', 'watch@102']);
  expect(reflector.counts).toEqual({ lists: 1, watches: 2, events: 3, failures: 0, ignored: 0 });
  await stop();
});

test('hands over frozen objects without managedFields, from lists and from events', async () => {
  const api = apiWith('listed');
  const { seen, stop } = await follow(api);
  api.put('watched');
  await settle();
  for (const name of ['ns/listed', 'ns/watched']) {
    const object = seen.get(name);
    expect(object?.metadata).not.toHaveProperty('managedFields');
    expect([object, object?.metadata, object?.data].every(Object.isFrozen)).toBe(true);
  }
  await stop();
});

test('passes its scope on to every call, asks for bookmarks and for watches of 5 to 10 minutes', async () => {
  const scope = { namespace: 'ns', labelSelector: 'a=b', fieldSelector: 'metadata.name=x' };
  for (const [random, timeoutSeconds] of [
    [0, 300],
    [0.5, 450],
    [0.999, 600],
  ] as const) {
    const api = new ScriptedApi();
    const { stop } = await follow(api, { scope, random: () => random });
    const [initial, list, watch] = api.calls.map(call => call.options);
    expect(initial).toMatchObject({ ...scope, sendInitialEvents: true, allowWatchBookmarks: true, timeoutSeconds });
    expect(list).toMatchObject({ ...scope, limit: 500, resourceVersion: '0' });
    expect(watch).toMatchObject({ ...scope, resourceVersion: '100', allowWatchBookmarks: true, timeoutSeconds });
    await stop();
  }
});

test('lists in pages', async () => {
  const api = apiWith(...Array.from({ length: 1201 }, (_, index) => `n${index}`));
  const { seen, calls, stop } = await follow(api);
  expect(seen.size).toBe(1201);
  expect(calls().filter(call => call.startsWith('list'))).toEqual(['list@0', 'list@', 'list@']);
  await stop();
});

test('lists without pages after pages were too slow for the server, then in pages again', async () => {
  const api = apiWith('a');
  api.fail('list', refusal(410, 'Expired'));
  const { clock, values, stop } = await follow(api);
  await clock.advance(1000);
  expect(values()).toEqual({ a: 0 });
  api.compact();
  api.fail('watch', refusal(410, 'Expired'));
  api.endStreams(reset());
  await clock.advance(10_000);
  const limits = api.calls.flatMap(call => (call.verb === 'list' ? [call.options.limit] : []));
  expect(limits).toEqual([500, undefined, 500]);
  await stop();
});

test('takes the cache of the server for the first list only', async () => {
  const api = apiWith('a');
  api.fail('list', refusal(500), refusal(500));
  const { clock, calls, stop } = await follow(api);
  await clock.advance(10_000);
  expect(calls().filter(call => call.startsWith('list'))).toEqual(['list@0', 'list@', 'list@']);
  await stop();
});

const interruptions: [name: string, error: Error | undefined][] = [
  ['a reset connection', reset()],
  ['a 500 on the stream', refusal(500)],
  ['a 429', refusal(429, 'TooManyRequests')],
  ['an expired token', refusal(401, 'Unauthorized')],
  ['a right that is taken away', refusal(403, 'Forbidden')],
  ['a 503', refusal(503)],
  ['an end in good order right after the beginning', undefined],
];
for (const [name, error] of interruptions) {
  test(`goes on where it was after ${name}`, async () => {
    const api = apiWith('a');
    const { clock, values, calls, stop, reflector } = await follow(api);
    api.put('a', 1);
    await settle();
    api.put('lost on its way', 2);
    api.endStreams(error);
    api.put('written meanwhile', 3);
    await settle();
    expect(api.openStreams).toBe(0);
    await clock.advance(800);
    expect(values()).toEqual({ a: 1, 'lost on its way': 2, 'written meanwhile': 3 });
    expect(calls().slice(2)).toEqual(['watch@101', 'watch@102']);
    expect(reflector.counts).toMatchObject({ failures: 1, lists: 1 });
    await stop();
  });
}

test('goes on at once when the server ends a watch in its time', async () => {
  const api = apiWith('a');
  const { clock, calls, stop, reflector } = await follow(api);
  await clock.advance(300_000);
  api.endStreams();
  await settle();
  expect(calls().slice(2)).toEqual(['watch@101', 'watch@101']);
  expect(reflector.counts.failures).toBe(0);
  await stop();
});

const lostPositions: [name: string, error: Error][] = [
  ['410 Expired', refusal(410, 'Expired')],
  ['410 Gone', refusal(410, 'Gone')],
  [
    'a position the server has not reached',
    refusal(504, 'Timeout', { causes: [{ reason: 'ResourceVersionTooLarge' }] }),
  ],
  ['404, as when a definition was made anew', refusal(404, 'NotFound')],
  ['400', refusal(400, 'BadRequest')],
];
for (const [name, error] of lostPositions) {
  test(`lists again after ${name}, and finds what was deleted meanwhile`, async () => {
    const api = apiWith('stays', 'goes');
    const { clock, values, calls, stop } = await follow(api);
    api.endStreams(error);
    api.remove('goes');
    api.put('comes', 1);
    await clock.advance(800);
    expect(values()).toEqual({ stays: 0, comes: 1 });
    expect(calls().slice(3)).toEqual(['list@', 'watch@104']);
    await stop();
  });
}

test('gets a 410 of the server itself when the history it needs is forgotten', async () => {
  const api = apiWith('a');
  const { clock, values, calls, stop } = await follow(api);
  api.endStreams(reset());
  await settle();
  api.remove('a');
  api.put('b', 1);
  api.compact();
  await clock.advance(5000);
  expect(values()).toEqual({ b: 1 });
  expect(calls().slice(3)).toEqual(['watch@101', 'list@', 'watch@103']);
  await stop();
});

test('lists again at once when history is lost, but not again and again', async () => {
  const api = apiWith('a');
  const { clock, stop, reflector, log } = await follow(api, { random: () => 1 });
  const waits = () => log.flatMap(({ fields }) => ('waitMs' in fields ? [fields.waitMs] : []));
  for (let round = 0; round < 3; round += 1) {
    api.endStreams(refusal(410, 'Expired'));
    await clock.advance(2000);
  }
  expect(waits()).toEqual([0, 800, 1600]);
  await clock.advance(30_000);
  api.endStreams(refusal(410, 'Expired'));
  await settle();
  expect(waits()).toEqual([0, 800, 1600, 0]);
  expect(reflector.counts).toMatchObject({ lists: 5, failures: 4 });
  await stop();
});

test('does not list at once when the list itself is what expired', async () => {
  const api = apiWith('a');
  api.fail('list', refusal(410, 'Expired'));
  const { calls, stop } = await follow(api);
  expect(calls()).toEqual(['watch+initial@', 'list@0']);
  await stop();
});

test('moves on by bookmarks', async () => {
  const api = apiWith('a');
  const { clock, calls, stop } = await follow(api);
  api.bookmark();
  api.bookmark();
  await settle();
  api.compact();
  api.endStreams(reset());
  await clock.advance(800);
  expect(calls().slice(3)).toEqual(['watch@103']);
  await stop();
});

test('moves on only after an event was applied', async () => {
  const api = apiWith('a');
  const applied: string[] = [];
  let isBroken = true;
  const sink = {
    replaceAll: () => undefined,
    put: (object: Thing) => {
      if (isBroken) throw new Error('no room');
      applied.push(object.metadata.name ?? '');
    },
    remove: () => undefined,
  };
  const { clock, calls, stop, reflector } = await follow(api, { sink });
  api.put('b');
  await settle();
  isBroken = false;
  expect(reflector.trouble).toBe('no room');
  await clock.advance(800);
  expect(applied).toEqual(['b']);
  expect(calls().slice(2)).toEqual(['watch@101', 'watch@101']);
  await stop();
});

test('never moves back, even if an event is dated earlier', async () => {
  const api = apiWith('a');
  const { clock, calls, stop } = await follow(api);
  api.send({
    type: 'DELETED',
    object: { metadata: { name: 'a', namespace: 'ns', resourceVersion: '7' }, data: { value: 0 } },
  });
  await settle();
  api.endStreams(reset());
  await clock.advance(800);
  expect(calls().at(-1)).toBe('watch@101');
  await stop();
});

test('ignores events without name or version, and counts them', async () => {
  const api = apiWith('a');
  const { values, stop, reflector } = await follow(api);
  for (const object of [{}, { metadata: {} }, { metadata: null }] as Thing[]) {
    for (const type of ['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK'] as const) api.send({ type, object });
  }
  api.put('b', 1);
  await settle();
  expect(values()).toEqual({ a: 0, b: 1 });
  expect(reflector.counts).toMatchObject({ ignored: 9, failures: 0 });
  await stop();
});

test('doubts its position after eight failures in a row without progress', async () => {
  const api = apiWith('a');
  const { clock, calls, stop } = await follow(api);
  api.fail('watch', ...Array.from({ length: 7 }, reset));
  api.endStreams(reset());
  await clock.advance(60_000);
  expect(calls().slice(2)).toEqual([...Array.from({ length: 8 }, () => 'watch@101'), 'list@', 'watch@101']);
  await stop();
});

test('keeps its position when failures alternate with progress', async () => {
  const api = apiWith('a');
  const { clock, stop, reflector } = await follow(api);
  for (let round = 0; round < 12; round += 1) {
    api.put('a', round);
    await settle();
    api.endStreams(reset());
    await clock.advance(10_000);
  }
  expect(reflector.counts).toMatchObject({ lists: 1, failures: 12 });
  await stop();
});

test('waits longer and longer, up to 5 s, and soon again after two good minutes', async () => {
  const api = apiWith('a');
  api.fail('list', ...Array.from({ length: 7 }, () => refusal(500)));
  const { clock, stop, log } = await follow(api, { random: () => 1 });
  await clock.advance(60_000);
  await clock.advance(120_000);
  api.endStreams(reset());
  await clock.advance(800);
  const waits = log.flatMap(({ fields }) => ('waitMs' in fields ? [fields.waitMs] : []));
  expect(waits).toEqual([800, 1600, 3200, 5000, 5000, 5000, 5000, 800]);
  expect(api.openStreams).toBe(1);
  await stop();
});

test('waits as long as the server asks', async () => {
  const api = apiWith('a');
  api.fail('list', refusal(429, 'TooManyRequests', { retryAfterSeconds: 20 }));
  const { clock, values, stop } = await follow(api);
  await clock.advance(19_999);
  expect(values()).toEqual({});
  await clock.advance(1);
  expect(values()).toEqual({ a: 0 });
  await stop();
});

test('does not call in a storm a server that ends every watch at once', async () => {
  const api = apiWith('a');
  const { clock, stop } = await follow(api);
  for (let second = 0; second < 120; second += 1) {
    api.endStreams();
    await clock.advance(1000);
  }
  expect(api.calls.length).toBeLessThan(60);
  await stop();
});

test('reconnects when the server neither sends nor ends within the time agreed', async () => {
  const api = apiWith('a');
  const { clock, values, stop, reflector } = await follow(api);
  api.cutStreams();
  api.put('a', 1);
  await clock.advance(329_999);
  expect(reflector.counts).toMatchObject({ failures: 0, watches: 2 });
  await clock.advance(1000);
  expect(values()).toEqual({ a: 1 });
  expect(reflector.counts).toMatchObject({ failures: 1, watches: 3, lists: 1 });
  await stop();
});

test('does not care for jumps of the wall clock', async () => {
  const api = apiWith('a');
  const { clock, values, stop, reflector } = await follow(api);
  for (const jumpMs of [86_400_000, -2 * 86_400_000]) {
    clock.jump(jumpMs);
    api.put('a', jumpMs);
    await clock.advance(5000);
    expect(values()).toEqual({ a: jumpMs });
  }
  expect(reflector.counts).toMatchObject({ failures: 0, watches: 2 });
  await stop();
});

test('reports what troubles it until the server answers again, and warns once about the same thing', async () => {
  const api = apiWith('a');
  api.fail('list', refusal(403), refusal(403), refusal(403), refusal(500));
  const { clock, reflector, log, stop } = await follow(api);
  expect(reflector.trouble).toBe('GET /things: refused with 403');
  await clock.advance(30_000);
  expect(reflector.trouble).toBeUndefined();
  const levels = log.filter(({ fields }) => 'waitMs' in fields).map(({ level }) => level);
  expect(levels).toEqual(['warn', 'debug', 'debug', 'warn']);
  await stop();
});

const moments: [name: string, prepare: (api: ScriptedApi) => void][] = [
  ['it watches', () => undefined],
  ['it waits after a failure', api => api.fail('list', reset())],
  ['it streams all objects', api => void (api.streaming = 'silent')],
];
for (const [name, prepare] of moments) {
  test(`stops cleanly while ${name}`, async () => {
    const api = apiWith('a');
    prepare(api);
    const { clock, stop, stopping } = await follow(api);
    await stop();
    const calls = api.calls.length;
    await clock.advance(3_600_000);
    expect([api.openStreams, clock.sleepers(), api.calls.length - calls]).toEqual([0, 0, 0]);
    expect(getEventListeners(stopping.signal, 'abort')).toEqual([]);
  });
}

test('stops cleanly while it lists', async () => {
  const api = apiWith('a');
  const { promise, resolve } = Promise.withResolvers<void>();
  const list: ScriptedApi['list'] = async (resource, options) => {
    await promise;
    return api.list(resource, options);
  };
  const { stopping, running, seen, clock } = await follow(api, { client: { list, watch: api.watch.bind(api) } });
  stopping.abort();
  resolve();
  await running;
  expect([seen.size, api.openStreams, clock.sleepers()]).toEqual([0, 0, 0]);
});

test('run ends at once when the signal is aborted already', async () => {
  const api = apiWith('a');
  const sink = { replaceAll: () => undefined, put: () => undefined, remove: () => undefined };
  await new Reflector<Thing>({ client: api, resource: things, sink }).run(AbortSignal.abort());
  expect(api.calls).toEqual([]);
});

test('leaves neither timers nor listeners behind in a thousand reconnects', async () => {
  const api = apiWith('a');
  const { clock, stop, stopping, values } = await follow(api);
  for (let round = 0; round < 1000; round += 1) {
    api.put('a', round);
    api.endStreams(round % 2 === 0 ? reset() : undefined);
    await clock.advance(10_000);
  }
  expect(values()).toEqual({ a: 999 });
  expect(clock.sleepers()).toBe(1);
  expect(getEventListeners(stopping.signal, 'abort').length).toBeLessThanOrEqual(1);
  await stop();
});
