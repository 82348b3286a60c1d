import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCondition, setCondition } from '../../src/base/condition.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { Controller } from '../../src/kube/controller/controller.ts';
import { runManager } from '../../src/kube/controller/manager.ts';
import { done } from '../../src/kube/controller/reconcile.ts';
import { watching } from '../../src/kube/controller/watches.ts';
import { EventRecorder, referenceTo } from '../../src/kube/events/events.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { Informers } from '../../src/kube/informer/informers.ts';
import { LeaseLeadership } from '../../src/kube/leader/lease.ts';
import { changeObject, patchObject } from '../../src/kube/patch/patch-helper.ts';
import { configMaps, events, type KubeEvent, namespaces, nodes } from '../../src/kube/resources.ts';
import { sharedKubeconfig } from '../kit/cluster/shared-cluster.ts';
import { until } from '../kit/until.ts';

let client: Client;
beforeAll(() => {
  client = createClient(loadKubeconfig(sharedKubeconfig()));
});
afterAll(() => client.close());

test('informer, controller, leader election and events bring every object to the desired state', async () => {
  const namespace = 'controller-all';
  await client.create(namespaces, { metadata: { name: namespace } });
  const informers = new Informers({ client });
  const informer = informers.get(configMaps, { namespace, labelSelector: 'wanted=yes' });
  const recorder = new EventRecorder({ client, component: 'test' });
  const failedOnce = new Set<string>();
  /** Doubles the value of each object, and fails the first time with every third. */
  const controller = new Controller({
    name: 'double',
    concurrency: 5,
    watches: [watching({ source: informer })],
    reconcile: async key => {
      const before = informer.store.get(key);
      if (before === undefined) return done;
      if (key.name.endsWith('3') && !failedOnce.has(key.name)) {
        failedOnce.add(key.name);
        throw new Error('at first it fails');
      }
      const double = String(2 * Number(before.data?.['value'] ?? 0));
      if (before.data?.['double'] === double) return done;
      await patchObject(client, configMaps, { before, after: { ...before, data: { ...before.data, double } } });
      recorder.record(referenceTo(configMaps, before), { type: 'Normal', reason: 'Doubled', message: `to ${double}` });
      return done;
    },
  });
  const stop = new AbortController();
  const over = runManager(
    {
      caches: [
        {
          name: 'informers',
          run: async (signal, ready) => {
            informers.start();
            await informers.synced(signal);
            ready();
            await new Promise(resolve => signal.addEventListener('abort', resolve));
            await informers.stop();
          },
        },
      ],
      others: [recorder],
      leaderOnly: [controller],
      leadership: new LeaseLeadership({ client, namespace, name: 'double', identity: 'only' }),
    },
    stop.signal,
  );
  const names = Array.from({ length: 40 }, (_, index) => `thing-${index}`);
  const make = (name: string, index: number) =>
    client.create(configMaps, {
      metadata: { name, namespace, labels: { wanted: 'yes' } },
      data: { value: String(index) },
    });
  await Promise.all(names.map(make));
  const body = { data: { value: '1000' } };
  await Promise.all(names.map(name => client.patch(configMaps, name, { type: 'merge', body }, { namespace })));
  const all = async () => (await client.list(configMaps, { namespace, labelSelector: 'wanted=yes' })).items;
  await until(async () => (await all()).every(each => each.data?.['double'] === '2000'), 'all are doubled');
  stop.abort();
  await over;
  const recorded = (await client.list(events, { namespace })).items.filter(each => each.reason === 'Doubled');
  expect(new Set(recorded.map(each => each.involvedObject.name))).toEqual(new Set(names));
});

test('creates events in order, increases their count, and puts those of Nodes into default', async () => {
  const [name, namespace] = ['events-node', 'events-all'];
  await client.create(namespaces, { metadata: { name: namespace } });
  const node = await client.create(nodes, { metadata: { name } });
  const map = await client.create(configMaps, { metadata: { name: 'map', namespace } });
  const recorder = new EventRecorder({ client, component: 'test', instance: 'here' });
  const stop = new AbortController();
  const over = recorder.run(stop.signal, () => undefined);
  for (let times = 0; times < 3; times += 1) {
    recorder.record(referenceTo(nodes, node), { type: 'Warning', reason: 'Again', message: 'the same' });
  }
  for (let index = 0; index < 12; index += 1) {
    recorder.record(referenceTo(configMaps, map), { type: 'Normal', reason: 'Many', message: `number ${index}` });
  }
  stop.abort();
  await over;
  const about = async (where: string, reason: string): Promise<KubeEvent[]> =>
    (await client.list(events, { namespace: where })).items.filter(each => each.reason === reason);
  expect(await about('default', 'Again')).toMatchObject([
    {
      involvedObject: { kind: 'Node', name, uid: node.metadata.uid },
      count: 3,
      type: 'Warning',
      message: 'the same',
      source: { component: 'test', host: 'here' },
      reportingComponent: 'test',
    },
  ]);
  const many = (await about(namespace, 'Many')).map(each => each.message ?? '');
  expect(many.sort()).toEqual(
    [...Array.from({ length: 9 }, (_, index) => `number ${index}`), '(combined from similar events): number 11'].sort(),
  );
});

test('writes conditions and metadata of a Node separately, and only changes', async () => {
  const name = 'patch-node';
  await client.create(nodes, { metadata: { name } });
  const change = () =>
    changeObject(client, nodes, {
      key: { namespace: '', name },
      change: node => ({
        ...node,
        metadata: { ...node.metadata, annotations: { 'example.com/version': 'v2' } },
        status: {
          ...node.status,
          conditions: [
            ...setCondition(
              node.status?.conditions,
              { type: 'Configured', status: 'True', reason: 'Done', message: 'done' },
              0,
            ),
          ],
        },
      }),
    });
  const first = await change();
  expect(first.after.metadata.annotations).toMatchObject({ 'example.com/version': 'v2' });
  expect(findCondition(first.after.status?.conditions, 'Configured')).toMatchObject({
    status: 'True',
    lastTransitionTime: '1970-01-01T00:00:00Z',
  });
  const second = await change();
  expect(second.after.metadata.resourceVersion).toBe(first.after.metadata.resourceVersion);
});
