import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { Drainer, drainError } from '../../src/kube/drain/drain.ts';
import { drainProgress } from '../../src/kube/drain/drain-text.ts';
import { createClient } from '../../src/kube/http-client.ts';
import type { KubeResource, Metadata, OwnerReference, Resource } from '../../src/kube/resource.ts';
import {
  configMaps,
  nodes,
  ofNamespace,
  type Pod,
  type PodDisruptionBudget,
  podDisruptionBudgets,
  podDisruptionBudgetsV1beta1,
  pods,
} from '../../src/kube/resources.ts';
import { sharedKubeconfig } from '../kit/cluster/shared-cluster.ts';
import { makeNamespace, makePod, running, setPodStatus } from '../kit/cluster-pods.ts';

const daemonSets: Resource<KubeResource & { spec: unknown }> = ofNamespace('apps/v1', 'DaemonSet', 'daemonsets');

let client: Client;
let budgets: Resource<PodDisruptionBudget>;

beforeAll(() => {
  client = createClient(loadKubeconfig(sharedKubeconfig()));
  budgets = inject('minor') >= 21 ? podDisruptionBudgets : podDisruptionBudgetsV1beta1;
});
afterAll(() => client.close());

/** A Node and a namespace for one test, and a function that creates pods. */
async function arena(name: string) {
  await makeNamespace(client, name);
  await client.create(nodes, { metadata: { name } });
  const keeper = await client.create(configMaps, { metadata: { name: 'keeper', namespace: name } });
  const owner: OwnerReference = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'keeper',
    uid: keeper.metadata.uid ?? '',
    controller: true,
  };
  const pod = async (podName: string, metadata: Metadata = {}, spec: Pod['spec'] = {}) => {
    const full = { name: podName, namespace: name, ownerReferences: [owner], ...metadata };
    const made = await makePod(client, full, { nodeName: name, ...spec });
    await setPodStatus(client, made, running);
    return made;
  };
  const left = async () =>
    (await client.list(pods, { namespace: name })).items.map(each => each.metadata.name ?? '').sort();
  return { pod, left, namespace: name, node: name };
}

/** An active budget that allows no disruption. */
async function makeBudget(namespace: string, name: string, labels: Record<string, string>, minAvailable: number) {
  const selector = { matchLabels: labels };
  const made = await client.create(budgets, { metadata: { name, namespace }, spec: { minAvailable, selector } });
  if (!inject('hasControllerManager')) {
    const { generation = 1 } = made.metadata;
    const counts = { currentHealthy: minAvailable, desiredHealthy: minAvailable, expectedPods: minAvailable };
    const body = { status: { observedGeneration: generation, disruptionsAllowed: 0, ...counts } };
    await client.patch(budgets, name, { type: 'merge', body }, { namespace, subresource: 'status' });
  }
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const { status } = await client.get(budgets, name, { namespace });
    if (status?.currentHealthy === minAvailable && status.observedGeneration !== undefined) return;
    await delay(100);
  }
  throw new Error(`budget ${namespace}/${name} does not count its pods`);
}

