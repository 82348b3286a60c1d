import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Client } from '../../src/kube/client.ts';
import type { WatchEvent } from '../../src/kube/resource.ts';
import { type ConfigMap, configMaps } from '../../src/kube/resources.ts';
import { machines } from '../../src/kube/resources-openshift.ts';
import { adminClient, makeNamespace } from '../kit/cluster/shared-cluster.ts';

const client = adminClient();
const namespace = await makeNamespace(client, 'client-watch');
const place = { namespace };
const map = (name: string, labels = {}): ConfigMap => ({ metadata: { name, namespace, labels } });

/** Watches in the background and returns the events. */
function follow(watching: Client, options: Parameters<Client['watch']>[1]) {
  const stop = new AbortController();
  const events: WatchEvent<ConfigMap>[] = [];
  const done = (async () => {
    for await (const event of watching.watch(configMaps, { ...options, signal: stop.signal })) events.push(event);
  })();
  const seen = () => events.map(({ type, object }) => `${type} ${object.metadata.name}`);
  return { events, seen, done, end: () => stop.abort(new Error('enough')) };
}

test('watches creations, changes and deletions from a resourceVersion on', async () => {
  const { metadata } = await client.list(configMaps, place);
  const version = metadata.resourceVersion ?? '';
  const watch = follow(client, {
    ...place,
    resourceVersion: version,
    labelSelector: 'seen',
    allowWatchBookmarks: true,
  });
  await client.create(configMaps, map('seen', { seen: 'yes' }));
  await client.create(configMaps, map('unseen'));
  await client.patch(configMaps, 'seen', { type: 'merge', body: { data: { ü: '€' } } }, place).catch(() => undefined);
  await client.patch(configMaps, 'seen', { type: 'merge', body: { data: { a: '€𝄞' } } }, place);
  await client.delete(configMaps, 'seen', place);
  await expect.poll(watch.seen).toEqual(['ADDED seen', 'MODIFIED seen', 'DELETED seen']);
  expect(watch.events[1]?.object.data).toEqual({ a: '€𝄞' });
  expect(watch.events[0]?.object.metadata).not.toHaveProperty('managedFields');
  watch.end();
  await expect(watch.done).rejects.toThrow('enough');
});

test('a removed label is a deletion for a label selector', async () => {
  const { metadata } = await client.list(configMaps, place);
  const watch = follow(client, { ...place, resourceVersion: metadata.resourceVersion ?? '', labelSelector: 'comes' });
  await client.create(configMaps, map('comes', { comes: 'yes' }));
  await client.patch(configMaps, 'comes', { type: 'merge', body: { metadata: { labels: { comes: null } } } }, place);
  await expect.poll(watch.seen).toEqual(['ADDED comes', 'DELETED comes']);
  watch.end();
  await watch.done.catch(() => undefined);
});

test('a watch ends after timeoutSeconds', async () => {
  const { metadata } = await client.list(configMaps, place);
  const start = performance.now();
  const watch = follow(client, { ...place, resourceVersion: metadata.resourceVersion ?? '', timeoutSeconds: 1 });
  await watch.done;
  expect(performance.now() - start).toBeGreaterThan(800);
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('recognizes an expired resourceVersion', async () => {
  const reading = (async () => {
    for await (const { type } of client.watch(machines, { ...place, resourceVersion: '1' }))
      expect(type).toBe('BOOKMARK');
  })();
  await expect(reading).rejects.toMatchObject({ code: 410, reason: expect.stringMatching(/Expired|Gone/) });
});

test('150 watches at once all get an event', async () => {
  const many = adminClient();
  const { metadata } = await client.list(configMaps, place);
  const options = { ...place, resourceVersion: metadata.resourceVersion ?? '', fieldSelector: 'metadata.name=crowd' };
  const watches = Array.from({ length: 150 }, () => follow(many, options));
  await delay(500);
  await client.create(configMaps, map('crowd'));
  await expect.poll(() => watches.every(watch => watch.events.length === 1)).toBe(true);
  for (const watch of watches) watch.end();
  await Promise.allSettled(watches.map(watch => watch.done));
  await many.close();
});
