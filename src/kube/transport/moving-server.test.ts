import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { Secret } from '#base/secret.ts';
import { TestCa } from '../../../test/kit/certificates.ts';
import { type Handler, json, type ServerOptions, startServer } from '../../../test/kit/tls-server.ts';
import { readText } from './body.ts';
import type { Connection } from './connection.ts';
import { Transport } from './transport.ts';

const { signal } = new AbortController();
const hello: Handler = (_, answer) => json(answer, 200, {});

/** Two servers, and a transport whose connection can be changed under its feet. */
async function movable(handler: Handler, serverOptions: ServerOptions = {}) {
  const ca = new TestCa();
  const servers = await Promise.all([0, 1].map(() => startServer(handler, { ...serverOptions, ca })));
  const [first, second] = servers as [(typeof servers)[0], (typeof servers)[0]];
  const connection: { -readonly [Member in keyof Connection]: Connection[Member] } = first.connection();
  const transport = new Transport(connection, { pingIntervalMs: 20, pingTimeoutMs: 2000 });
  onTestFinished(async () => {
    await transport.close();
    await Promise.all(servers.map(server => server.stop()));
  });
  const ask = async (path: string) => {
    const exchange = await transport.send({ method: 'GET', path, headers: {} }, {}, signal);
    return readText(exchange, { name: path, signal });
  };
  return { first, second, connection, ask };
}

for (const protocol of ['h2', 'http/1.1'] as const) {
  test(`${protocol}: an address that changes counts from the next request on, and none under way fails`, async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    const { first, second, connection, ask } = await movable(
      async ({ path }, to) => {
        if (path === '/slow') await answered;
        json(to, 200, {});
      },
      { protocol },
    );
    const slow = ask('/slow');
    await expect.poll(() => first.seen.length).toBe(1);
    connection.server = second.url;
    await Promise.all([ask('/a'), ask('/b')]);
    await delay(100);
    answer();
    expect(await slow).toBe('{}');
    expect(first.seen.map(({ path }) => path)).toEqual(['/slow']);
    expect(second.seen.map(({ path }) => path).toSorted()).toEqual(['/a', '/b']);
    await expect.poll(() => first.sockets.size).toBe(0);
  });
}

test('a server name and a proxy that change count from the next request on', async () => {
  const { first, connection, ask } = await movable(hello);
  await ask('/a');
  connection.serverName = 'elsewhere.example';
  await expect(ask('/b')).rejects.toMatchObject({ code: 'API_UNTRUSTED' });
  connection.serverName = 'localhost';
  await ask('/c');
  connection.proxyUrl = new Secret('http://127.0.0.1:1');
  await expect(ask('/d')).rejects.toMatchObject({ code: 'API_UNREACHABLE' });
  connection.proxyUrl = undefined;
  await ask('/e');
  expect(first.seen.map(({ path }) => path)).toEqual(['/a', '/c', '/e']);
});

test('the same values in other objects change nothing', async () => {
  const { first, connection, ask } = await movable(hello);
  for (const path of ['/a', '/b', '/c']) {
    connection.server = ['https://', first.url.slice(8)].join('');
    await ask(path);
  }
  expect(first.accepted()).toBe(1);
});
