import { expect, test } from 'vitest';
import { readerOf, stored } from '../../../../../test/kit/api-reader.ts';
import type { Resource } from '../../../../kube/resource.ts';
import { configMaps, leases, nodes, pods, serviceAccounts } from '../../../../kube/resources.ts';
import type { AdmissionRequest, UserInfo } from '../../ports.ts';
import { forbiddenLabels } from './labels.ts';
import { restrictNode } from './restriction.ts';

type Content = Record<string, unknown> & { metadata?: object };

const n1: UserInfo = { username: 'system:node:n1', groups: ['system:nodes'] };
const mine = { metadata: { namespace: 'ns', name: 'mine', uid: 'mine-uid' }, spec: { nodeName: 'n1' } };
const theirs = { metadata: { namespace: 'ns', name: 'theirs', uid: 'theirs-uid' }, spec: { nodeName: 'n2' } };
const api = readerOf([
  [pods, mine],
  [pods, theirs],
]);

interface Write {
  resource: Resource;
  object: Content;
  old?: Content;
  operation?: AdmissionRequest['operation'];
  subresource?: string;
  user?: UserInfo;
}

function attempt({ resource, object, old, operation, subresource = '', user = n1 }: Write): string {
  const fill = (content: Content) =>
    stored(resource, {
      ...content,
      metadata: { ...(resource.namespaced ? { namespace: 'ns' } : {}), name: 'n1', ...content.metadata },
    });
  const request = {
    user,
    operation: operation ?? (old === undefined ? 'create' : 'update'),
    resource,
    subresource,
    object: fill(object),
    old: old && fill(old),
  };
  try {
    restrictNode(request, api);
    return 'allowed';
  } catch (error) {
    return (error as Error).message;
  }
}
const named = (name: string, more: object = {}) => ({ metadata: { name, ...more } });
const labelled = (labels: Record<string, string>) => ({ metadata: { labels } });

const ownTaint = { spec: { taints: [{ key: 'a', effect: 'NoSchedule' }] } };
const nodeCases: [string, Write, string][] = [
  ['create itself', { resource: nodes, object: {} }, 'allowed'],
  ['create itself with taints', { resource: nodes, object: ownTaint }, 'allowed'],
  [
    'create another',
    { resource: nodes, object: named('n2') },
    'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
  ],
  [
    'create itself with a role',
    { resource: nodes, object: labelled({ 'node-role.kubernetes.io/master': '', 'kubernetes.io/os': 'windows' }) },
    'nodes "n1" is forbidden: node "n1" is not allowed to set the following labels: node-role.kubernetes.io/master',
  ],
  ['update its status', { resource: nodes, object: {}, old: {}, subresource: 'status' }, 'allowed'],
  ['update its own labels', { resource: nodes, object: labelled({ a: 'b' }), old: {} }, 'allowed'],
  [
    'change labels that steer pods',
    {
      resource: nodes,
      object: labelled({}),
      old: labelled({ 'x.k8s.io/b': '1', 'node-restriction.kubernetes.io/a': '1' }),
    },
    'nodes "n1" is forbidden: is not allowed to modify labels: node-restriction.kubernetes.io/a, x.k8s.io/b',
  ],
  ['keep its taints', { resource: nodes, object: ownTaint, old: ownTaint }, 'allowed'],
  [
    'change its taints',
    { resource: nodes, object: {}, old: ownTaint },
    'nodes "n1" is forbidden: node "n1" is not allowed to modify taints',
  ],
  [
    'update another',
    { resource: nodes, object: named('n2'), old: named('n2'), subresource: 'status' },
    'nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"',
  ],
  ['delete itself', { resource: nodes, object: {}, operation: 'delete' }, 'allowed'],
];
test.each(nodeCases)('a kubelet and its Node: %s', (_, write, want) => expect(attempt(write)).toBe(want));

const podCases: [string, Write, string][] = [
  [
    'create a pod',
    { resource: pods, object: named('m') },
    'pods "m" is forbidden: unexpected operation, node "n1" can only delete pods',
  ],
  ['delete a pod of its own', { resource: pods, object: mine, operation: 'delete' }, 'allowed'],
  [
    'delete a pod elsewhere',
    { resource: pods, object: theirs, operation: 'delete' },
    'pods "theirs" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself',
  ],
  [
    'update a pod',
    { resource: pods, object: mine, old: mine },
    'pods "mine" is forbidden: unexpected operation, node "n1" can only delete pods',
  ],
  ['update the status of its pod', { resource: pods, object: mine, old: mine, subresource: 'status' }, 'allowed'],
  [
    'update the status of a pod elsewhere',
    { resource: pods, object: theirs, old: theirs, subresource: 'status' },
    'pods "theirs" is forbidden: node "n1" can only update pod status for pods with spec.nodeName set to itself',
  ],
  [
    'label a pod by its status',
    {
      resource: pods,
      object: { ...mine, metadata: { ...mine.metadata, labels: { a: 'b' } } },
      old: mine,
      subresource: 'status',
    },
    'pods "mine" is forbidden: node "n1" cannot update labels through pod status',
  ],
  ['evict its pod', { resource: pods, object: named('mine'), subresource: 'eviction' }, 'allowed'],
  [
    'evict a pod elsewhere',
    { resource: pods, object: named('theirs'), subresource: 'eviction' },
    'pods "theirs" is forbidden: node n1 can only evict pods with spec.nodeName set to itself',
  ],
  ['evict nothing', { resource: pods, object: named('ghost'), subresource: 'eviction' }, 'pods "ghost" not found'],
  [
    'bind a pod',
    { resource: pods, object: named('mine'), subresource: 'binding' },
    `pods "mine" is forbidden: unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`,
  ],
];
test.each(podCases)('a kubelet and pods: %s', (_, write, want) => expect(attempt(write)).toBe(want));

