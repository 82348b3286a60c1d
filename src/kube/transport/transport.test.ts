import { createServer, type Server } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { TestCa } from '../../../test/kit/certificates.ts';
import { type Handler, json, type ServerOptions, startServer, streamOf } from '../../../test/kit/tls-server.ts';
import { clientCertificate, connectionTo } from '../../../test/kit/tls-server.ts';
import { readChunks, readText } from './body.ts';
import type { Connection, Credential } from './connection.ts';
import type { Request } from './exchange.ts';
import { Transport, type TransportOptions } from './transport.ts';

const protocols = ['h2', 'http/1.1'] as const;
const { signal } = new AbortController();

/** A server and a transport to it that end with the test. */
async function connected(
  handler: Handler,
  serverOptions: ServerOptions = {},
  more: Partial<Connection> & TransportOptions = {},
) {
  const server = await startServer(handler, serverOptions);
  const transport = new Transport(server.connection(more), more);
  onTestFinished(async () => {
    await transport.close();
    await server.stop();
  });
  const ask = async (path = '/x', request: Partial<Request> = {}, credential: Credential = {}) => {
    const name = `GET ${path}`;
    const exchange = await transport.send({ method: 'GET', path, headers: {}, ...request }, credential, signal);
    return { status: exchange.status, text: await readText(exchange, { name, signal }) };
  };
  return { server, transport, ask };
}

const hello: Handler = (_, answer) => json(answer, 200, { hello: true });

