import { expect, test } from 'vitest';
import type { Metadata, OwnerReference } from '../resource.ts';
import type { Pod } from '../resources.ts';
import { classify, type PodAction, type PodClass, podRules } from './pod-class.ts';

const owner = (kind: string, controller = true): OwnerReference => ({
  apiVersion: 'apps/v1',
  kind,
  name: 'x',
  uid: 'u',
  controller,
});
const of = (...ownerReferences: OwnerReference[]): Metadata => ({ ownerReferences });
const deleted = { deletionTimestamp: '2026-03-01T12:00:00Z' };
const mirror = { annotations: { 'kubernetes.io/config.mirror': 'hash' } };
const emptyDir = {
  volumes: [
    { name: 'token', secret: {} },
    { name: 'tmp', emptyDir: {} },
  ],
};

const cases: [string, Partial<Pod>, PodClass, PodAction][] = [
  ['of a ReplicaSet', { metadata: of(owner('ReplicaSet')) }, 'managed', 'evict'],
  ['of a StatefulSet', { metadata: of(owner('StatefulSet')) }, 'managed', 'evict'],
  ['of a Job', { metadata: of(owner('Job')) }, 'managed', 'evict'],
  ['of a kind nobody knows', { metadata: of(owner('Game')) }, 'managed', 'evict'],
  ['of nobody', { metadata: {} }, 'unmanaged', 'evict'],
  ['of nobody, with local data', { metadata: {}, spec: emptyDir }, 'unmanaged', 'evict'],
  ['of an owner that does not control it', { metadata: of(owner('DaemonSet', false)) }, 'unmanaged', 'evict'],
  ['of a Node, as static pods are', { metadata: of(owner('Node')) }, 'managed', 'evict'],
  ['with local data', { metadata: of(owner('ReplicaSet')), spec: emptyDir }, 'local data', 'evict'],
  [
    'with other volumes',
    { metadata: of(owner('ReplicaSet')), spec: { volumes: [{ name: 'x', hostPath: {} }] } },
    'managed',
    'evict',
  ],
  ['of a DaemonSet', { metadata: of(owner('DaemonSet')) }, 'daemon set', 'leave'],
  ['of a DaemonSet, with local data', { metadata: of(owner('DaemonSet')), spec: emptyDir }, 'daemon set', 'leave'],
  ['of a DaemonSet, being deleted', { metadata: { ...of(owner('DaemonSet')), ...deleted } }, 'daemon set', 'leave'],
  ['of a DaemonSet, failed', { metadata: of(owner('DaemonSet')), status: { phase: 'Failed' } }, 'finished', 'evict'],
  ['of a DaemonSet and another owner', { metadata: of(owner('X', false), owner('DaemonSet')) }, 'daemon set', 'leave'],
  ['in the mirror', { metadata: { ...of(owner('Node')), ...mirror } }, 'mirror', 'leave'],
  ['in the mirror, being deleted', { metadata: { ...mirror, ...deleted } }, 'mirror', 'leave'],
  ['in the mirror, finished', { metadata: mirror, status: { phase: 'Failed' } }, 'mirror', 'leave'],
  ['being deleted', { metadata: { ...of(owner('ReplicaSet')), ...deleted } }, 'terminating', 'wait'],
  ['of nobody, being deleted', { metadata: deleted }, 'terminating', 'wait'],
  ['finished, being deleted', { metadata: deleted, status: { phase: 'Succeeded' } }, 'terminating', 'wait'],
  ['that succeeded', { metadata: of(owner('Job')), status: { phase: 'Succeeded' } }, 'finished', 'evict'],
  ['that failed', { metadata: {}, status: { phase: 'Failed' } }, 'finished', 'evict'],
  ['that runs', { metadata: of(owner('ReplicaSet')), status: { phase: 'Running' } }, 'managed', 'evict'],
  ['that waits to run', { metadata: of(owner('ReplicaSet')), status: { phase: 'Pending' } }, 'managed', 'evict'],
];
for (const [name, pod, is, action] of cases) {
  test(`a pod ${name} is ${is}: ${action}`, () => {
    expect(classify({ metadata: {}, ...pod })).toEqual({ is, action });
  });
}

test('every class has a rule with a reason, and the last rule fits every pod', () => {
  expect(podRules.map(rule => rule.is)).toEqual([
    'mirror',
    'daemon set',
    'terminating',
    'finished',
    'unmanaged',
    'local data',
    'managed',
  ]);
  expect(podRules.every(rule => rule.why.length > 10)).toBe(true);
  expect(podRules.at(-1)?.fits({ metadata: {} })).toBe(true);
});
