import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/base/clock.ts';
import { isExpired } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import { type ClientOptions, createClient } from '../../src/kube/http-client.ts';
import type { Informer } from '../../src/kube/informer/informer.ts';
import { Informers } from '../../src/kube/informer/informers.ts';
import { type ConfigMap, configMaps, namespaces } from '../../src/kube/resources.ts';
import type { Connection } from '../../src/kube/transport/connection.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { type FaultyProxy, startFaultyProxy } from '../kit/faulty-proxy.ts';
import { type RecordedLog, recordedLog } from '../kit/recorded-log.ts';
import { type RestlessObjects, restlessObjects, versionsOf } from '../kit/restless-objects.ts';
import { startRelay, type TcpRelay } from '../kit/tcp-relay.ts';

/** Time to catch up after a fault. */
const convergenceMs = 15_000;
const objectCount = 1000;
/** Detects a dead connection within 8 s. */
const pings = { pingIntervalMs: 5000, pingTimeoutMs: 3000 };

let wallClockOffsetMs = 0;
const clock: Clock = { ...systemClock, now: () => systemClock.now() + wallClockOffsetMs };

let cluster: Cluster;
let writer: Client;
let relay: TcpRelay;
let proxy: FaultyProxy;
let objects: RestlessObjects;
let views: View[];
const rejections: unknown[] = [];
const noteRejection = (reason: unknown) => void rejections.push(reason);

/** Informers behind a proxy, and a handler that tracks objects by itself. */
interface View {
  name: string;
  client: Client;
  informers: Informers;
  all: Informer<ConfigMap>;
  even: Informer<ConfigMap>;
  tracked: Map<string, string>;
  complaints: string[];
  log: RecordedLog;
}

function viewOf(name: string, connection: Connection, options: ClientOptions = {}): View {
  const log = recordedLog();
  const client = createClient(connection, { clock, ...pings, ...options });
  const informers = new Informers({ client, clock, log: log.log });
  const scope = { namespace: objects.namespace };
  const [all, even] = [
    informers.get(configMaps, scope),
    informers.get(configMaps, { ...scope, labelSelector: 'half=even' }),
  ];
  informers.get(namespaces);
  const [tracked, complaints] = [new Map<string, string>(), [] as string[]];
  const entry = ({ metadata }: ConfigMap) => [metadata.name ?? '', metadata.resourceVersion ?? ''] as const;
  all.addHandler({
    added: object => {
      if (tracked.has(entry(object)[0])) complaints.push(`${entry(object)[0]} added twice`);
      tracked.set(...entry(object));
    },
    updated: (old, object) => {
      if (tracked.get(entry(old)[0]) !== entry(old)[1])
        complaints.push(`${entry(old)[0]} updated from an unknown state`);
      tracked.set(...entry(object));
    },
    deleted: object => {
      if (!tracked.delete(entry(object)[0])) complaints.push(`${entry(object)[0]} deleted twice`);
    },
  });
  informers.start();
  return { name, client, informers, all, even, tracked, complaints, log };
}

beforeAll(async () => {
  process.on('unhandledRejection', noteRejection);
  cluster = await startCluster({ controllerManager: false });
  writer = createClient(cluster.adminConfig, { ...pings, timeoutMs: 5000, maxRetries: 0 });
  objects = await restlessObjects(writer, 'restless', objectCount);
  relay = await startRelay(Number(new URL(cluster.url).port));
  proxy = await startFaultyProxy(cluster.adminConfig);
  views = [
    viewOf('direct', cluster.adminConfig),
    viewOf('relay', { ...cluster.adminConfig, server: `https://127.0.0.1:${relay.port}` }),
    viewOf('proxy', proxy.connection),
  ];
  await Promise.all(views.map(view => view.informers.synced()));
});

afterAll(async () => {
  for (const view of views ?? []) {
    await view.informers.stop();
    await view.client.close();
  }
  await writer?.close();
  await relay?.stop();
  await proxy?.[Symbol.asyncDispose]();
  await cluster?.stop();
  process.off('unhandledRejection', noteRejection);
});

/** Writes during the fault and after it; then all stores must match the server. */
async function survive(fault: () => Promise<void>): Promise<void> {
  const before = objects.written();
  const calm = objects.disturb();
  await delay(300);
  await fault();
  const endMs = performance.now();
  await delay(500);
  // On a busy machine the writers need longer.
  await expect.poll(() => objects.written()).toBeGreaterThan(before + 20);
  await calm();
  const want = await objects.state();
  expect(want.size).toBeGreaterThan(objectCount - 10);
  for (const view of views) await converged(view, want, endMs + convergenceMs);
  expect(rejections).toEqual([]);
}