for (const protocol of protocols) {
  const named = (name: string) => `${protocol}: ${name}`;

  test(named('sends method, path, headers and body and gives status, headers and body'), async () => {
    const { server, transport } = await connected((_, answer) => json(answer, 201, { a: 'ü' }, { 'x-mine': 'y' }), {
      protocol,
    });
    const request = { method: 'POST', path: '/a?b=c', headers: { 'user-agent': 'me' }, body: '{"d":"€"}' };
    const exchange = await transport.send(request, {}, signal);
    expect(exchange).toMatchObject({ status: 201, headers: { 'x-mine': 'y', 'content-type': 'application/json' } });
    expect(await readText(exchange, { name: 'POST /a', signal })).toBe('{"a":"ü"}');
    expect(server.seen[0]).toMatchObject({ method: 'POST', path: '/a?b=c', body: '{"d":"€"}' });
    expect(server.seen[0]?.headers['user-agent']).toBe('me');
  });

  test(named('uses one connection for requests one after the other'), async () => {
    const { server, ask } = await connected(hello, { protocol });
    for (let turn = 0; turn < 20; turn += 1) expect(await ask()).toMatchObject({ status: 200 });
    expect(server.accepted()).toBe(1);
  });

  test(named('opens one connection for requests that come at once before there is any'), async () => {
    const { server, ask } = await connected(hello, { protocol });
    await Promise.all(Array.from({ length: 10 }, () => ask()));
    expect(server.accepted()).toBeLessThanOrEqual(protocol === 'h2' ? 1 : 10);
  });

  test(named('gives an error status as an answer like any other'), async () => {
    const { ask } = await connected((_, answer) => json(answer, 500, { a: 1 }), { protocol });
    expect(await ask()).toEqual({ status: 500, text: '{"a":1}' });
  });

  test(named('stops waiting for the head when the caller gives up, and tells the server'), async () => {
    const caller = new AbortController();
    const ended = Promise.withResolvers<void>();
    const { transport } = await connected(
      (_, answer) => {
        answer.once('close', ended.resolve);
        caller.abort(new Error('enough'));
      },
      { protocol },
    );
    const request = { method: 'GET', path: '/x', headers: {} };
    await expect(transport.send(request, {}, caller.signal)).rejects.toThrow('enough');
    await ended.promise;
  });

  test(named('does not begin when the caller has given up already'), async () => {
    const { server, transport } = await connected(hello, { protocol });
    const request = { method: 'GET', path: '/x', headers: {} };
    await expect(transport.send(request, {}, AbortSignal.abort(new Error('gone')))).rejects.toThrow('gone');
    expect(server.seen).toEqual([]);
  });

  test(named('opens a new connection after the server closed the old one while it was quiet'), async () => {
    const { server, ask } = await connected(hello, { protocol });
    await ask();
    for (const socket of server.sockets) socket.destroy();
    await delay(20);
    expect(await ask()).toMatchObject({ status: 200 });
    expect(server.accepted()).toBe(2);
  });

  test(named('repeats a GET once that was lost with a connection that had worked before'), async () => {
    const { server, ask } = await connected(
      (_, answer, turn) => {
        if (turn === 2) for (const socket of server.sockets) socket.destroy();
        else json(answer, 200, turn);
      },
      { protocol },
    );
    expect((await ask()).text).toBe('1');
    expect((await ask()).text).toBe('3');
  });

  test(named('repeats nothing that may have changed something'), async () => {
    const { server, ask } = await connected(
      (_, answer, turn) => {
        if (turn === 2) for (const socket of server.sockets) socket.destroy();
        else json(answer, 200, turn);
      },
      { protocol },
    );
    await ask();
    await expect(ask('/x', { method: 'POST', body: '{}' })).rejects.toMatchObject({
      code: 'API_CONNECTION_BROKEN',
      message: expect.stringMatching(/^POST \/x: /),
      remedy: expect.stringContaining('may have been applied'),
    });
    expect(server.seen).toHaveLength(2);
  });

  test(named('repeats a GET no more than once'), async () => {
    const { server, ask } = await connected(
      (_, answer, turn) => {
        if (turn > 1) for (const socket of server.sockets) socket.destroy();
        else json(answer, 200, turn);
      },
      { protocol },
    );
    await ask();
    await expect(ask()).rejects.toMatchObject({ code: 'API_CONNECTION_BROKEN' });
    expect(server.seen).toHaveLength(3);
  });

  test(named('reports a connection that breaks in the middle of the body'), async () => {
    const { server, ask } = await connected(
      (_, answer) => {
        answer.write('{"a":');
        setTimeout(() => {
          for (const socket of server.sockets) socket.resetAndDestroy();
        }, 20);
      },
      { protocol },
    );
    await expect(ask()).rejects.toMatchObject({
      code: 'API_CONNECTION_BROKEN',
      message: expect.stringMatching(/^GET \/x: /),
    });
  });

  test(named('shows the client certificate, and another one on a new connection once it has changed'), async () => {
    const ca = new TestCa();
    const { server, ask } = await connected(hello, { protocol, ca, askCertificate: true });
    const [one, two] = [clientCertificate(ca, 'one'), clientCertificate(ca, 'two')];
    for (const certificate of [one, { ...one }, two, two]) await ask('/x', {}, { clientCertificate: certificate });
    expect(server.seen.map(({ client, socket }) => [client, socket])).toEqual([
      ['one', 1],
      ['one', 1],
      ['two', 2],
      ['two', 2],
    ]);
  });

  test(named('lets a stream under way end in its own time when certificates change'), async () => {
    const ca = new TestCa();
    let finish = (): unknown => undefined;
    const { server, ask, transport } = await connected(
      (request, answer) => {
        if (request.path !== '/long') return json(answer, 200, {});
        answer.write('one ');
        finish = () => answer.end('two');
      },
      { protocol, ca, askCertificate: true },
    );
    const [one, two] = [clientCertificate(ca, 'one'), clientCertificate(ca, 'two')];
    const long = await transport.send(
      { method: 'GET', path: '/long', headers: {} },
      { clientCertificate: one },
      signal,
    );
    await ask('/x', {}, { clientCertificate: two });
    finish();
    expect(await readText(long, { name: 'GET /long', signal })).toBe('one two');
    await expect.poll(() => server.sockets.size).toBe(1);
  });

  test(named('closing ends a stream of an old certificate too'), async () => {
    const ca = new TestCa();
    const { server, ask, transport } = await connected(
      (request, answer) => (request.path === '/long' ? void answer.write('one ') : json(answer, 200, {})),
      { protocol, ca, askCertificate: true },
    );
    const [one, two] = [clientCertificate(ca, 'one'), clientCertificate(ca, 'two')];
    const request = { method: 'GET', path: '/long', headers: {} };
    const long = await transport.send(request, { clientCertificate: one }, signal);
    const reading = expect(readText(long, { name: 'GET /long', signal })).rejects.toMatchObject({
      code: protocol === 'h2' ? 'API_CLIENT_CLOSED' : 'API_CONNECTION_BROKEN',
    });
    await ask('/x', {}, { clientCertificate: two });
    await transport.close();
    await reading;
    await expect.poll(() => server.sockets.size).toBe(0);
  });

  test(named('trusts a new CA on a new connection'), async () => {
    let trusted = '';
    const { server, ask } = await connected(hello, { protocol }, { trusted: () => Promise.resolve(trusted) });
    trusted = server.ca.cert;
    await ask();
    trusted = `${new TestCa().cert}${server.ca.cert}`;
    await ask();
    expect(server.accepted()).toBe(2);
  });

  test(
    named('fails what is under way when it is closed, refuses what comes later, and leaves nothing open'),
    async () => {
      const { server, transport, ask } = await connected(
        (request, answer) => {
          if (request.path === '/x') json(answer, 200, {});
        },
        { protocol },
      );
      await ask();
      const waiting = expect(ask('/silent', { method: 'POST', body: '{}' })).rejects.toMatchObject({
        code: 'API_CLIENT_CLOSED',
      });
      await expect.poll(() => server.seen.length).toBe(2);
      await transport.close();
      await waiting;
      await expect(ask()).rejects.toMatchObject({ code: 'API_CLIENT_CLOSED', message: 'GET /x: the client is closed' });
      await expect.poll(() => server.sockets.size).toBe(0);
      await transport.close();
    },
  );

  test(named('ends streams that nobody reads any more without touching the others'), async () => {
    let closed = 0;
    const { server, transport, ask } = await connected(
      (request, answer) => {
        if (request.path === '/x') return json(answer, 200, {});
        answer.once('close', () => (closed += 1));
        answer.write('endless ');
      },
      { protocol },
    );
    const exchange = await transport.send({ method: 'GET', path: '/endless', headers: {} }, {}, signal);
    for await (const chunk of readChunks(exchange, { name: 'GET /endless', signal })) {
      expect(chunk.toString()).toBe('endless ');
      break;
    }
    await expect.poll(() => closed).toBe(1);
    await ask();
    expect(server.accepted()).toBe(protocol === 'h2' ? 1 : 2);
  });
}