test('a blocking budget causes a timeout that names pod and budget, and other pods are evicted', async () => {
  const { pod, left, namespace, node } = await arena('drain-blocked');
  const labels = { app: 'web' };
  await pod('web-1', { labels });
  await pod('web-2', { labels });
  await pod('free-1', { labels: { app: 'free' } });
  await pod('free-2');
  await pod('alone', { ownerReferences: [] });
  await makeBudget(namespace, 'web', labels, 2);
  await makeBudget(namespace, 'other', { app: 'free-but-unknown' }, 0);
  const startMs = performance.now();
  const drainer = new Drainer({ client, timeoutMs: 4000, retryMs: 1000, pollMs: 200 });
  const notes: string[] = [];
  const result = await drainer.drain(node, { onProgress: pods => notes.push(drainProgress(pods)) });
  const tookMs = performance.now() - startMs;

  expect(tookMs).toBeGreaterThanOrEqual(4000);
  expect(tookMs).toBeLessThan(20_000);
  expect(result.gone.map(each => each.name).sort()).toEqual(['alone', 'free-1', 'free-2']);
  expect(await left()).toEqual(['web-1', 'web-2']);
  expect(result.blocked.map(each => [each.pod, each.budgets])).toEqual([
    [{ namespace, name: 'web-1' }, ['web']],
    [{ namespace, name: 'web-2' }, ['web']],
  ]);
  expect(result.blocked[0]?.message).toMatch(/disruption budget/i);
  expect(notes.at(-1)).toMatch(
    /2 pods left; blocked: drain-blocked\/web-1 \(PodDisruptionBudget web: .*; drain-blocked\/web-2 \(/,
  );
  expect(drainError(node, result)).toMatchObject({
    code: 'DRAIN_BLOCKED',
    message: expect.stringMatching(/drain-blocked\/web-1 \(PodDisruptionBudget web: /),
  });
});

test('continues when the budget allows it', async () => {
  const { pod, left, namespace, node } = await arena('drain-later');
  const labels = { app: 'web' };
  await pod('web-1', { labels });
  await makeBudget(namespace, 'web', labels, 1);
  const drainer = new Drainer({ client, timeoutMs: 30_000, retryMs: 500, pollMs: 200 });
  const drained = drainer.drain(node);
  await delay(1500);
  expect(await left()).toEqual(['web-1']);
  await client.delete(budgets, 'web', { namespace });
  expect(await drained).toMatchObject({ gone: [{ name: 'web-1' }], blocked: [] });
});

test('skips pods of DaemonSets and mirror pods, and waits for terminating ones', async () => {
  const { pod, left, namespace, node } = await arena('drain-classes');
  const template = { metadata: { labels: { x: 'y' } }, spec: { containers: [{ name: 'main', image: 'none' }] } };
  const spec = { selector: { matchLabels: { x: 'y' } }, template };
  const set = await client.create(daemonSets, { metadata: { name: 'agent', namespace }, spec });
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: 'agent',
    uid: set.metadata.uid ?? '',
    controller: true,
  };
  await pod('daemon', { ownerReferences: [owner] });
  await pod('mirror', { annotations: { 'kubernetes.io/config.mirror': 'x' } });
  const finished = await pod('finished');
  await setPodStatus(client, finished, { phase: 'Succeeded' });
  await pod('data', {}, { volumes: [{ name: 'tmp', emptyDir: {} }] });
  await pod('going', {}, { terminationGracePeriodSeconds: 30 });
  await client.delete(pods, 'going', { namespace });
  const drained = new Drainer({ client, timeoutMs: 20_000, pollMs: 200 }).drain(node);
  await expect.poll(left).toEqual(['daemon', 'going', 'mirror']);
  await client.delete(pods, 'going', { namespace, gracePeriodSeconds: 0 });
  const result = await drained;
  expect(result.gone.map(each => each.name).sort()).toEqual(['data', 'finished', 'going']);
  expect(result.left.map(each => `${each.pod.name}: ${each.is}`).sort()).toEqual([
    'daemon: daemon set',
    'mirror: mirror',
  ]);
  expect(result.blocked).toEqual([]);
});

test('respects the grace period of the pod', async () => {
  const { pod, namespace, node } = await arena('drain-grace');
  await pod('slow', {}, { terminationGracePeriodSeconds: 47 });
  const result = await new Drainer({ client, timeoutMs: 1500, pollMs: 200 }).drain(node);
  expect(result.blocked).toMatchObject([{ pod: { name: 'slow' }, is: 'terminating', budgets: [] }]);
  const { metadata } = await client.get(pods, 'slow', { namespace });
  expect(metadata).toMatchObject({ deletionGracePeriodSeconds: 47, deletionTimestamp: expect.any(String) });
});

test('names both budgets of a pod, which cannot be evicted', async () => {
  const { pod, namespace, node } = await arena('drain-two-budgets');
  const labels = { app: 'web' };
  await pod('web-1', { labels });
  await makeBudget(namespace, 'one', labels, 1);
  await makeBudget(namespace, 'two', labels, 1);
  const result = await new Drainer({ client, timeoutMs: 1500, pollMs: 200 }).drain(node);
  expect(result.blocked).toMatchObject([
    { budgets: ['one', 'two'], message: expect.stringContaining('more than one') },
  ]);
});
