import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { fastClock } from '../../../test/kit/fast-clock.ts';
import { clientTo, nodes } from '../../../test/kit/scripted-client.ts';
import { type Answer, json, streamOf } from '../../../test/kit/tls-server.ts';
import type { WatchOptions } from '../client.ts';
import type { ClientOptions } from '../http-client.ts';

/** On a fast clock, for what must not end before its time on a busy machine. */
const patientMs = 10_000_000;
const event = (type: string, name: string, more = {}) =>
  `${JSON.stringify({ type, object: { metadata: { name, ...more } } })}\n`;

/** Watches a stream that the test writes, and gives the events as short texts. */
async function watched(
  write: (answer: Answer) => unknown,
  options: WatchOptions = {},
  clientOptions: ClientOptions = {},
) {
  const { client, server } = await clientTo((_, answer) => void write(answer), clientOptions);
  const events: string[] = [];
  const done = (async () => {
    for await (const { type, object } of client.watch(nodes, options)) events.push(`${type} ${object.metadata.name}`);
  })();
  return { events, done, server };
}

const queries: [string, WatchOptions, Record<string, string>][] = [
  ['nothing', {}, { watch: 'true' }],
  [
    'a version and selectors',
    { resourceVersion: '5', labelSelector: 'a=b', fieldSelector: 'c=d' },
    { watch: 'true', resourceVersion: '5', labelSelector: 'a=b', fieldSelector: 'c=d' },
  ],
  [
    'a length and bookmarks',
    { timeoutSeconds: 300, allowWatchBookmarks: true },
    { watch: 'true', timeoutSeconds: '300', allowWatchBookmarks: 'true' },
  ],
  [
    'the objects that exist',
    { sendInitialEvents: true, allowWatchBookmarks: true },
    { watch: 'true', allowWatchBookmarks: 'true', sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan' },
  ],
];
for (const [name, options, want] of queries) {
  test(`asks for ${name}`, async () => {
    const { done, server } = await watched(answer => answer.end(), options);
    await done;
    expect(Object.fromEntries(new URL(server.seen[0]?.path ?? '', 'https://x').searchParams)).toEqual(want);
  });
}

test('sends no request before the first read', async () => {
  const { client, server } = await clientTo((_, answer) => void answer.end());
  const watch = client.watch(nodes);
  await delay(20);
  expect(server.seen).toEqual([]);
  for await (const _ of watch) expect.unreachable();
  expect(server.seen).toHaveLength(1);
});

test('can be read again, as a new stream', async () => {
  const { client, server } = await clientTo((_, answer) => void answer.end(event('ADDED', 'a')));
  const watch = client.watch(nodes);
  for (let turn = 0; turn < 2; turn += 1) for await (const { type } of watch) expect(type).toBe('ADDED');
  expect(server.seen).toHaveLength(2);
});

test('gives events as they come and ends when the server ends the stream', async () => {
  const { events, done } = await watched(async answer => {
    answer.write(event('ADDED', 'a') + event('MODIFIED', 'b'));
    answer.write(event('DELETED', 'c').slice(0, 20));
    await delay(20);
    answer.write(event('DELETED', 'c').slice(20));
    answer.end(event('BOOKMARK', 'd'));
  });
  await done;
  expect(events).toEqual(['ADDED a', 'MODIFIED b', 'DELETED c', 'BOOKMARK d']);
});

test('removes managedFields from watched objects', async () => {
  const managedFields = [{ manager: 'x' }];
  const { client } = await clientTo((_, answer) => void answer.end(event('ADDED', 'a', { managedFields })));
  const objects = await Array.fromAsync(client.watch(nodes), ({ object }) => object);
  expect(objects.map(({ metadata }) => 'managedFields' in metadata)).toEqual([false]);
});

test('gives a bookmark without metadata as it is', async () => {
  const { client } = await clientTo((_, answer) => void answer.end('{"type":"BOOKMARK","object":{}}\n'));
  for await (const { object } of client.watch(nodes)) expect(object).toEqual({});
});

const failures: [string, string, object][] = [
  [
    'an expired version',
    '{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired","message":"too old"}}\n',
    { name: 'ApiError', code: 410, reason: 'Expired', message: 'WATCH /api/v1/nodes: too old' },
  ],
  [
    'an event nobody knows',
    '{"type":"OTHER","object":{}}\n',
    { code: 'API_ANSWER_INVALID', message: 'WATCH /api/v1/nodes: "OTHER" is not an event type' },
  ],
  ['an event without a type', '{"object":{}}\n', { code: 'API_ANSWER_INVALID' }],
  [
    'an event without an object',
    '{"type":"ADDED"}\n',
    { code: 'API_ANSWER_INVALID', message: 'WATCH /api/v1/nodes: a line is not an event' },
  ],
  ['something else', '5\n', { code: 'API_ANSWER_INVALID' }],
  ['no JSON', 'oops\n', { code: 'API_ANSWER_INVALID' }],
  [
    'a line that is too long',
    'x'.repeat(200),
    { code: 'API_ANSWER_INVALID', message: 'WATCH /api/v1/nodes: a line is longer than 100 bytes' },
  ],
];
for (const [name, text, want] of failures) {
  test(`throws for ${name}, after the events before it, and ends the stream`, async () => {
    let isClosed = false;
    const { events, done } = await watched(
      answer => {
        answer.once('close', () => (isClosed = true));
        answer.write(event('ADDED', 'a') + text);
      },
      {},
      { maxLineBytes: 100 },
    );
    await expect(done).rejects.toMatchObject(want);
    expect(events).toEqual(['ADDED a']);
    await expect.poll(() => isClosed).toBe(true);
  });
}

test('throws for a stream that ends in the middle of an event', async () => {
  const { events, done } = await watched(answer => answer.end(event('ADDED', 'a') + event('ADDED', 'b').slice(0, 30)));
  await expect(done).rejects.toMatchObject({
    code: 'API_CONNECTION_BROKEN',
    message: 'WATCH /api/v1/nodes: the stream ended within an event',
  });
  expect(events).toEqual(['ADDED a']);
});

test('throws for a stream that is reset', async () => {
  const { done } = await watched(async answer => {
    answer.write(event('ADDED', 'a'));
    await delay(20);
    streamOf(answer).close(8);
  });
  await expect(done).rejects.toMatchObject({ code: 'API_CONNECTION_BROKEN' });
});

test('throws the refusal of a server', async () => {
  const { done } = await watched(answer =>
    json(answer, 410, { kind: 'Status', reason: 'Expired', message: 'too old' }),
  );
  await expect(done).rejects.toMatchObject({ name: 'ApiError', code: 410, reason: 'Expired' });
});

test('the deadline is for the head only', async () => {
  // Ten seconds of this clock are 100 ms, or more on a busy machine.
  const options = { clock: fastClock(100), timeoutMs: 10_000 };
  const late = await watched(() => undefined, options);
  await expect(late.done).rejects.toMatchObject({ code: 'API_DEADLINE' });
  const slow = await watched(async answer => {
    answer.writeHead(200);
    answer.flushHeaders();
    await options.clock.sleep(30_000);
    answer.end(event('ADDED', 'a'));
  }, options);
  await slow.done;
  expect(slow.events).toEqual(['ADDED a']);
});

test('ends a stream that the server should have ended long ago', async () => {
  const { done } = await watched(
    answer => answer.write(event('ADDED', 'a')),
    { timeoutSeconds: 60 },
    { clock: fastClock(1000), timeoutMs: patientMs, connectTimeoutMs: patientMs, pingIntervalMs: patientMs },
  );
  await expect(done).rejects.toMatchObject({
    code: 'API_DEADLINE',
    message: 'WATCH /api/v1/nodes: no response within 90 s',
  });
});

for (const [name, stop] of [
  ['reader stops', (caller: AbortController) => void caller],
  ['caller gives up', (caller: AbortController) => caller.abort(new Error('enough'))],
] as const) {
  test(`reports the server when the ${name}`, async () => {
    const closed = Promise.withResolvers<number | undefined>();
    const { client } = await clientTo((_, answer) => {
      answer.once('close', () => closed.resolve(streamOf(answer).rstCode));
      answer.write(event('ADDED', 'a'));
    });
    const caller = new AbortController();
    const reading = (async () => {
      for await (const _ of client.watch(nodes, { signal: caller.signal })) {
        stop(caller);
        if (!caller.signal.aborted) break;
      }
    })();
    await (name === 'reader stops' ? reading : expect(reading).rejects.toThrow('enough'));
    expect(await closed.promise).toBe(8);
  });
}

test('many watches that were stopped leave places for others', async () => {
  const { client, server } = await clientTo((_, answer) => void answer.write(event('ADDED', 'a')));
  for (let turn = 0; turn < 300; turn += 1) for await (const _ of client.watch(nodes)) break;
  expect(server.accepted()).toBe(1);
});
