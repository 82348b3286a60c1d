import { expect, test } from 'vitest';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { type ApiCall, MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import type { NewEvent } from './event-correlator.ts';
import { EventRecorder, eventMetrics, type RecorderOptions, referenceTo } from './events.ts';
import { MemoryMetrics } from '../controller/metrics.ts';
import { events, nodes, type ObjectReference, secrets } from '../resources.ts';

const node: ObjectReference = { apiVersion: 'v1', kind: 'Node', name: 'win-1', uid: 'u1' };
const secret: ObjectReference = { apiVersion: 'v1', kind: 'Secret', name: 'key', namespace: 'ns', uid: 'u2' };
const setup: Omit<NewEvent, 'object'> = { type: 'Normal', reason: 'Setup', message: 'done' };

function bench(options: Partial<RecorderOptions> = {}) {
  const clock = manualClock();
  const api = new MemoryApi();
  const metrics = new MemoryMetrics();
  const { log, lines, messages } = recordedLog();
  const recorder = new EventRecorder({ client: api, component: 'wmco', clock, log, metrics, ...options });
  const stop = new AbortController();
  const state = { isOver: false };
  const start = async () => {
    void recorder.run(stop.signal, () => undefined).then(() => (state.isOver = true));
    await settle();
  };
  const written = () => api.all(events);
  const texts = () => written().map(({ message, count }) => `${count} ${message}`);
  const say = (message: string, object = node) => recorder.record(object, { ...setup, message });
  const dropped = (reason: string) => metrics.read(eventMetrics.dropped, { reason });
  return { clock, api, recorder, stop, state, start, written, texts, say, dropped, lines, messages, metrics };
}

test('writes an event as client-go does', async () => {
  const { recorder, start, written } = bench({ instance: 'pod-1' });
  await start();
  recorder.record(secret, { type: 'Warning', reason: 'Missing', message: 'there is no key' });
  await settle();
  const { name, ...metadata } = written()[0]?.metadata ?? {};
  expect(name).toMatch(/^key\.[0-9a-f]{16}$/);
  expect(metadata.namespace).toBe('ns');
  expect(written()).toMatchObject([
    {
      apiVersion: 'v1',
      kind: 'Event',
      involvedObject: secret,
      type: 'Warning',
      reason: 'Missing',
      message: 'there is no key',
      count: 1,
      firstTimestamp: '2026-03-01T12:00:00Z',
      lastTimestamp: '2026-03-01T12:00:00Z',
      source: { component: 'wmco', host: 'pod-1' },
      reportingComponent: 'wmco',
      reportingInstance: 'pod-1',
    },
  ]);
});

test('omits an unknown instance', async () => {
  const { start, say, written } = bench();
  await start();
  say('a');
  await settle();
  expect(written()).toMatchObject([{ source: { component: 'wmco' }, reportingInstance: '' }]);
  expect(written()[0]?.source).not.toHaveProperty('host');
});

test('events about objects without a namespace live in default', async () => {
  const { start, say, written } = bench();
  await start();
  say('a');
  await settle();
  expect(written()[0]?.metadata.namespace).toBe('default');
  expect(written()[0]?.involvedObject).toEqual(node);
});

test('an object without a uid is allowed', async () => {
  const { start, say, texts } = bench();
  await start();
  const { uid: _, ...nameless } = node;
  say('a', nameless);
  say('a', nameless);
  await settle();
  expect(texts()).toEqual(['2 a']);
});

test('counts up what is said again, with the time of the last', async () => {
  const { clock, start, say, written, api } = bench();
  await start();
  for (let times = 0; times < 3; times += 1) {
    say('a');
    await clock.advance(60_000);
  }
  expect(written()).toMatchObject([
    { count: 3, firstTimestamp: '2026-03-01T12:00:00Z', lastTimestamp: '2026-03-01T12:02:00Z', message: 'a' },
  ]);
  expect(api.calls.map(call => call.verb)).toEqual(['create', 'patch', 'patch']);
});

test('makes an event again that the server has forgotten', async () => {
  const { start, say, texts, api, written } = bench();
  await start();
  say('a');
  await settle();
  api.remove(events, written()[0]?.metadata.name ?? '', 'default');
  say('a');
  say('a');
  await settle();
  expect(texts()).toEqual(['2 a']);
});

test('combines many different messages, and shows the last', async () => {
  const { start, say, texts } = bench();
  await start();
  for (let index = 0; index < 12; index += 1) say(`m${index}`);
  await settle();
  expect(texts().slice(8)).toEqual(['1 m8', '3 (combined from similar events): m11']);
});

test('holds back what is too much about one object', async () => {
  const { start, say, texts, dropped } = bench();
  await start();
  for (let times = 0; times < 40; times += 1) say('a');
  await settle();
  expect([texts(), dropped('rate')]).toEqual([['25 a'], 15]);
});

test('keeps the order, however slow the server is', async () => {
  const { clock, api, start, say, texts } = bench();
  let busy = 0;
  api.before = async () => {
    busy += 1;
    expect(busy).toBe(1);
    await clock.sleep(100);
    busy -= 1;
  };
  await start();
  for (const message of ['c', 'a', 'b']) say(message);
  await clock.advance(1000);
  expect(texts()).toEqual(['1 c', '1 a', '1 b']);
});

test('remembers what is recorded before it runs', async () => {
  const { start, say, texts } = bench();
  say('early');
  await start();
  expect(texts()).toEqual(['1 early']);
});

test('the time of an event is when it was recorded, not when it was sent', async () => {
  const { clock, start, say, written } = bench();
  say('a');
  await clock.advance(90_000);
  await start();
  expect(written()).toMatchObject([{ firstTimestamp: '2026-03-01T12:00:00Z' }]);
});

const transient: [string, () => Error][] = [
  ['a broken connection', () => new Error('connection reset')],
  ['a server in trouble', () => refused(500, 'InternalError')],
  ['a busy server', () => refused(429, 'TooManyRequests')],
];
for (const [name, error] of transient) {
  test(`tries again after ${name}: after 1, 2, 4, 8, then every 10 seconds`, async () => {
    const { clock, api, start, say, texts } = bench();
    const times: number[] = [];
    api.before = () => {
      times.push(clock.monotonicMs() / 1000);
      if (times.length < 8) throw error();
    };
    await start();
    say('a');
    await clock.advance(60_000);
    expect([times, texts()]).toEqual([[0, 1, 3, 7, 15, 25, 35, 45], ['1 a']]);
  });
}

test('drops an event after twelve attempts, logs it and continues', async () => {
  const { clock, api, start, say, texts, dropped, lines } = bench();
  api.before = ({ body }) => {
    if (JSON.stringify(body).includes('bad')) throw refused(500, 'InternalError');
  };
  await start();
  say('bad');
  say('good');
  await clock.advance(120_000);
  expect([texts(), dropped('refused'), api.calls.length]).toEqual([['1 good'], 1, 13]);
  expect(lines.filter(line => line.level === 'warn')).toMatchObject([
    { fields: { message: 'bad', error: { code: 500 } } },
  ]);
});

const final: [number, string][] = [
  [400, 'BadRequest'],
  [403, 'Forbidden'],
  [404, 'NotFound'],
  [422, 'Invalid'],
];
for (const [code, reason] of final) {
  test(`a refusal with ${code} is final`, async () => {
    const { api, start, say, dropped } = bench();
    api.before = () => Promise.reject(refused(code, reason));
    await start();
    say('a');
    await settle();
    expect([api.calls.length, dropped('refused')]).toEqual([1, 1]);
  });
}

test('an event that was written although the answer was lost is counted once', async () => {
  const { clock, api, start, say, texts } = bench();
  let isLost = true;
  const create = api.create.bind(api);
  api.create = async (...call: Parameters<typeof create>) => {
    const answer = await create(...call);
    if (isLost) {
      isLost = false;
      throw new Error('connection reset');
    }
    return answer as never;
  };
  await start();
  say('a');
  await clock.advance(2000);
  say('a');
  await settle();
  expect(texts()).toEqual(['2 a']);
});

test('drops events beyond the queue limit', async () => {
  const { start, say, texts, dropped } = bench({ maxQueued: 3 });
  for (const message of ['a', 'b', 'c', 'd', 'e']) say(message);
  await start();
  expect([texts(), dropped('queue')]).toEqual([['1 a', '1 b', '1 c'], 2]);
});

test('sends what is left when it is stopped, and is then over', async () => {
  const { clock, api, start, stop, state, say, texts } = bench();
  api.before = () => clock.sleep(100);
  await start();
  for (const message of ['a', 'b', 'c']) say(message);
  stop.abort();
  await clock.advance(299);
  expect(state.isOver).toBe(false);
  await clock.advance(1);
  expect([state.isOver, texts(), clock.sleepers()]).toEqual([true, ['1 a', '1 b', '1 c'], 0]);
});

test('does not wait longer than allowed for a server that does not answer, and ends the call', async () => {
  const { clock, api, start, stop, state, say, dropped } = bench({ flushMs: 2000 });
  const signals: (AbortSignal | undefined)[] = [];
  api.before = (_: ApiCall, signal) => {
    signals.push(signal);
    return clock.sleep(60_000, signal);
  };
  await start();
  for (const message of ['a', 'b']) say(message);
  stop.abort();
  await clock.advance(2000);
  expect([state.isOver, signals[0]?.aborted, dropped('stopped'), clock.sleepers()]).toEqual([true, true, 2, 0]);
});

test('the order to stop shortens the wait for another try', async () => {
  const { clock, api, start, stop, state, say, texts } = bench();
  api.before = () => {
    if (api.calls.length < 4) throw refused(503, 'ServiceUnavailable');
  };
  await start();
  say('a');
  await clock.advance(1500);
  stop.abort();
  await clock.advance(500);
  expect([state.isOver, texts(), clock.sleepers()]).toEqual([true, ['1 a'], 0]);
});

test('run ends at once without events', async () => {
  const { clock, start, stop, state } = bench();
  stop.abort();
  await start();
  expect([state.isOver, clock.sleepers()]).toEqual([true, 0]);
});

test('drops events after the stop', async () => {
  const { start, stop, say, dropped, texts } = bench();
  await start();
  stop.abort();
  await settle();
  say('late');
  expect([dropped('stopped'), texts()]).toEqual([1, []]);
});

test('is ready at once, and counts what it sent', async () => {
  const { recorder, stop, say, metrics } = bench();
  let isReady = false;
  const over = recorder.run(stop.signal, () => (isReady = true));
  expect(isReady).toBe(true);
  say('a');
  say('b');
  stop.abort();
  await over;
  expect([recorder.name, metrics.read(eventMetrics.sent, {})]).toEqual(['events', 2]);
});

test('record never throws', async () => {
  const { recorder, start, messages } = bench();
  await start();
  recorder.record({}, setup);
  recorder.record(node, { ...setup, message: undefined as unknown as string });
  await settle();
  expect(messages('error')).toEqual(['Recording an event failed']);
});

test('a long message is cut', async () => {
  const { start, say, written } = bench();
  await start();
  say('x'.repeat(1024));
  say('y'.repeat(1025));
  await settle();
  expect(written().map(each => each.message)).toEqual(['x'.repeat(1024), `${'y'.repeat(1021)}...`]);
});

const names: [string, string, RegExp][] = [
  ['a usual name', 'win-1', /^win-1\.[0-9a-f]{16}$/],
  ['a name of several labels', 'win-1.example.com', /^win-1\.example\.com\.[0-9a-f]{16}$/],
  ['a name that is no host name', 'system:node', /^event\.[0-9a-f]{16}$/],
  ['no name', '', /^event\.[0-9a-f]{16}$/],
  ['the longest name', 'abcdefghij.'.repeat(22).slice(0, 253), /^(abcdefghij\.){21}abcde?\.?[0-9a-f]{16}$/],
];
for (const [name, object, want] of names) {
  test(`names an event about ${name}`, async () => {
    const { start, say, written } = bench();
    await start();
    say('a', { kind: 'Node', name: object });
    await settle();
    expect(written()[0]?.metadata.name).toMatch(want);
    expect(written()[0]?.metadata.name?.length).toBeLessThanOrEqual(253);
  });
}

test('two events of the same moment have different names', async () => {
  const { start, say, written } = bench();
  await start();
  say('a');
  say('b');
  await settle();
  expect(new Set(written().map(each => each.metadata.name)).size).toBe(2);
});

test('names an object out of a list by its resource', () => {
  const metadata = { name: 'win-1', uid: 'u1', resourceVersion: '7' };
  expect(referenceTo(nodes, { metadata })).toEqual({ ...node, resourceVersion: '7' });
  expect(referenceTo(secrets, { metadata: { name: 'key', namespace: 'ns' } })).toEqual({
    apiVersion: 'v1',
    kind: 'Secret',
    name: 'key',
    namespace: 'ns',
  });
});
