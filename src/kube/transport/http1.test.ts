import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startRelay } from '../../../test/kit/tcp-relay.ts';
import { type Answer, connectionTo, json, startServer } from '../../../test/kit/tls-server.ts';
import { readText } from './body.ts';
import { Transport, type TransportOptions } from './transport.ts';

const { signal } = new AbortController();

/** A transport to a server without HTTP/2, behind a relay. Requests to /hold stay open until `release`. */
async function relayed(options: TransportOptions = {}) {
  const held: Answer[] = [];
  const server = await startServer(
    (request, answer) => (request.path === '/hold' ? void held.push(answer) : json(answer, 200, {})),
    { protocol: 'http/1.1' },
  );
  const relay = await startRelay(server.port);
  const transport = new Transport(connectionTo(`https://127.0.0.1:${relay.port}`, server.ca.cert), options);
  onTestFinished(async () => {
    await transport.close();
    await relay.stop();
    await server.stop();
  });
  const ask = async (path = '/x', method = 'GET') => {
    const exchange = await transport.send({ method, path, headers: {} }, {}, signal);
    return readText(exchange, { name: `${method} ${path}`, signal });
  };
  const release = () => held.splice(0).forEach(answer => void answer.end('{}'));
  return { server, relay, transport, ask, held, release };
}

test('uses a connection for each request under way, and those again later', async () => {
  const { server, ask, held, release } = await relayed();
  for (let turn = 0; turn < 3; turn += 1) {
    const asking = Promise.all(Array.from({ length: 5 }, () => ask('/hold')));
    await expect.poll(() => held.length).toBe(5);
    release();
    await asking;
    await delay(10);
  }
  expect(server.accepted()).toBe(5);
});

test('keeps only some of many connections for later', async () => {
  const { server, ask, held, release } = await relayed();
  const asking = Promise.all(Array.from({ length: 20 }, () => ask('/hold')));
  await expect.poll(() => held.length).toBe(20);
  release();
  await asking;
  await expect.poll(() => server.sockets.size).toBeLessThanOrEqual(8);
});

test('sends the host that the address says, and a length with a body', async () => {
  const { server, relay, transport } = await relayed();
  const exchange = await transport.send({ method: 'POST', path: '/x', headers: {}, body: '"€"' }, {}, signal);
  await readText(exchange, { name: 'POST /x', signal });
  expect(server.seen[0]?.headers).toMatchObject({ host: `127.0.0.1:${relay.port}`, 'content-length': '5' });
});

test('reports of a further connection that cannot be made, and goes on when it can', async () => {
  const { relay, ask, held, release } = await relayed();
  const first = ask('/hold');
  await expect.poll(() => held.length).toBe(1);
  relay.refuse(true);
  await expect(ask()).rejects.toMatchObject({
    code: 'API_UNREACHABLE',
    message: expect.stringContaining(`:${relay.port}`),
  });
  relay.refuse(false);
  expect(await ask()).toBe('{}');
  release();
  await first;
});

test('reports a reset before the answer, and goes on with another connection', async () => {
  const { relay, ask, held } = await relayed();
  await ask();
  const broken = expect(ask('/hold', 'POST')).rejects.toMatchObject({ code: 'API_CONNECTION_BROKEN' });
  await expect.poll(() => held.length).toBe(1);
  relay.reset();
  await broken;
  expect(await ask()).toBe('{}');
});

test('closing while a connection is being made ends that too', async () => {
  const { relay, transport, ask, held } = await relayed();
  const first = expect(ask('/hold')).rejects.toMatchObject({ code: 'API_CLIENT_CLOSED' });
  await expect.poll(() => held.length).toBe(1);
  relay.freeze();
  const second = expect(ask()).rejects.toMatchObject({ code: 'API_CLIENT_CLOSED' });
  await delay(20);
  await transport.close();
  await Promise.all([first, second]);
});

test('a connection that was made and never used is closed with the rest', async () => {
  const { server, relay, transport } = await relayed();
  const caller = new AbortController();
  const request = { method: 'GET', path: '/x', headers: {} };
  const sending = expect(transport.send(request, {}, caller.signal)).rejects.toThrow('enough');
  while (relay.accepted() === 0) await delay(0);
  caller.abort(new Error('enough'));
  await sending;
  await expect.poll(() => server.sockets.size).toBe(1);
  await delay(50);
  await transport.close();
  await expect.poll(() => server.sockets.size).toBe(0);
});

test('a hundred resets leave no connection behind', async () => {
  const { server, relay, ask } = await relayed();
  for (let turn = 0; turn < 100; turn += 1) {
    await ask();
    relay.reset();
  }
  expect(await ask()).toBe('{}');
  await expect.poll(() => server.sockets.size).toBe(1);
});
