import { expect, test } from 'vitest';
import { quiet, startLocalApi } from '../../../../test/kit/local-api.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { timestamp } from '../../../base/clock.ts';
import { ofNamespace, podDisruptionBudgets, pods } from '../../../kube/resources.ts';
import { recordAt } from '../object.ts';
import type { LocalApi, StoredObject } from '../ports.ts';
import { createDisruptionController } from './disruption.ts';

const replicaSets = ofNamespace('apps/v1', 'ReplicaSet', 'replicasets');
const start = (clock = manualClock()) => startLocalApi([createDisruptionController()], clock);

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
const makeSet = (api: LocalApi, name: string, replicas: number) =>
  api.create(replicaSets, {
    metadata: { namespace: 'default', name },
    spec: { replicas, selector: { matchLabels: { app: 'web' } }, template },
  } as never);
const ownedBy = (set: StoredObject) => [
  { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: set.metadata.name, uid: set.metadata.uid, controller: true },
];
const makePod = (api: LocalApi, name: string, more: { ready?: boolean; labels?: object; owners?: object[] } = {}) => {
  const pod = api.create(pods, {
    metadata: { namespace: 'default', name, labels: more.labels ?? { app: 'web' }, ownerReferences: more.owners ?? [] },
    spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
  } as never);
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: more.ready === false ? 'False' : 'True' }] };
  return api.replace(pods, { ...pod, status } as never, { subresource: 'status' });
};
const makeBudget = (api: LocalApi, spec: object) =>
  api.create(podDisruptionBudgets, {
    metadata: { namespace: 'default', name: 'b' },
    spec: { selector: { matchLabels: { app: 'web' } }, ...spec },
  } as never);
const statusOf = (api: LocalApi) =>
  recordAt(api.get(podDisruptionBudgets, { namespace: 'default', name: 'b' }), 'status');
const counts = (currentHealthy: number, desiredHealthy: number, expectedPods: number, disruptionsAllowed: number) =>
  expect.objectContaining({ currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed });
const evict = (api: LocalApi, name: string) =>
  api.create(pods, { metadata: { namespace: 'default', name } }, { subresource: 'eviction' });

test('counts the pods that are ready', async () => {
  await using api = await start();
  makePod(api, 'a');
  makePod(api, 'b');
  makePod(api, 'c', { ready: false });
  makePod(api, 'other', { labels: { app: 'db' } });
  makeBudget(api, { minAvailable: 1 });
  await quiet(api);
  expect(statusOf(api)).toEqual({
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 3,
    disruptionsAllowed: 1,
    observedGeneration: 1,
  });
});

test('follows created, changed and deleted pods', async () => {
  await using api = await start();
  makeBudget(api, { minAvailable: 1 });
  await quiet(api);
  expect(statusOf(api)).toEqual(counts(0, 1, 0, 0));
  makePod(api, 'a');
  const b = makePod(api, 'b');
  await quiet(api);
  expect(statusOf(api)).toEqual(counts(2, 1, 2, 1));
  api.replace(pods, { ...b, status: { phase: 'Running' } } as never, { subresource: 'status' });
  await quiet(api);
  expect(statusOf(api)).toEqual(counts(1, 1, 2, 0));
  api.delete(pods, { namespace: 'default', name: 'a' }, { gracePeriodSeconds: 0 });
  await quiet(api);
  expect(statusOf(api)).toEqual(counts(0, 1, 1, 0));
});

test('a terminating pod is not healthy', async () => {
  await using api = await start();
  makePod(api, 'a');
  makeBudget(api, { minAvailable: 0 });
  api.delete(pods, { namespace: 'default', name: 'a' });
  await quiet(api);
  expect(statusOf(api)).toEqual(counts(0, 0, 1, 0));
});

test('follows a change of the budget itself', async () => {
  await using api = await start();
  makePod(api, 'a');
  const budget = makeBudget(api, { minAvailable: 1 });
  await quiet(api);
  const current = api.get(podDisruptionBudgets, { namespace: 'default', name: 'b' });
  api.replace(podDisruptionBudgets, { ...current, spec: { ...(budget['spec'] as object), minAvailable: 0 } } as never);
  await quiet(api);
  expect(statusOf(api)).toEqual(counts(1, 0, 1, 1));
  expect(statusOf(api)['observedGeneration']).toBe(2);
});

