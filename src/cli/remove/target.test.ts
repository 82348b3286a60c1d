import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import { instanceOf, machineOf, nodeOf, statuses, viewOf } from '../../../test/kit/status-views.ts';
import { hostViews } from '../status/view/cluster-hosts.ts';
import type { ClusterView } from '../status/view/host-view.ts';
import { findTarget, instanceNameOf, nodeNameOf } from './target.ts';

const ready = () => structuredClone(statuses.ready);
const hostKey = 'AAAAC3NzaC1lZDI1NTE5AAAAIIt4nl+dx3qS7aK0Qv1hb5nTgxQp6zIZ1s8vYw0ZzO3R';
const orphan = nodeOf('win-9', {
  addresses: [{ type: 'InternalIP', address: '10.0.0.9' }],
  annotations: { [nodeAnnotation.version]: 'v2', [nodeAnnotation.sshHostKey]: hostKey },
});
const view = viewOf({
  instances: [
    instanceOf('10.0.0.1', ready()),
    instanceOf('direct', { ...ready(), node: 'win-2' }, { source: { kind: 'Direct' } }),
    instanceOf('m1', { ...ready(), node: 'win-3' }, { source: { kind: 'Machine', name: 'm1' } }),
  ],
  entries: { '10.0.0.1': 'username=a', bad_name: 'username=d' },
  nodes: [...['win-1', 'win-2', 'win-3'].map(name => nodeOf(name)), orphan, nodeOf('other', { annotations: {} })],
});
const find = (name: string, over: Partial<ClusterView> = {}) => {
  const changed = { ...view, ...over };
  return findTarget(hostViews(changed), name, changed);
};

const found: [name: string, want: object, node: string | undefined, instance: string | undefined][] = [
  ['win-1', { is: 'entry', key: '10.0.0.1', value: 'username=a' }, 'win-1', '10.0.0.1'],
  ['10.0.0.1', { is: 'entry', key: '10.0.0.1' }, 'win-1', '10.0.0.1'],
  ['bad_name', { is: 'entry', key: 'bad_name', value: 'username=d', instance: undefined }, undefined, undefined],
  ['direct', { is: 'instance' }, 'win-2', 'direct'],
  ['win-9', { is: 'node', address: '10.0.0.9', hostKey: `ssh-ed25519 ${hostKey}` }, 'win-9', 'win-9'],
];
for (const [name, want, node, instance] of found) {
  test(`finds ${name}`, () => {
    const target = find(name);
    expect(target).toMatchObject(want);
    expect([nodeNameOf(target), instanceNameOf(target)]).toEqual([node, instance]);
  });
}

test('an entry that is deleted already has no value', () => {
  expect(find('win-1', { entries: {} })).toMatchObject({ is: 'entry', key: '10.0.0.1', value: undefined });
});

const two = {
  entries: { 'win-1': 'username=a', 'WIN-1': 'username=a' },
  instances: [instanceOf('win-1', ready(), { source: { kind: 'ConfigMap', name: 'WIN-1' } })],
} as const;
const refused: [what: string, name: string, over: Partial<ClusterView>, want: RegExp][] = [
  ['a Machine', 'm1', {}, /belongs to Machine m1/],
  ['a Machine without an instance', 'm2', { machines: [machineOf('m2', 'Running')] }, /belongs to Machine m2/],
  ['a Node of another operator', 'other', {}, /Node other is not removed: Ready; this operator did not configure it/],
  ['an entry that cannot be read', 'win-1', { unread: ['entries'] }, /windows-instances cannot be read/],
  ['an orphan while Machines cannot be read', 'win-9', { unread: ['machines'] }, /Machines cannot be read, and may/],
  ['an orphan without an address', 'win-9', { nodes: [nodeOf('win-9')] }, /reports no address/],
  ['a host that is listed twice', 'WIN-1', two, /lists the host twice: "WIN-1" and "win-1"/],
];
for (const [what, name, over, want] of refused) {
  test(`refuses ${what}`, () => {
    const error = errorOf(() => find(name, over));
    expect(error).toMatchObject({ code: 'REMOVAL_REFUSED', message: expect.stringMatching(want) as string });
  });
}

test('refuses a name of several hosts', () => {
  const error = errorOf(() => find('web', { entries: { 'web.a': 'username=a', 'web.b': 'username=a' } }));
  expect(error).toMatchObject({ code: 'HOST_AMBIGUOUS', message: '"web" is a name of 2 hosts: web.a, web.b' });
});

test('the remedy for a Machine deletes it', () => {
  expect(errorOf(() => find('m1'))?.remedy).toMatch(/`kubectl delete machine m1 -n openshift-machine-api`/);
});

test('the second entry of a host can be removed by its exact name', () => {
  expect(find('win-1', two)).toMatchObject({ is: 'entry', key: 'win-1', instance: undefined });
});

test('an unknown host is an error', () => expect(errorOf(() => find('win-99'))?.code).toBe('HOST_UNKNOWN'));
