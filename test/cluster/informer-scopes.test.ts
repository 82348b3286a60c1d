import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { Informer } from '../../src/kube/informer/informer.ts';
import { Informers } from '../../src/kube/informer/informers.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { type ConfigMap, configMaps, namespaces } from '../../src/kube/resources.ts';
import { sharedKubeconfig } from '../kit/cluster/shared-cluster.ts';
import { until } from '../kit/until.ts';

let client: Client;
let informers: Informers;
let [here, elsewhere] = ['', ''];

beforeAll(async () => {
  client = createClient(loadKubeconfig(sharedKubeconfig()));
  informers = new Informers({ client });
  informers.start();
  for (const place of ['here', 'elsewhere'] as const) {
    const { metadata } = await client.create(namespaces, { metadata: { generateName: `informer-${place}-` } });
    if (place === 'here') here = metadata.name ?? '';
    else elsewhere = metadata.name ?? '';
  }
});

afterAll(async () => {
  await informers?.stop();
  await client?.close();
});

const make = (name: string, namespace: string, labels: Record<string, string> = {}): Promise<ConfigMap> =>
  client.create(configMaps, { metadata: { name, namespace, labels }, data: { value: '0' } });
const patch = (name: string, body: object) =>
  client.patch(configMaps, name, { type: 'merge', body }, { namespace: here });

test('watches only one namespace', async () => {
  const informer = informers.get(configMaps, { namespace: here });
  await informer.synced;
  await make('outside', elsewhere);
  await make('inside', here);
  await until(() => informer.store.get({ namespace: here, name: 'inside' }) !== undefined);
  expect(new Set(informer.store.list().map(({ metadata }) => metadata.namespace))).toEqual(new Set([here]));
});

test('reports objects that start or stop matching a label selector as additions and deletions', async () => {
  const informer = informers.get(configMaps, { namespace: here, labelSelector: 'color=red' });
  const events: string[] = [];
  informer.addHandler({
    added: ({ metadata }) => events.push(`+${metadata.name}`),
    updated: (old, object) => events.push(`${old.data?.value}>${object.data?.value}`),
    deleted: ({ metadata }) => events.push(`-${metadata.name}`),
  });
  await informer.synced;
  await make('painted', here, { color: 'blue' });
  await patch('painted', { metadata: { labels: { color: 'red' } } });
  await patch('painted', { data: { value: '1' } });
  await patch('painted', { metadata: { labels: { color: 'green' } } });
  await until(() => events.length >= 3);
  expect(events).toEqual(['+painted', '0>1', '-painted']);
});

test('watches one object by field selector', async () => {
  const informer = informers.get(configMaps, { namespace: here, fieldSelector: 'metadata.name=chosen' });
  await informer.synced;
  await make('not-chosen', here);
  await make('chosen', here);
  await until(() => informer.store.size > 0);
  expect(informer.store.list().map(({ metadata }) => metadata.name)).toEqual(['chosen']);
});

test('stores frozen objects with times as strings and without managedFields', async () => {
  const informer = informers.get(configMaps, { namespace: here });
  await make('plain', here, { a: 'b' });
  await until(() => informer.store.get({ namespace: here, name: 'plain' }) !== undefined);
  const object = informer.store.get({ namespace: here, name: 'plain' });
  expect(Object.isFrozen(object?.metadata.labels)).toBe(true);
  expect(object?.metadata).not.toHaveProperty('managedFields');
  expect(object?.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
});

test('objects have the same shape from list and watch', async () => {
  await make('listed', here);
  const informer = informers.get(configMaps, { namespace: here, labelSelector: '!color' });
  await informer.synced;
  await make('watched', here);
  await until(() => informer.store.get({ namespace: here, name: 'watched' }) !== undefined);
  for (const name of ['listed', 'watched']) {
    expect(informer.store.get({ namespace: here, name })).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' });
  }
});

test('an update keeps managedFields that the store omits', async () => {
  const informer = informers.get(configMaps, { namespace: here });
  await make('kept', here);
  await until(() => informer.store.get({ namespace: here, name: 'kept' }) !== undefined);
  const kept = informer.store.get({ namespace: here, name: 'kept' });
  if (kept === undefined) throw new Error('not kept');
  const replaced = await client.replace(configMaps, { ...kept, data: { value: '2' } });
  expect(replaced).toHaveProperty('metadata.managedFields[0].manager');
});

test('keeps an index up to date', async () => {
  const informer = informers.get(configMaps, { namespace: here });
  informer.addIndex('value', ({ data }) => [data?.value ?? '']);
  await make('indexed', here);
  await patch('indexed', { data: { value: 'seven' } });
  await until(() => informer.store.byIndex('value', 'seven').length === 1);
  await client.delete(configMaps, 'indexed', { namespace: here });
  await until(() => informer.store.byIndex('value', 'seven').length === 0);
});

test('waits for a missing kind, reports it, and can be stopped', async () => {
  const unknown: Resource = {
    group: 'example.com',
    version: 'v1',
    plural: 'wonders',
    kind: 'Wonder',
    namespaced: true,
  };
  const informer = new Informer({ client, resource: unknown });
  informer.start();
  await until(() => informer.trouble !== undefined);
  expect([informer.hasSynced, informer.trouble]).toEqual([false, expect.stringContaining('wonders')]);
  await informer.stop();
});