async function converged(view: View, want: Map<string, string>, deadlineMs: number): Promise<void> {
  const wantEven = new Map([...want].filter(([name]) => Number(name.split('-')[1]) % 2 === 0));
  const differences = () => [
    ...differencesOf('all', versionsOf(view.all.store.list()), want),
    ...differencesOf('even', versionsOf(view.even.store.list()), wantEven),
    ...differencesOf('tracked', view.tracked, want),
  ];
  while (differences().length > 0 && performance.now() < deadlineMs) await delay(20);
  expect({ view: view.name, differences: differences().slice(0, 5), complaints: view.complaints }).toEqual({
    view: view.name,
    differences: [],
    complaints: [],
  });
}

function differencesOf(what: string, have: ReadonlyMap<string, string>, want: ReadonlyMap<string, string>): string[] {
  return [...new Set([...have.keys(), ...want.keys()])]
    .filter(key => have.get(key) !== want.get(key))
    .map(key => `${what}: ${key} is ${have.get(key)}, not ${want.get(key)}`);
}
function viewNamed(name: string): View {
  const view = views.find(candidate => candidate.name === name);
  if (view === undefined) throw new Error(`no view ${name}`);
  return view;
}

test('follows 1,000 objects under continuous writes', async () => {
  await survive(() => delay(1000));
  for (const { all } of views)
    expect(all.counts).toMatchObject({ failures: 0, ignored: 0, handlerErrors: 0, lists: 1 });
});

test('survives clock jumps without a new connection', async () => {
  const before = views.map(({ all }) => ({ ...all.counts, events: 0 }));
  await survive(async () => {
    for (const jumpMs of [86_400_000, -172_800_000, 31_536_000_000]) {
      wallClockOffsetMs += jumpMs;
      await delay(300);
    }
  });
  wallClockOffsetMs = 0;
  expect(views.map(({ all }) => ({ ...all.counts, events: 0 }))).toEqual(before);
});

test('survives TCP resets in the middle of streams', async () => {
  await survive(async () => {
    for (let round = 0; round < 5; round += 1) {
      relay.reset();
      await delay(400);
    }
  });
  expect(viewNamed('relay').all.counts.failures).toBeGreaterThan(0);
});

test('survives 500, 401, 429 and 503 for lists and watches, as responses and on streams', async () => {
  await survive(async () => {
    for (const code of [500, 401, 429, 503]) {
      proxy.refuse(() => ({ code, ...(code === 429 ? { retryAfterSeconds: 1 } : {}) }));
      proxy.endStreams(code);
      await delay(700);
    }
    proxy.pass();
  });
  expect(proxy.refused()).toBeGreaterThan(0);
});

test('survives an injected and a real 410', async () => {
  await survive(async () => {
    proxy.endStreams(410);
    relay.refuse(true);
    relay.reset();
    await delay(500);
    // A restarted server has no earlier history.
    await cluster.restart('kube-apiserver');
    relay.refuse(false);
  });
  const sawExpiry = ({ log }: View) => log.lines.some(({ fields }) => isExpired(fields.error));
  expect([viewNamed('proxy'), viewNamed('relay')].map(sawExpiry)).toEqual([true, true]);
});

test('survives kill -9 of kube-apiserver', async () => {
  await survive(async () => {
    await cluster.kill('kube-apiserver');
    await delay(2000);
    await cluster.restart('kube-apiserver');
  });
});

test('survives kill -9 of etcd', async () => {
  await survive(async () => {
    await cluster.kill('etcd');
    await delay(2000);
    await cluster.restart('etcd');
  });
});

test('survives a half-open connection', async () => {
  await survive(async () => {
    relay.freeze();
    relay.thaw();
    await delay(0);
  });
});

test('stops without leaks', async () => {
  for (const { informers, client } of views) {
    await informers.stop();
    await client.close();
  }
  await writer.close();
  await delay(100);
  const handles = process.getActiveResourcesInfo().filter(kind => /Timeout|TLS/.test(kind));
  expect(rejections).toEqual([]);
  expect(handles.filter(kind => kind.startsWith('TLS'))).toEqual([]);
});