const trust: [string, ServerOptions, Partial<Connection>, string | undefined][] = [
  ['the CA it is given', {}, {}, undefined],
  ['no other CA', {}, { trusted: () => Promise.resolve(new TestCa().cert) }, 'API_UNTRUSTED'],
  ['not the usual CAs of the system', {}, { trusted: () => Promise.resolve(undefined) }, 'API_UNTRUSTED'],
  ['no server of another name', { names: ['other.example'] }, {}, 'API_UNTRUSTED'],
  ['a server of the name it is told', { names: ['other.example'] }, { serverName: 'other.example' }, undefined],
  ['an address as that name', { names: ['10.1.2.3'] }, { serverName: '10.1.2.3' }, undefined],
  ['no third name', { names: ['other.example'] }, { serverName: 'third.example' }, 'API_UNTRUSTED'],
  [
    'anybody when told so',
    { names: ['x.example'] },
    { skipTlsVerify: true, trusted: () => Promise.resolve(undefined) },
    undefined,
  ],
];
for (const [name, serverOptions, more, code] of trust) {
  test(`trusts ${name}`, async () => {
    const { ask, server } = await connected(hello, serverOptions, more);
    if (code === undefined) return expect(await ask()).toMatchObject({ status: 200 });
    return expect(ask()).rejects.toMatchObject({ code, message: expect.stringContaining(server.url) });
  });
}

