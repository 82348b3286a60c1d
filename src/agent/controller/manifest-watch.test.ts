import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import type { Client } from '#kube/client.ts';
import { loadKubeconfig } from '#kube/config/load-kubeconfig.ts';
import { createClient } from '#kube/http-client.ts';
import { configMaps, namespaces } from '#kube/resources.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { until } from '../../../test/kit/until.ts';
import { startApiServer } from '../../sandbox/apiserver/server.ts';
import { ManifestWatch, type ManifestWatchOptions } from './manifest-watch.ts';

const namespace = 'ns';

/** A watch on an API server, the requests it makes, and how often it told of a change. */
async function watchOn(over: Partial<ManifestWatchOptions> = {}) {
  const server = await startApiServer();
  const client = createClient(loadKubeconfig(server.kubeconfig()));
  await client.create(namespaces, { metadata: { name: namespace } });
  const asked: string[] = [];
  const counted: Pick<Client, 'list' | 'watch'> = {
    list: (resource, options) => {
      asked.push(`list ${options?.fieldSelector}`);
      return client.list(resource, options);
    },
    watch: (resource, options) => {
      asked.push(`watch ${options?.fieldSelector}`);
      return client.watch(resource, options);
    },
  };
  const changes = { count: 0 };
  const watch = new ManifestWatch({
    client: counted,
    namespace,
    clock: systemClock,
    log: recordedLog().log,
    signal: new AbortController().signal,
    onChange: () => void (changes.count += 1),
    ...over,
  });
  onTestFinished(async () => {
    await watch.stop();
    await client.close();
    await server.close();
  });
  const put = (version: string, data = 'x') =>
    client.create(configMaps, { metadata: { name: `windows-services-${version}`, namespace }, data: { data } });
  const remove = (version: string) => client.delete(configMaps, `windows-services-${version}`, { namespace });
  return { watch, client, asked, changes, put, remove };
}

test('gives the ConfigMap of a version, with what it is', async () => {
  const { watch, put, changes } = await watchOn();
  await put('v1');
  expect(await watch.get('v1')).toMatchObject({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'windows-services-v1' },
    data: { data: 'x' },
  });
  expect(changes.count).toBe(0);
});

test('gives undefined for a missing ConfigMap, and notifies when it is created', async () => {
  const { watch, put, changes } = await watchOn();
  expect(await watch.get('v1')).toBeUndefined();
  await put('v1');
  await until(() => changes.count === 1);
  expect(await watch.get('v1')).toMatchObject({ data: { data: 'x' } });
});

test('notifies when the ConfigMap is deleted and created again', async () => {
  const { watch, put, remove, changes } = await watchOn();
  await put('v1');
  await watch.get('v1');
  await remove('v1');
  await until(() => changes.count === 1);
  await put('v1', 'y');
  await until(() => changes.count === 2);
  expect(await watch.get('v1')).toMatchObject({ data: { data: 'y' } });
});

test('requests only that object, and once for any number of reads', async () => {
  const { watch, put, asked } = await watchOn();
  await put('v1');
  for (let count = 0; count < 5; count += 1) await watch.get('v1');
  expect(new Set(asked.map(request => request.split(' ')[1]))).toEqual(new Set(['metadata.name=windows-services-v1']));
  expect(asked.filter(request => request.startsWith('watch')).length).toBeLessThanOrEqual(1);
});

test('watches the last requested version only', async () => {
  const { watch, put, remove, changes } = await watchOn();
  await put('v1');
  await put('v2', 'y');
  await watch.get('v1');
  expect(await watch.get('v2')).toMatchObject({ data: { data: 'y' } });
  await remove('v1');
  await remove('v2');
  await until(() => changes.count > 0);
  await new Promise(resolve => setTimeout(resolve, 50));
  expect(changes.count).toBe(1);
});

test('does not receive other ConfigMaps of the namespace', async () => {
  const { watch, put, client, changes } = await watchOn();
  await put('v1');
  await watch.get('v1');
  await client.create(configMaps, { metadata: { name: 'trusted-ca', namespace } });
  await put('v2');
  await new Promise(resolve => setTimeout(resolve, 50));
  expect(changes.count).toBe(0);
});

test('gives up after half a minute, and reports what is wrong', async () => {
  const clock = manualClock();
  const refuse = () => Promise.reject(new Error('configmaps is forbidden'));
  const watch = new ManifestWatch({
    // A watch that fails at its first step is a watch that fails.
    client: { list: refuse, watch: () => ({ [Symbol.asyncIterator]: () => ({ next: refuse }) }) },
    namespace,
    clock,
    log: recordedLog().log,
    signal: new AbortController().signal,
    onChange: () => undefined,
  });
  onTestFinished(() => watch.stop());
  const asked = watch.get('v1').catch((error: unknown) => error);
  await clock.advance(30_000);
  expect(await asked).toMatchObject({
    code: 'SYNC_TIMEOUT',
    message: expect.stringMatching(/windows-services-v1 .*forbidden/),
    remedy: expect.stringContaining('watch'),
  });
});

test('ends with the reason when it is stopped', async () => {
  const stop = new AbortController();
  const never = () => new Promise<never>(() => undefined);
  const watch = new ManifestWatch({
    client: { list: never, watch: () => ({ [Symbol.asyncIterator]: () => ({ next: never }) }) },
    namespace,
    clock: manualClock(),
    log: recordedLog().log,
    signal: stop.signal,
    onChange: () => undefined,
  });
  const asked = watch.get('v1').catch((error: unknown) => error);
  stop.abort(new Error('shutting down'));
  expect(await asked).toMatchObject({ message: 'shutting down' });
});

test('a second stop before it has begun has no effect', async () => {
  const { watch } = await watchOn();
  await watch.stop();
  await expect(watch.stop()).resolves.toBeUndefined();
});
