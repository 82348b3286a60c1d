import { connect as connectHttp2 } from 'node:http2';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, test } from 'vitest';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { startSandbox } from '../../../test/kit/sandbox.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { parseKubeconfig, resolveContext } from '#kube/config/kubeconfig.ts';
import { createAuthority } from './auth/ca.ts';
import { Target } from '../../../test/kit/parity-cases/target.ts';
import type { Controller, LocalApi } from './ports.ts';
import { startApiServer } from './server.ts';

const configMaps = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };

test('listens on loopback, with a certificate of its own authority', async () => {
  await using sandbox = await startSandbox();
  expect(sandbox.server.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  expect(await sandbox.send('GET /healthz')).toEqual({ code: 200, body: 'ok' });
  const stranger = new Target({
    url: sandbox.server.url,
    ca: createAuthority('other', manualClock(Date.now())).certificate,
  });
  await expect(stranger.send({ method: 'GET', path: '/', headers: {} })).rejects.toThrow(/certificate/);
  stranger.close();
});

const names = ['localhost', 'kubernetes', 'kubernetes.default.svc', '127.0.0.1'];
test.each(names)('is %s', async name => {
  await using sandbox = await startSandbox();
  const { port } = new URL(sandbox.server.url);
  const socket = connectTls({
    host: '127.0.0.1',
    port: Number(port),
    servername: name === '127.0.0.1' ? '' : name,
    ca: sandbox.server.ca,
  });
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve);
    socket.once('error', reject);
  });
  expect(socket.getPeerX509Certificate()?.subjectAltName).toContain(name);
  expect(socket.authorized).toBe(true);
  socket.destroy();
});

test('serves many HTTP/2 requests on one connection', async () => {
  await using sandbox = await startSandbox();
  const session = connectHttp2(sandbox.server.url, { ca: sandbox.server.ca });
  const answers = await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const stream = session.request({
        ':path': '/api/v1/namespaces/default/configmaps',
        ':method': 'POST',
        'content-type': 'application/json',
      });
      stream.end(JSON.stringify({ metadata: { name: `c${index}` } }));
      const chunks: Buffer[] = [];
      for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
      return JSON.parse(Buffer.concat(chunks).toString()) as { metadata: { name: string } };
    }),
  );
  expect(session.alpnProtocol).toBe('h2');
  expect(new Set(answers.map(({ metadata }) => metadata.name)).size).toBe(50);
  session.destroy();
});

test('serves HTTP/1.1', async () => {
  await using sandbox = await startSandbox();
  const version = await new Promise<string>((resolve, reject) => {
    const call = request(`${sandbox.server.url}/version`, { ca: sandbox.server.ca, agent: false }, response => {
      response.resume();
      resolve(response.httpVersion);
    });
    call.once('error', reject);
    call.end();
  });
  expect(version).toBe('1.1');
});

test('sets the content type', async () => {
  await using sandbox = await startSandbox();
  const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
    const call = request(`${sandbox.server.url}/version`, { ca: sandbox.server.ca, agent: false }, response => {
      response.resume();
      resolve(response.headers);
    });
    call.once('error', reject);
    call.end();
  });
  expect(headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
});

test('works with the client in src/kube', async () => {
  await using sandbox = await startSandbox();
  const client = createClient(loadKubeconfig(sandbox.server.kubeconfig()));
  await client.create(configMaps, { metadata: { name: 'a', namespace: 'default' } }, { namespace: 'default' });
  expect((await client.list(configMaps, { namespace: 'default' })).items).toHaveLength(1);
  await expect(client.get(configMaps, 'none', { namespace: 'default' })).rejects.toMatchObject({
    code: 404,
    reason: 'NotFound',
  });
  const seen: string[] = [];
  for await (const { type, object } of client.watch(configMaps, { timeoutSeconds: 1 }))
    seen.push(`${type} ${object.metadata.name}`);
  expect(seen).toEqual(['ADDED a']);
  await client.close();
});

test('has the system namespaces', async () => {
  await using sandbox = await startSandbox();
  const { items } = (await sandbox.make('GET /api/v1/namespaces')) as { items: { metadata: { name: string } }[] };
  expect(items.map(({ metadata }) => metadata.name)).toEqual([
    'default',
    'kube-node-lease',
    'kube-public',
    'kube-system',
  ]);
});

test('writes a kubeconfig with the credentials given', async () => {
  await using sandbox = await startSandbox();
  const read = (user: Parameters<typeof sandbox.server.kubeconfig>[0]) =>
    resolveContext(parseKubeconfig(sandbox.server.kubeconfig(user)));
  expect(read({}).cluster).toMatchObject({
    server: sandbox.server.url,
    caData: sandbox.server.ca,
    skipTlsVerify: false,
  });
  expect(read({ token: 't' }).user.token?.reveal()).toBe('t');
  const { user } = read({ clientCertificate: 'cert', clientKey: 'key' });
  expect([user.clientCertificateData, user.clientKeyData?.reveal()]).toEqual(['cert', 'key']);
});

test('listens on the given port or reports why it cannot', async () => {
  const blocker = createServer();
  await new Promise<void>(resolve => blocker.listen(0, '127.0.0.1', resolve));
  const { port } = blocker.address() as { port: number };
  await expect(startApiServer({ port })).rejects.toMatchObject({
    code: 'LISTEN_FAILED',
    message: expect.stringContaining(`127.0.0.1:${port} (EADDRINUSE)`) as string,
  });
  await new Promise(resolve => blocker.close(resolve));
  const server = await startApiServer({ port });
  expect(server.url).toBe(`https://127.0.0.1:${port}`);
  await server.close();
});

test('reports the given version', async () => {
  await using sandbox = await startSandbox({ version: { major: '1', minor: '20', gitVersion: 'v1.20.2' } });
  expect((await sandbox.send('GET /version')).body).toMatchObject({ minor: '20', gitVersion: 'v1.20.2' });
});

test('closes at once with open requests, and repeatedly', async () => {
  const sandbox = await startSandbox();
  const { lines } = await sandbox.target.stream({ method: 'GET', path: '/api/v1/pods?watch=1', headers: {} });
  const session = connectHttp2(sandbox.server.url, { ca: sandbox.server.ca });
  session.on('error', () => undefined);
  await new Promise(resolve => session.once('connect', resolve));
  const started = performance.now();
  await Promise.all([sandbox.server.close(), sandbox.server.close()]);
  await sandbox.server.close();
  await lines;
  expect(performance.now() - started).toBeLessThan(10_000);
  await expect(sandbox.send('GET /healthz')).rejects.toThrow();
  sandbox.target.close();
  session.destroy();
});

test('starts controllers in order with the API and stops them in reverse', async () => {
  const log: string[] = [];
  let given: LocalApi | undefined;
  const controller = (name: string): Controller => ({
    start: api => {
      given = api;
      log.push(`start ${name}`);
    },
    stop: () => log.push(`stop ${name}`),
  });
  const server = await startApiServer({ controllers: [controller('one'), controller('two')] });
  expect(given).toBe(server.api);
  await server.close();
  expect(log).toEqual(['start one', 'start two', 'stop two', 'stop one']);
});