test('a percentage refers to the replicas of the controllers', async () => {
  await using api = await start();
  const [one, two] = [makeSet(api, 'one', 3), makeSet(api, 'two', 5)];
  makePod(api, 'a', { owners: ownedBy(one) });
  makePod(api, 'b', { owners: ownedBy(one) });
  makePod(api, 'c', { owners: ownedBy(two) });
  makeBudget(api, { maxUnavailable: '75%' });
  await quiet(api);
  expect(statusOf(api)).toEqual(counts(3, 2, 8, 1));
  const current = api.get(replicaSets, { namespace: 'default', name: 'two' });
  api.replace(replicaSets, { ...current, spec: { ...(current?.['spec'] as object), replicas: 1 } } as never);
  await quiet(api);
  expect(statusOf(api)).toEqual(counts(3, 1, 4, 2));
});

const uncountable: [string, object[]][] = [
  ['has no owner', []],
  ['has an owner that is no controller', [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'one', uid: 'x' }]],
  [
    'has a controller that is gone',
    [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'ghost', uid: 'x', controller: true }],
  ],
  [
    'has a controller without a number',
    [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'd', uid: 'x', controller: true }],
  ],
  [
    'has a controller of an unknown kind',
    [{ apiVersion: 'x/v1', kind: 'ReplicaSet', name: 'd', uid: 'x', controller: true }],
  ],
];
test.each(uncountable)('allows no disruption for a percentage if a pod %s', async (_, owners) => {
  await using api = await start();
  makePod(api, 'a', { owners });
  makeBudget(api, { maxUnavailable: '100%' });
  await quiet(api);
  expect(statusOf(api)['disruptionsAllowed']).toBe(0);
});

test('a selector may have expressions, may be empty, or may be missing', async () => {
  await using api = await start();
  makePod(api, 'a');
  makePod(api, 'b', { labels: { app: 'db' } });
  const selectors: [object | null, number][] = [
    [{ matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'db'] }] }, 2],
    [{ matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }, 1],
    [{}, 2],
    [null, 0],
  ];
  for (const [selector, expected] of selectors) {
    makeBudget(api, { minAvailable: 0, selector });
    await quiet(api);
    expect(statusOf(api)['expectedPods']).toBe(expected);
    api.delete(podDisruptionBudgets, { namespace: 'default', name: 'b' });
  }
});

test('evictions are granted one by one, and refused when none is left', async () => {
  await using api = await start();
  for (const name of ['a', 'b', 'c']) makePod(api, name);
  makeBudget(api, { minAvailable: 2 });
  await quiet(api);
  evict(api, 'a');
  expect(() => evict(api, 'b')).toThrow(expect.objectContaining({ status: expect.objectContaining({ code: 429 }) }));
  await quiet(api);
  expect(() => evict(api, 'b')).toThrow(expect.objectContaining({ status: expect.objectContaining({ code: 429 }) }));
  makePod(api, 'd');
  await quiet(api);
  evict(api, 'b');
});

test('an eviction that was granted but never happened counts for two minutes', async () => {
  const clock = manualClock();
  await using api = await start(clock);
  for (const name of ['a', 'b']) makePod(api, name);
  makeBudget(api, { minAvailable: 1 });
  await quiet(api);
  const current = api.get(podDisruptionBudgets, { namespace: 'default', name: 'b' });
  const disruptedPods = { a: timestamp(clock.now()), ghost: timestamp(clock.now()) };
  api.replace(podDisruptionBudgets, { ...current, status: { ...statusOf(api), disruptedPods } } as never, {
    subresource: 'status',
  });
  await quiet(api);
  expect(statusOf(api)).toEqual(
    expect.objectContaining({ disruptionsAllowed: 0, disruptedPods: { a: disruptedPods.a } }),
  );
  await clock.advance(119_000);
  expect(statusOf(api)['disruptionsAllowed']).toBe(0);
  await clock.advance(2000);
  expect(statusOf(api)['disruptionsAllowed']).toBe(1);
  expect(statusOf(api)['disruptedPods']).toBeUndefined();
});

test('budgets from before the start are counted', async () => {
  await using api = await startLocalApi([], manualClock());
  makePod(api, 'a');
  makeBudget(api, { minAvailable: 0 });
  const controller = createDisruptionController();
  controller.start(api);
  await quiet(api);
  controller.stop();
  expect(statusOf(api)).toEqual(counts(1, 0, 1, 1));
});
