import { expect, test } from 'vitest';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { ask, running } from '../../../test/kit/running-server.ts';
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
  const { log, lines } = recordedLog();
  await running(healthServer({ address: { host: '127.0.0.1', port }, readiness, troubles: () => troubles, log }));
  const states = () => lines.filter(({ message }) => /ready/i.test(message));
  return { readiness, states, get: (path: string) => ask(`http://127.0.0.1:${port}${path}`) };
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
  expect(await get('/readyz')).toMatchObject({ code: 503, text: 'not ready\n' });
  reached();
  expect(await get('/readyz')).toMatchObject({ code: 200, text: 'ok\n' });
});

test('reports no one what troubles it, and is ready all the same', async () => {
  const { get } = await serve(['secrets.v1 namespace=wmco: forbidden']);
  for (const path of ['/readyz', '/healthz']) expect(await get(path)).toMatchObject({ code: 200, text: 'ok\n' });
});

test('logs once why it is not ready, and once that it is', async () => {
  const troubles = ['nodes.v1: no answer'];
  const { readiness, get, states } = await serve(troubles);
  const reached = readiness.expect('caches');
  for (let probe = 0; probe < 5; probe += 1) await get('/readyz');
  expect(states()).toMatchObject([
    { level: 'warn', message: 'Not ready', fields: { waitingFor: ['caches'], troubles } },
  ]);
  reached();
  for (let probe = 0; probe < 5; probe += 1) await get('/readyz');
  expect(states()).toHaveLength(2);
  expect(states()[1]).toMatchObject({ level: 'warn', fields: { troubles: ['nodes.v1: no answer'] } });
  troubles.pop();
  for (let probe = 0; probe < 5; probe += 1) await get('/readyz');
  expect(states().slice(2)).toMatchObject([{ level: 'info', message: 'Ready' }]);
});

test('logs nothing of an operator that is ready and stays so', async () => {
  const { get, states } = await serve();
  for (let probe = 0; probe < 3; probe += 1) await get('/readyz');
  expect(states()).toEqual([]);
});

test('knows no other path', async () => {
  const { get } = await serve();
  for (const path of ['/', '/metrics', '/healthz/', '/readyz/x']) expect(await get(path)).toMatchObject({ code: 404 });
});
