import { expect, test } from 'vitest';
import { readerOf } from '../../../../../test/kit/api-reader.ts';
import { pods } from '../../../../kube/resources.ts';
import type { AccessRequest, UserInfo } from '../../ports.ts';
import { createAuthorizer } from '../authorizer.ts';
import { nodeNameOf } from './identity.ts';

const n1: UserInfo = { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };

const spec = {
  serviceAccountName: 'runner',
  imagePullSecrets: [{ name: 'pull' }],
  initContainers: [{ env: [{ valueFrom: { secretKeyRef: { name: 'init-env' } } }] }],
  containers: [
    {
      env: [{ name: 'plain' }, { valueFrom: { configMapKeyRef: { name: 'env' } } }],
      envFrom: [{ secretRef: { name: 'set' } }, { configMapRef: { name: 'set' } }],
    },
  ],
  ephemeralContainers: [{ envFrom: [{ secretRef: { name: 'debug' } }] }],
  volumes: [
    { name: 'a', secret: { secretName: 'volume' } },
    { name: 'b', configMap: { name: 'volume' } },
    { name: 'c', projected: { sources: [{ secret: { name: 'projected' } }, { configMap: { name: 'projected' } }] } },
    { name: 'd', persistentVolumeClaim: { claimName: 'data' } },
    { name: 'e', flexVolume: { secretRef: { name: 'flex' } } },
    { name: 'f', csi: { nodePublishSecretRef: { name: 'csi' } } },
    { name: 'g', azureFile: { secretName: 'azure' } },
    'no volume',
  ],
};
const pod = (name: string, nodeName: string, content: object, annotations = {}) =>
  [pods, { metadata: { namespace: 'ns', name, annotations }, spec: { ...content, nodeName } }] as const;
const authorizer = createAuthorizer(
  readerOf([
    pod('mine', 'n1', spec),
    pod('theirs', 'n2', { volumes: [{ secret: { secretName: 'theirs' } }] }),
    pod('mirror', 'n1', { volumes: [{ secret: { secretName: 'mirrored' } }] }, { 'kubernetes.io/config.mirror': 'x' }),
    pod('strange', 'n1', { volumes: 'none', containers: [7, null] }),
    pod('remote', 'n2', { serviceAccountName: 'far' }),
  ]),
);

const decide = (members: Partial<AccessRequest>) =>
  authorizer.authorize({
    user: n1,
    verb: 'get',
    path: '',
    group: '',
    version: 'v1',
    resource: 'secrets',
    subresource: '',
    namespace: 'ns',
    name: '',
    ...members,
  });

const referenced: [string, string, boolean][] = [
  ['secrets', 'pull', true],
  ['secrets', 'init-env', true],
  ['secrets', 'set', true],
  ['secrets', 'debug', true],
  ['secrets', 'volume', true],
  ['secrets', 'projected', true],
  ['secrets', 'flex', true],
  ['secrets', 'csi', true],
  ['secrets', 'azure', true],
  ['secrets', 'env', false],
  ['secrets', 'theirs', false],
  ['secrets', 'mirrored', false],
  ['secrets', 'runner', false],
  ['configmaps', 'env', true],
  ['configmaps', 'set', true],
  ['configmaps', 'volume', true],
  ['configmaps', 'projected', true],
  ['configmaps', 'pull', false],
];
test.each(referenced)('a kubelet reads of %s %s: %s', (resource, name, allowed) => {
  expect(decide({ resource, name }).allowed).toBe(allowed);
});