const bound = (ref: object) => ({ ...named('sa'), spec: { boundObjectRef: ref } });
const podRef = { apiVersion: 'v1', kind: 'Pod', name: 'mine', uid: 'mine-uid' };
const token = (object: Content): Write => ({ resource: serviceAccounts, object, subresource: 'token' });
const sa = 'serviceaccounts "sa" is forbidden: ';
const otherCases: [string, Write, string][] = [
  ['a token for its pod', token(bound(podRef)), 'allowed'],
  ['a token for nothing', token(named('sa')), `${sa}node requested token not bound to a pod`],
  ['a token for a Secret', token(bound({ ...podRef, kind: 'Secret' })), `${sa}node requested token not bound to a pod`],
  [
    'a token for a pod of any time',
    token(bound({ ...podRef, uid: '' })),
    `${sa}node requested token with a pod binding without a uid`,
  ],
  ['a token for a pod that is not there', token(bound({ ...podRef, name: 'ghost' })), 'pods "ghost" not found'],
  [
    'a token for an earlier pod',
    token(bound({ ...podRef, uid: 'old' })),
    `${sa}the UID in the bound object reference (old) does not match the UID in record (mine-uid). The object might have been deleted and then recreated`,
  ],
  [
    'a token for a pod elsewhere',
    token(bound({ ...podRef, name: 'theirs', uid: 'theirs-uid' })),
    `${sa}node requested token bound to a pod scheduled on a different node`,
  ],
  ['an account itself', { resource: serviceAccounts, object: named('sa') }, 'allowed'],
  ['its lease', { resource: leases, object: { metadata: { namespace: 'kube-node-lease' } } }, 'allowed'],
  [
    'a lease elsewhere',
    { resource: leases, object: {} },
    'leases.coordination.k8s.io "n1" is forbidden: can only access leases in the "kube-node-lease" system namespace',
  ],
  [
    'the lease of another',
    { resource: leases, object: named('n2', { namespace: 'kube-node-lease' }) },
    'leases.coordination.k8s.io "n2" is forbidden: can only access node lease with the same name as the requesting node',
  ],
  ['anything else, which is up to roles', { resource: configMaps, object: named('x') }, 'allowed'],
];
test.each(otherCases)('a kubelet writes %s', (_, write, want) => expect(attempt(write)).toBe(want));

test('others are not restricted', () => {
  const user = { username: 'jane', groups: ['dev'] };
  expect(attempt({ resource: nodes, object: named('n2'), user })).toBe('allowed');
});

test('a kubelet without a node name cannot write', () => {
  const user = { username: 'system:node:', groups: ['system:nodes'] };
  expect(attempt({ resource: configMaps, object: named('x'), user })).toBe(
    'configmaps "x" is forbidden: could not determine node from user "system:node:"',
  );
});

test('an object without a name yet is called by what its name begins with', () => {
  const object = { metadata: { name: undefined, generateName: 'web-' } };
  expect(attempt({ resource: nodes, object })).toMatch(/^nodes "web-" is forbidden/);
  expect(attempt({ resource: nodes, object: { metadata: { name: undefined } } })).toMatch(
    /^nodes "Unknown" is forbidden/,
  );
});

const labelCases: [string, boolean][] = [
  ['app', false],
  ['example.com/a', false],
  ['kubernetes.io/hostname', false],
  ['kubernetes.io/os', false],
  ['beta.kubernetes.io/arch', false],
  ['node.kubernetes.io/windows-build', false],
  ['x.node.kubernetes.io/a', false],
  ['kubelet.kubernetes.io/a', false],
  ['topology.kubernetes.io/zone', false],
  ['kubernetes.io/x', true],
  ['k8s.io/x', true],
  ['x.k8s.io/y', true],
  ['node-role.kubernetes.io/worker', true],
  ['node-restriction.kubernetes.io/a', true],
  ['x.node-restriction.kubernetes.io/a', true],
  ['mykubernetes.io/a', false],
];
test.each(labelCases)('the label %s is out of reach: %s', (key, out) => {
  expect(forbiddenLabels({ [key]: 'a' }, {})).toEqual(out ? [key] : []);
  expect(forbiddenLabels({}, { [key]: 'a' })).toEqual(out ? [key] : []);
  expect(forbiddenLabels({ [key]: 'a' }, { [key]: 'b' })).toEqual(out ? [key] : []);
  expect(forbiddenLabels({ [key]: 'a' }, { [key]: 'a' })).toEqual([]);
});

test('no labels are no change', () => expect(forbiddenLabels(undefined, undefined)).toEqual([]));
