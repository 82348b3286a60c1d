import { getActiveResourcesInfo } from 'node:process';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startRelay } from '../../../test/kit/tcp-relay.ts';
import {
  type Answer,
  connectionTo,
  type Handler,
  json,
  type ServerOptions,
  startServer,
  streamOf,
} from '../../../test/kit/tls-server.ts';
import { readChunks, readText } from './body.ts';
import type { Exchange } from './exchange.ts';
import { Transport, type TransportOptions } from './transport.ts';

const { signal } = new AbortController();

/** A transport to a server behind a relay that can fail. Requests to /hold stay open until `release`. */
async function relayed(options: TransportOptions = {}, serverOptions: ServerOptions = {}, other?: Handler) {
  const held: Answer[] = [];
  const server = await startServer((request, answer, turn) => {
    if (request.path !== '/hold') return (other ?? ((_, to) => json(to, 200, {})))(request, answer, turn);
    answer.write('first ');
    return void held.push(answer);
  }, serverOptions);
  const relay = await startRelay(server.port);
  const transport = new Transport(connectionTo(`https://127.0.0.1:${relay.port}`, server.ca.cert), options);
  onTestFinished(async () => {
    await transport.close();
    await relay.stop();
    await server.stop();
  });
  const open = (path: string) => transport.send({ method: 'GET', path, headers: {} }, {}, signal);
  const ask = async () => readText(await open('/x'), { name: 'GET /x', signal });
  const release = () => held.splice(0).forEach(answer => void answer.end('last'));
  return { server, relay, transport, open, ask, release, held };
}

const text = (exchange: Exchange) => readText(exchange, { name: 'GET /hold', signal });

test('opens another session when one has enough streams, and no more than needed', async () => {
  const { server, open, release } = await relayed({ maxStreams: 10 });
  const exchanges = await Promise.all(Array.from({ length: 25 }, () => open('/hold')));
  expect(server.accepted()).toBe(3);
  release();
  expect(new Set(await Promise.all(exchanges.map(text)))).toEqual(new Set(['first last']));
});

test('takes places again that have become free', async () => {
  const { server, open, release } = await relayed({ maxStreams: 10 });
  for (let turn = 0; turn < 3; turn += 1) {
    const exchanges = await Promise.all(Array.from({ length: 10 }, () => open('/hold')));
    release();
    await Promise.all(exchanges.map(text));
    await delay(100);
  }
  expect(server.accepted()).toBe(1);
});

test('opens no more sessions than allowed; what is too much waits for a place', async () => {
  const { server, open, release, held } = await relayed(
    { maxStreams: 2, maxSessions: 2 },
    { settings: { maxConcurrentStreams: 2 } },
  );
  const exchanges = Array.from({ length: 6 }, () => open('/hold'));
  await expect.poll(() => held.length).toBe(4);
  await delay(50);
  expect([server.accepted(), held.length]).toEqual([2, 4]);
  release();
  await expect.poll(() => held.length).toBe(2);
  release();
  expect(await Promise.all(exchanges.map(async exchange => text(await exchange)))).toHaveLength(6);
});

test('keeps to the number of streams a server announces', async () => {
  const { server, ask, open, release } = await relayed({}, { settings: { maxConcurrentStreams: 4 } });
  await ask();
  const exchanges = await Promise.all(Array.from({ length: 6 }, () => open('/hold')));
  expect(server.accepted()).toBe(2);
  release();
  await Promise.all(exchanges.map(text));
});

test('waits for that number before the first requests, so that none of a burst is refused', async () => {
  const { server, open, release, held } = await relayed({}, { settings: { maxConcurrentStreams: 4 } });
  const exchanges = Array.from({ length: 10 }, () => open('/hold'));
  await expect.poll(() => held.length).toBe(10);
  expect(server.accepted()).toBe(3);
  release();
  await Promise.all(exchanges.map(async exchange => text(await exchange)));
});

test('leaves a session that the server wants to end, and lets its streams finish', async () => {
  const { server, open, ask, release } = await relayed();
  const long = await open('/hold');
  for (const session of server.sessions) session.goaway();
  const connections = async () => {
    await ask();
    return server.accepted();
  };
  await expect.poll(connections).toBe(2);
  release();
  expect(await text(long)).toBe('first last');
  await expect.poll(() => server.sockets.size).toBe(1);
});

test('loses the streams of a session that the server ends with an error, and goes on with another', async () => {
  const { server, open, ask } = await relayed();
  const reading = text(await open('/hold'));
  const broken = expect(reading).rejects.toMatchObject({ code: 'API_CONNECTION_BROKEN' });
  for (const session of server.sessions) session.goaway(2);
  await broken;
  await ask();
  expect(server.accepted()).toBe(2);
});

test('a request on a session that is closing is sent again on another', async () => {
  const { server, ask } = await relayed();
  await ask();
  for (let turn = 0; turn < 10; turn += 1) {
    for (const session of server.sessions) session.close();
    await ask();
  }
  expect(server.accepted()).toBeGreaterThan(1);
});