const unrelated = "no relationship found between node 'n1' and this object";
const bySelector = 'can only list/watch pods with spec.nodeName field selector';
const someNode = { resource: 'nodes', namespace: '' };
const own = { group: 'coordination.k8s.io', resource: 'leases', namespace: 'kube-node-lease', name: 'n1' };
const csr = { group: 'certificates.k8s.io', resource: 'certificatesigningrequests', namespace: '' };
const cases: [string, Partial<AccessRequest>, true | string][] = [
  [
    'a token for the account of a pod that names none',
    { resource: 'serviceaccounts', subresource: 'token', verb: 'create', name: 'default' },
    true,
  ],
  [
    'a token for the account of a pod elsewhere',
    { resource: 'serviceaccounts', subresource: 'token', verb: 'create', name: 'far' },
    unrelated,
  ],
  ['watch one Secret of its pods', { verb: 'watch', name: 'volume' }, true],
  ['list one Secret of its pods', { verb: 'list', name: 'volume' }, true],
  ['list all Secrets', { verb: 'list' }, 'No Object name found'],
  ['write a Secret of its pods', { verb: 'update', name: 'volume' }, 'can only read resources of this type'],
  ['read a subresource of a Secret', { subresource: 'x', name: 'volume' }, 'cannot read subresource'],
  [
    'read Secrets outside namespaces',
    { namespace: '', name: 'volume' },
    'can only read namespaced object of this type',
  ],
  ['read the Secret in another namespace', { namespace: 'other', name: 'volume' }, unrelated],
  [
    'a token for the account of its pod',
    { resource: 'serviceaccounts', subresource: 'token', verb: 'create', name: 'runner' },
    true,
  ],
  [
    'a token for another account',
    { resource: 'serviceaccounts', subresource: 'token', verb: 'create', name: 'x' },
    unrelated,
  ],
  [
    'a token without an account',
    { resource: 'serviceaccounts', subresource: 'token', verb: 'create' },
    'can only create tokens for individual service accounts',
  ],
  [
    'read an account',
    { resource: 'serviceaccounts', name: 'runner' },
    'can only create tokens for individual service accounts',
  ],
  [
    'create something else below an account',
    { resource: 'serviceaccounts', subresource: 'x', verb: 'create', name: 'runner' },
    'can only create token subresource of serviceaccount',
  ],
  ['get its lease', own, true],
  ['update its lease', { ...own, verb: 'update' }, true],
  ['create a lease', { ...own, verb: 'create', name: '' }, true],
  ['list leases', { ...own, verb: 'list' }, 'can only get, create, update, patch, or delete a node lease'],
  [
    'a lease elsewhere',
    { ...own, namespace: 'ns' },
    'can only access leases in the "kube-node-lease" system namespace',
  ],
  ['another lease', { ...own, name: 'n2' }, 'can only access node lease with the same name as the requesting node'],
  ['read its Node', { resource: 'nodes', namespace: '', name: 'n1' }, true],
  ['watch its Node', { resource: 'nodes', verb: 'watch', namespace: '', name: 'n1' }, true],
  ['read another Node', { ...someNode, name: 'n2' }, "node 'n1' cannot read 'n2', only its own Node object"],
  ['list all Nodes', { ...someNode, verb: 'list' }, "node 'n1' cannot read all nodes, only its own Node object"],
  ['list its pods', { resource: 'pods', verb: 'list', fieldSelector: 'spec.nodeName=n1' }, true],
  ['watch its pods', { resource: 'pods', verb: 'watch', fieldSelector: 'a=b,spec.nodeName==n1' }, true],
  ['list pods of another node', { resource: 'pods', verb: 'list', fieldSelector: 'spec.nodeName=n12' }, bySelector],
  ['list pods elsewhere', { resource: 'pods', verb: 'list', fieldSelector: 'spec.nodeName!=n1' }, bySelector],
  ['watch all pods', { resource: 'pods', verb: 'watch' }, bySelector],
  ['read a pod of its own', { resource: 'pods', name: 'mine' }, true],
  ['watch a mirror pod of its own', { resource: 'pods', verb: 'watch', name: 'mirror' }, true],
  ['read a pod of another node', { resource: 'pods', name: 'theirs' }, unrelated],
  ['read a pod that does not exist', { resource: 'pods', name: 'none' }, unrelated],
  [
    'update any Node, which admission restricts',
    { resource: 'nodes', verb: 'update', namespace: '', name: 'n2' },
    true,
  ],
  ['delete a Node', { resource: 'nodes', verb: 'delete', namespace: '', name: 'n1' }, ''],
  ['update the status of a pod', { resource: 'pods', subresource: 'status', verb: 'patch', name: 'x' }, true],
  ['update a pod', { resource: 'pods', verb: 'update', name: 'x' }, ''],
  ['evict a pod', { resource: 'pods', subresource: 'eviction', verb: 'create', name: 'x' }, true],
  ['create a certificate request', { ...csr, verb: 'create' }, true],
  ['watch certificate requests', { ...csr, verb: 'watch' }, true],
  ['approve a certificate request', { ...csr, verb: 'update', subresource: 'approval' }, ''],
  ['write events', { resource: 'events', verb: 'create' }, true],
  ['read roles', { group: 'rbac.authorization.k8s.io', resource: 'roles', verb: 'list' }, ''],
  ['read a path', { path: '/metrics', resource: '', namespace: '' }, ''],
];
test.each(cases)('permission of a kubelet: %s', (_, members, want) => {
  expect(decide(members)).toEqual({ allowed: want === true, reason: want === true ? '' : want });
});

const identities: [string, UserInfo, string | undefined][] = [
  ['a kubelet', n1, 'n1'],
  ['a name without the group', { ...n1, groups: [] }, undefined],
  ['the group without a name', { username: 'jane', groups: ['system:nodes'] }, undefined],
  ['the group with an empty name', { username: 'system:node:', groups: ['system:nodes'] }, ''],
];
test.each(identities)('finds the node of %s', (_, user, want) => expect(nodeNameOf(user)).toBe(want));

test('a kubelet without a node name has no permissions', () => {
  const nameless = { username: 'system:node:', groups: ['system:nodes'] };
  expect(decide({ user: nameless, resource: 'nodes', verb: 'list' })).toEqual({
    allowed: false,
    reason: 'unknown node for user "system:node:"',
  });
});

test('the rules for nodes apply only to kubelets', () => {
  const fake = { username: 'system:node:n1', groups: ['system:authenticated'] };
  expect(decide({ user: fake, resource: 'nodes', verb: 'list', namespace: '' })).toEqual({
    allowed: false,
    reason: '',
  });
});
