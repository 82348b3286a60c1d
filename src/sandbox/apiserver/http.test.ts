import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { connect } from 'node:tls';
import { expect, test } from 'vitest';
import { manualClock, settle } from '../../../test/kit/manual-clock.ts';
import { startSandbox } from '../../../test/kit/sandbox.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

test('rejects a body that is too large on both protocols and keeps serving', async () => {
  await using sandbox = await startSandbox();
  const large = JSON.stringify({ metadata: { name: 'a' }, data: { k: 'x'.repeat(3 * 1024 * 1024) } });
  expect((await sandbox.send(`POST ${configMaps}`, large)).code).toBe(413);
  const session = connectHttp2(sandbox.server.url, { ca: sandbox.server.ca });
  const stream = session.request({ ':path': configMaps, ':method': 'POST', 'content-type': 'application/json' });
  stream.end(large);
  const code = await new Promise(resolve => stream.once('response', headers => resolve(headers[':status'])));
  expect(code).toBe(413);
  session.destroy();
  expect((await sandbox.send(`POST ${configMaps}`, { metadata: { name: 'a' } })).code).toBe(201);
});

test('accepts a body of the maximum size', async () => {
  await using sandbox = await startSandbox();
  const head = '{"metadata":{"name":"a","unknown":"';
  const body = `${head}${'x'.repeat(3 * 1024 * 1024 - head.length - 3)}"}}`;
  expect((await sandbox.send(`POST ${configMaps}`, body)).code).toBe(201);
});

test('tolerates a client that disconnects during its request', async () => {
  const { log, lines } = recordedLog();
  await using sandbox = await startSandbox({ log });
  const { port } = new URL(sandbox.server.url);
  const socket = connect({ host: '127.0.0.1', port: Number(port), ca: sandbox.server.ca, ALPNProtocols: ['http/1.1'] });
  await new Promise(resolve => socket.once('secureConnect', resolve));
  socket.write(`POST ${configMaps} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{"metadata"`);
  await new Promise(resolve => setTimeout(resolve, 50));
  socket.destroy();
  await new Promise(resolve => setTimeout(resolve, 50));
  expect((await sandbox.send('GET /healthz')).code).toBe(200);
  expect(lines).toEqual([]);
});

test('tolerates a client without TLS', async () => {
  await using sandbox = await startSandbox();
  const { port } = new URL(sandbox.server.url);
  await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow();
  expect((await sandbox.send('GET /healthz')).code).toBe(200);
});

test('a watch ends when its client disconnects', async () => {
  const clock = manualClock(Date.now());
  await using sandbox = await startSandbox({ clock });
  const session = connectHttp2(sandbox.server.url, { ca: sandbox.server.ca });
  const before = clock.sleepers();
  const stream = session.request({ ':path': `${configMaps}?watch=1&resourceVersion=0&allowWatchBookmarks=true` });
  await new Promise(resolve => stream.once('response', resolve));
  expect(clock.sleepers()).toBe(before + 2);
  stream.close();
  await new Promise(resolve => setTimeout(resolve, 50));
  await settle();
  expect(clock.sleepers()).toBe(before);
  session.destroy();
});

test('answers a watch at once, before anything happens', async () => {
  await using sandbox = await startSandbox();
  const { code, lines } = await sandbox.target.stream({
    method: 'GET',
    path: `${configMaps}?watch=1&timeoutSeconds=1`,
    headers: {},
  });
  expect(code).toBe(200);
  expect(await lines).toEqual([]);
});

test('ends a watch with a slow client', async () => {
  await using sandbox = await startSandbox();
  const { port } = new URL(sandbox.server.url);
  const socket = connect({ host: '127.0.0.1', port: Number(port), ca: sandbox.server.ca, ALPNProtocols: ['http/1.1'] });
  await new Promise(resolve => socket.once('secureConnect', resolve));
  socket.write(`GET ${configMaps}?watch=1&resourceVersion=1 HTTP/1.1\r\nhost: x\r\n\r\n`);
  await new Promise(resolve => socket.once('readable', resolve));
  socket.pause();
  const { api } = sandbox.server;
  const resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
  const data = { k: 'x'.repeat(900_000) };
  for (let count = 0; count < 60; count += 1)
    api.create(resource, { metadata: { name: `c${count}`, namespace: 'default' }, data } as never);
  await new Promise(resolve => setTimeout(resolve, 50));
  const { received } = await read(socket);
  expect(received).toBeLessThan(60);
  expect(received).toBeGreaterThan(0);
});

async function read(socket: ReturnType<typeof connect>): Promise<{ received: number }> {
  let text = '';
  socket.resume();
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await new Promise<void>(resolve => {
    const look = setInterval(() => {
      // The end of a chunked answer.
      if (!text.endsWith('0\r\n\r\n')) return;
      clearInterval(look);
      resolve();
    }, 20);
  });
  socket.destroy();
  return { received: text.split('"type":"ADDED"').length - 1 };
}

test('sends Retry-After', async () => {
  await using sandbox = await startSandbox();
  const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
    const call = request(
      `${sandbox.server.url}${configMaps}?resourceVersion=1000000`,
      { ca: sandbox.server.ca, agent: false },
      response => {
        response.resume();
        resolve(response.headers);
      },
    );
    call.once('error', reject);
    call.end();
  });
  expect(headers['retry-after']).toBe('1');
});

test('logs an internal error and reports it to the client', async () => {
  const { log, lines } = recordedLog();
  await using sandbox = await startSandbox({
    log,
    identity: () => ({
      admission: {
        admit: ({ object }) => {
          if (object.metadata.name === 'bad') throw new Error('a defect');
        },
      },
    }),
  });
  expect(await sandbox.send(`POST ${configMaps}`, { metadata: { name: 'bad' } })).toMatchObject({
    code: 500,
    body: { kind: 'Status', status: 'Failure', message: 'Internal error occurred: a defect' },
  });
  expect(lines).toHaveLength(1);
  expect((await sandbox.send(`POST ${configMaps}`, { metadata: { name: 'good' } })).code).toBe(201);
});

const odd = [
  '/%',
  '//',
  '/api/v1/%2e%2e/x',
  '/api/v1/namespaces//configmaps',
  `/${'a'.repeat(4000)}`,
  '/api/v1/nodes/%00',
];
test.each(odd)('answers the odd path %s', async path => {
  await using sandbox = await startSandbox();
  const { code } = await sandbox.send(`GET ${path}`);
  expect([200, 404, 405]).toContain(code);
});