test('finds a connection that has gone silent by a ping, fails its streams and goes on with another', async () => {
  const { relay, open, ask } = await relayed({ pingIntervalMs: 50, pingTimeoutMs: 300 });
  const exchange = await open('/hold');
  const start = performance.now();
  relay.freeze();
  relay.thaw();
  await expect(text(exchange)).rejects.toMatchObject({
    code: 'API_CONNECTION_BROKEN',
    message: 'GET /hold: the server did not answer a ping within 0.3 s',
  });
  expect(performance.now() - start).toBeLessThan(10_000);
  await ask();
  expect(relay.accepted()).toBe(2);
});

test('a GET that was lost in a silent connection is answered by another, any other request fails', async () => {
  const { relay, ask, transport } = await relayed({ pingIntervalMs: 50, pingTimeoutMs: 300 });
  await ask();
  relay.freeze();
  relay.thaw();
  const post = { method: 'POST', path: '/x', headers: {}, body: '{}' };
  const refused = expect(transport.send(post, {}, signal)).rejects.toMatchObject({ code: 'API_CONNECTION_BROKEN' });
  expect(await ask()).toBe('{}');
  await refused;
});

test('a quiet session that answers pings is kept', async () => {
  const { relay, open, ask, release } = await relayed({ pingIntervalMs: 10, pingTimeoutMs: 2000 });
  const exchange = await open('/hold');
  await delay(150);
  await ask();
  release();
  expect(await text(exchange)).toBe('first last');
  expect(relay.accepted()).toBe(1);
});

test('a stream under way goes on in a session that the server wants to end, however many pings are due', async () => {
  const { server, relay, open, ask, release } = await relayed({ pingIntervalMs: 10, pingTimeoutMs: 2000 });
  const exchange = await open('/hold');
  for (const session of server.sessions) session.goaway();
  await delay(150);
  await ask();
  release();
  expect(await text(exchange)).toBe('first last');
  expect(relay.accepted()).toBe(2);
});

test('a stream under way in a session that is closing ends when the peer falls silent', async () => {
  const { server, relay, open } = await relayed({ pingIntervalMs: 50, pingTimeoutMs: 300 });
  const exchange = await open('/hold');
  for (const session of server.sessions) session.goaway();
  await delay(50);
  relay.freeze();
  await expect(text(exchange)).rejects.toMatchObject({
    code: 'API_CONNECTION_BROKEN',
    message: 'GET /hold: the server did not answer a ping within 0.3 s',
  });
});

const countSockets = () => getActiveResourcesInfo().filter(name => name === 'TCPSocketWrap').length;

/**
 * A session that the server wanted to end, whose last stream has gone, and whose peer has fallen silent before it
 * closed.
 */
async function closing(options: TransportOptions) {
  const all = await relayed(options);
  const exchange = await all.open('/hold');
  const socketsBefore = countSockets();
  for (const session of all.server.sessions) session.goaway();
  await delay(50);
  all.relay.freeze();
  exchange.cancel();
  await delay(50);
  return { ...all, socketsBefore };
}

test('closing does not wait for a peer that has fallen silent', async () => {
  const { transport } = await closing({});
  const start = performance.now();
  await transport.close();
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('a session that is closing is not kept for a peer that has fallen silent', async () => {
  const { socketsBefore } = await closing({ pingIntervalMs: 400, pingTimeoutMs: 100 });
  await expect.poll(countSockets).toBeLessThan(socketsBefore);
});

test('reports a TCP reset in the middle of a stream, and goes on with another connection', async () => {
  const { relay, open, ask } = await relayed();
  const reading = text(await open('/hold'));
  const broken = expect(reading).rejects.toMatchObject({ code: 'API_CONNECTION_BROKEN' });
  relay.reset();
  await broken;
  await ask();
  expect(relay.accepted()).toBe(2);
});

for (const [name, code] of [
  ['cancels', 8],
  ['fails', 2],
  ['calms', 11],
] as const) {
  test(`reports a stream that the server ${name} in the middle, and keeps the session`, async () => {
    const { server, open, ask, held } = await relayed();
    const reading = text(await open('/hold'));
    const broken = expect(reading).rejects.toMatchObject({ code: 'API_CONNECTION_BROKEN' });
    for (const answer of held) streamOf(answer).close(code);
    await broken;
    await ask();
    expect(server.accepted()).toBe(1);
  });
}

test('an unread stream does not block the others', async () => {
  const large = 'x'.repeat(256 * 1024);
  const { server, open, ask } = await relayed({}, {}, (request, answer) => {
    if (request.path !== '/large') return json(answer, 200, {});
    for (let part = 0; part < 4; part += 1) answer.write(large);
    return void answer.end();
  });
  const unread = await Promise.all(Array.from({ length: 8 }, () => open('/large')));
  await delay(50);
  for (let turn = 0; turn < 10; turn += 1) await ask();
  const [first] = unread;
  let length = 0;
  if (first) for await (const chunk of readChunks(first, { name: 'GET /large', signal })) length += chunk.length;
  expect(length).toBe(4 * large.length);
  for (const exchange of unread) exchange.cancel();
  expect(server.accepted()).toBe(1);
});

test('a hundred closed sessions leave no connection', async () => {
  const { server, relay, ask } = await relayed({ pingIntervalMs: 5, pingTimeoutMs: 1000 });
  for (let turn = 0; turn < 100; turn += 1) {
    await ask();
    relay.reset();
  }
  await ask();
  expect(server.sockets.size).toBeLessThanOrEqual(2);
  expect(relay.accepted()).toBeGreaterThan(50);
});
