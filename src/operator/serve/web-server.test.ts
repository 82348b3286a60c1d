import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { ask, portOf, running } from '../../../test/kit/running-server.ts';
import { selfSigned } from './self-signed.ts';
import { type WebHandler, webServer, type WebServerOptions } from './web-server.ts';

async function serve(handle: WebHandler, more: Partial<WebServerOptions> = {}) {
  const found = portOf();
  const { log, lines, messages } = recordedLog();
  const address = { host: '127.0.0.1', port: 0 };
  const server = webServer({ name: 'test server', address, handle, log, onListening: found.onListening, ...more });
  const { stop } = await running(server);
  return { url: `${more.tls ? 'https' : 'http'}://127.0.0.1:${found.port}`, lines, messages, stop, server };
}

const echo: WebHandler = (path, authorization) =>
  path === '/x' ? { code: 200, text: `${path} ${authorization}` } : undefined;

const answers: [name: string, path: string, options: Parameters<typeof ask>[1], want: object][] = [
  ['what the handler says', '/x', {}, { code: 200, text: '/x ', type: 'text/plain; charset=utf-8' }],
  ['without regard to the query', '/x?a=/y', {}, { code: 200, text: '/x ' }],
  ['with the authorization', '/x', { headers: { authorization: 'Bearer t' } }, { code: 200, text: '/x Bearer t' }],
  ['a HEAD without a text', '/x', { method: 'HEAD' }, { code: 200, text: '' }],
  ['404 for what nobody knows', '/y', {}, { code: 404, text: 'not found\n' }],
  ['405 for a POST', '/x', { method: 'POST', text: 'body' }, { code: 405 }],
  ['405 for a DELETE', '/x', { method: 'DELETE' }, { code: 405 }],
];
for (const [name, path, options, want] of answers) {
  test(`answers ${name}`, async () => {
    const { url } = await serve(echo);
    expect(await ask(`${url}${path}`, options)).toMatchObject(want);
  });
}

test('answers with another type of content when it is reported one', async () => {
  const { url } = await serve(() => ({ code: 418, text: 'ä', contentType: 'text/x' }));
  expect(await ask(`${url}/`)).toEqual({ code: 418, text: 'ä', type: 'text/x' });
});

test('a handler that fails is a 500 that tells nothing, and a warning in the log', async () => {
  const { url, messages } = await serve(() => Promise.reject(new Error('planted secret')));
  expect(await ask(`${url}/`)).toMatchObject({ code: 500, text: 'internal error\n' });
  expect(messages('warn')).toEqual(['Request failed']);
});

test('serves TLS when it has a certificate', async () => {
  const pair = selfSigned('here', Date.now());
  const { url } = await serve(echo, { tls: { cert: pair.certificate, key: pair.key.reveal() } });
  expect(await ask(`${url}/x`, { ca: pair.certificate, servername: 'here' })).toMatchObject({ code: 200 });
  await expect(ask(`${url}/x`, { servername: 'here' })).rejects.toThrow(/self-signed/);
});

test('logs where it listens', async () => {
  const { lines } = await serve(echo);
  expect(lines[0]).toMatchObject({
    message: 'Starting test server',
    fields: { address: expect.stringMatching(/^127\.0\.0\.1:\d+$/), tls: false },
  });
});

test('listens at all addresses when none is named', async () => {
  const found = portOf();
  await serve(echo, { address: { host: '', port: 0 }, onListening: found.onListening });
  expect(await ask(`http://127.0.0.1:${found.port}/x`)).toMatchObject({ code: 200 });
});

test('fails when the address is taken, and says which', async () => {
  const other = createServer();
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  const { log } = recordedLog();
  const server = webServer({ name: 'test server', address: { host: '127.0.0.1', port }, handle: echo, log });
  const error = await rejectionOf(server.run(new AbortController().signal, () => undefined));
  expect(error).toMatchObject({
    code: 'LISTEN_FAILED',
    message: `test server cannot listen at 127.0.0.1:${port} (EADDRINUSE)`,
    remedy: expect.stringContaining('another address'),
  });
  await new Promise(resolve => other.close(resolve));
});

test('ends at once with requests under way, and does what was asked for at the end', async () => {
  let atEnd = 0;
  const found = portOf();
  const { stop } = await serve(() => new Promise(() => undefined), {
    onListening: (server, port) => {
      found.onListening(server, port);
      return () => (atEnd += 1);
    },
  });
  const pending = ask(`http://127.0.0.1:${found.port}/`).catch((error: Error) => error.message);
  await expect.poll(() => found.server?.listening).toBe(true);
  await new Promise(resolve => setTimeout(resolve, 50));
  await stop();
  expect(await pending).toMatch(/hang up|ECONNRESET/);
  expect(atEnd).toBe(1);
  await expect(ask(`http://127.0.0.1:${found.port}/`)).rejects.toThrow(/ECONNREFUSED/);
});
