import { expect, test } from 'vitest';
import { silentLog } from '#base/log.ts';
import { ask, running } from '../../test/kit/running-server.ts';
import { healthServer, Readiness, readyWhenReached } from './health.ts';

/** A free port of this machine, given to a server that needs to know it before. */
async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  await new Promise(resolve => server.close(resolve));
  return port;
}

async function serve(troubles: string[] = []) {
  const port = await freePort();
  const readiness = new Readiness();
  await running(
    healthServer({ address: { host: '127.0.0.1', port }, readiness, troubles: () => troubles, log: silentLog }),
  );
  return { readiness, get: (path: string) => ask(`http://127.0.0.1:${port}${path}`) };
}

test('is ready when nothing is waited for any more', () => {
  const readiness = new Readiness();
  expect(readiness.waitingFor()).toEqual([]);
  const [one, other] = [readiness.expect('one'), readiness.expect('other')];
  expect(readiness.waitingFor()).toEqual(['one', 'other']);
  one();
  one();
  expect(readiness.waitingFor()).toEqual(['other']);
  other();
  expect(readiness.waitingFor()).toEqual([]);
});

test('a part of the start is reached when it runs', async () => {
  const readiness = new Readiness();
  const part = readyWhenReached('caches', readiness);
  expect(readiness.waitingFor()).toEqual(['caches']);
  const { stop } = await running(part);
  expect(readiness.waitingFor()).toEqual([]);
  await stop();
});

test('lives from the start, and is ready later', async () => {
  const { readiness, get } = await serve();
  const reached = readiness.expect('caches');
  expect(await get('/healthz')).toMatchObject({ code: 200, text: 'ok\n' });
  expect(await get('/readyz')).toMatchObject({ code: 503, text: 'waiting for caches\n' });
  reached();
  expect(await get('/readyz')).toMatchObject({ code: 200, text: 'ok\n' });
});

test('says what troubles it, and is ready all the same', async () => {
  const { get } = await serve(['nodes.v1: no answer']);
  expect(await get('/readyz')).toMatchObject({ code: 200, text: 'ok\nnodes.v1: no answer\n' });
  expect(await get('/healthz')).toMatchObject({ text: 'ok\n' });
});

test('knows no other path', async () => {
  const { get } = await serve();
  for (const path of ['/', '/metrics', '/healthz/', '/readyz/x']) expect(await get(path)).toMatchObject({ code: 404 });
});
