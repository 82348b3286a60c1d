import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { AppError } from '../../src/base/errors.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { type ClientOptions, createClient } from '../../src/kube/http-client.ts';
import { configMaps, namespaces } from '../../src/kube/resources.ts';
import { startCluster } from '../kit/cluster/cluster.ts';
import { startRelay } from '../kit/tcp-relay.ts';

/** A separate cluster that is broken on purpose. The server closes connections at times, as behind a load balancer. */
const cluster = await startCluster({
  controllerManager: false,
  apiServerFlags: ['--goaway-chance=0.02', '--http2-max-streams-per-connection=40'],
});
const relay = await startRelay(Number(new URL(cluster.url).port));
afterAll(async () => {
  await relay.stop();
  await cluster.stop();
});

function clientOf(options: ClientOptions = {}) {
  const throughRelay = cluster.kubeconfigText.replaceAll(cluster.url, `https://127.0.0.1:${relay.port}`);
  return createClient(loadKubeconfig(throughRelay), { timeoutMs: 5000, ...options });
}

const place = { namespace: 'default' };

/** Retries until it works. Every failure has a known type. */
async function untilWorks(run: () => Promise<unknown>): Promise<void> {
  const failures: unknown[] = [];
  const works = async () => {
    await run();
    return true;
  };
  await expect.poll(() => works().catch((error: unknown) => failures.push(error) < 0)).toBe(true);
  expect(failures.filter(error => !(error instanceof AppError || error instanceof ApiError))).toEqual([]);
}

test('callers do not notice connections that the server closes gracefully', async () => {
  const client = clientOf({ timeoutMs: 60_000 });
  const before = relay.accepted();
  for (let turn = 0; turn < 40; turn += 1)
    await Promise.all(Array.from({ length: 25 }, () => client.get(namespaces, 'default')));
  expect(relay.accepted() - before).toBeGreaterThan(3);
  await client.close();
});

test('writes are neither lost nor repeated when the server closes connections gracefully', async () => {
  const client = clientOf({ timeoutMs: 60_000 });
  const names = Array.from({ length: 300 }, (_, n) => `write-${n}`);
  await Promise.all(
    names.map(name => client.create(configMaps, { metadata: { name, ...place, labels: { written: 'yes' } } })),
  );
  const { items } = await client.listAll(configMaps, { ...place, labelSelector: 'written' });
  expect(new Set(items.map(item => item.metadata.name))).toEqual(new Set(names));
  expect(items).toHaveLength(names.length);
  await client.close();
});

test('spreads watches over several connections', async () => {
  const client = clientOf();
  const { metadata } = await client.list(configMaps, place);
  const stop = new AbortController();
  let events = 0;
  const options = {
    ...place,
    resourceVersion: metadata.resourceVersion ?? '',
    signal: stop.signal,
    fieldSelector: 'metadata.name=spread',
  };
  const watching = Array.from({ length: 100 }, async () => {
    for await (const _ of client.watch(configMaps, options)) events += 1;
  });
  await delay(500);
  await client.create(configMaps, { metadata: { name: 'spread', ...place } });
  await expect.poll(() => events).toBe(100);
  stop.abort();
  await Promise.allSettled(watching);
  await client.close();
});

test('continues after a restart of the server', async () => {
  const client = clientOf();
  await client.get(namespaces, 'default');
  const watching = (async () => {
    for await (const _ of client.watch(configMaps, place));
  })();
  const broken = expect(watching).rejects.toMatchObject({ code: 'API_CONNECTION_BROKEN' });
  await delay(200);
  await cluster.kill('kube-apiserver');
  await broken;
  await expect(client.get(namespaces, 'default')).rejects.toMatchObject({
    code: expect.stringMatching(/^API_(UNREACHABLE|CONNECTION_BROKEN|UNTRUSTED)$/),
  });
  await cluster.restart('kube-apiserver');
  await untilWorks(() => client.get(namespaces, 'default'));
  await client.close();
});

test('continues after a restart of etcd', async () => {
  const client = clientOf();
  await client.create(configMaps, { metadata: { name: 'before', ...place } });
  await cluster.kill('etcd');
  await expect(client.create(configMaps, { metadata: { name: 'during', ...place } })).rejects.toMatchObject({
    code: expect.anything(),
  });
  await cluster.restart('etcd');
  await untilWorks(() => client.create(configMaps, { metadata: { name: 'after', ...place } }));
  expect((await client.get(configMaps, 'before', place)).metadata.name).toBe('before');
  await client.close();
});

test('pings detect a frozen server, and it is used again afterwards', async () => {
  // Long enough for a busy machine.
  const client = clientOf({ pingIntervalMs: 200, pingTimeoutMs: 3000 });
  await client.get(namespaces, 'default');
  const watching = (async () => {
    for await (const _ of client.watch(configMaps, place));
  })();
  const broken = expect(watching).rejects.toMatchObject({
    code: 'API_CONNECTION_BROKEN',
    message: expect.stringContaining('ping'),
  });
  await delay(200);
  const pid = cluster.pidOf('kube-apiserver') ?? 0;
  process.kill(pid, 'SIGSTOP');
  const start = performance.now();
  try {
    await broken;
    expect(performance.now() - start).toBeLessThan(20_000);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await untilWorks(() => client.get(namespaces, 'default'));
  await client.close();
});

test('detects a silently cut connection and opens another', async () => {
  const client = clientOf({ pingIntervalMs: 200, pingTimeoutMs: 3000 });
  await client.get(namespaces, 'default');
  relay.freeze();
  relay.thaw();
  const start = performance.now();
  expect((await client.get(namespaces, 'default')).metadata.name).toBe('default');
  expect(performance.now() - start).toBeLessThan(30_000);
  await client.close();
});

test('resets fail only single requests', async () => {
  const client = clientOf();
  let answered = 0;
  for (let turn = 0; turn < 200; turn += 1) {
    if (turn % 10 === 0) setTimeout(() => relay.reset(), turn % 7);
    await client.get(namespaces, 'default').then(
      () => (answered += 1),
      (error: unknown) => expect(error).toBeInstanceOf(AppError),
    );
  }
  expect(answered).toBeGreaterThan(100);
  await untilWorks(() => client.get(namespaces, 'default'));
  await client.close();
});