test('uses HTTP/1.1 without TLS for an http URL', async () => {
  const { server, ask } = await connected(hello, { protocol: 'plain' });
  expect([await ask(), await ask()]).toMatchObject([{ status: 200 }, { status: 200 }]);
  expect(server.accepted()).toBe(1);
});

test('names the server that cannot be reached', async () => {
  const server = await startServer(hello);
  await server.stop();
  const transport = new Transport(server.connection());
  await expect(transport.send({ method: 'GET', path: '/x', headers: {} }, {}, signal)).rejects.toMatchObject({
    code: 'API_UNREACHABLE',
    message: `${server.url}: connect ECONNREFUSED 127.0.0.1:${server.port}`,
  });
  await transport.close();
});

test('reaches the server once it is there, after it was not', async () => {
  const ca = new TestCa();
  const first = await startServer(hello, { ca });
  await first.stop();
  const transport = new Transport(connectionTo(`https://localhost:${first.port}`, ca.cert));
  const send = () => transport.send({ method: 'GET', path: '/x', headers: {} }, {}, signal);
  await expect(send()).rejects.toMatchObject({ code: 'API_UNREACHABLE' });
  await expect(send()).rejects.toMatchObject({ code: 'API_UNREACHABLE' });
  await transport.close();
});

async function silentServer(): Promise<Server> {
  const server = createServer(socket => void socket.on('error', () => undefined).resume());
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return server;
}

test('connecting to a silent server ends at the timeout', async () => {
  const { port } = (await silentServer()).address() as { port: number };
  const transport = new Transport(connectionTo(`https://127.0.0.1:${port}`, ''), { connectTimeoutMs: 50 });
  await expect(transport.send({ method: 'GET', path: '/x', headers: {} }, {}, signal)).rejects.toMatchObject({
    code: 'API_DEADLINE',
    message: `connecting to https://127.0.0.1:${port}: no response within 0.05 s`,
  });
  await transport.close();
});

test('a caller need not wait for a connection longer than it wants; closing ends the attempt', async () => {
  const { port } = (await silentServer()).address() as { port: number };
  const transport = new Transport(connectionTo(`https://127.0.0.1:${port}`, ''));
  const caller = new AbortController();
  setTimeout(() => caller.abort(new Error('enough')), 20);
  const request = { method: 'GET', path: '/x', headers: {} };
  await expect(transport.send(request, {}, caller.signal)).rejects.toThrow('enough');
  const waiting = expect(transport.send(request, {}, signal)).rejects.toMatchObject({ code: 'API_CLIENT_CLOSED' });
  await transport.close();
  await waiting;
});

test('rejects a certificate and key that are not any, without showing them', async () => {
  const { ask } = await connected(hello);
  const { Secret } = await import('#base/secret.ts');
  const clientCertificate = { certificate: 'nonsense', key: new Secret('topsecret') };
  const error = await ask('/x', {}, { clientCertificate }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'API_UNREACHABLE' });
  expect(String(error)).not.toContain('topsecret');
});

test('the stream of a server that refuses it is repeated, for any method', async () => {
  const { server, ask } = await connected((_, answer, turn) => {
    if (turn < 3) streamOf(answer).close(7);
    else json(answer, 200, turn);
  });
  expect((await ask('/x', { method: 'POST', body: '{}' })).text).toBe('3');
  expect(server.accepted()).toBe(1);
});

test('a server that refuses every stream is not asked without end', async () => {
  const { server, ask } = await connected((_, answer) => streamOf(answer).close(7));
  await expect(ask()).rejects.toMatchObject({ code: 'API_CONNECTION_BROKEN' });
  expect(server.seen).toHaveLength(11);
});
