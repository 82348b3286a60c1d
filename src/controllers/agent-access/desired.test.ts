import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { keyOf, keyText } from '#kube/resource.ts';
import { accessLabels, nodeAccess, nodeOfRole, nodeRoleName, sharedAccess, type Wanted } from './desired.ts';

const access = { namespace: 'wmco', isFormer: false, hasCloudNodeManager: false };
const facts = { namespace: 'wmco', configMaps: ['windows-services-1'], formerAgents: false, isPlainKubernetes: false };
const nameOf = ({ resource, object }: Wanted) => `${resource.kind} ${keyText(keyOf(object))}`;
const find = (all: readonly Wanted[], name: string) => all.find(each => nameOf(each) === name)?.object;
const account = { kind: 'ServiceAccount', name: 'windows-instance-config-daemon', namespace: 'wmco' };
const group = { kind: 'Group', name: 'system:wicd-nodes', apiGroup: 'rbac.authorization.k8s.io' };

test('agents share an account, and roles by the names of the Go operator', () => {
  expect(sharedAccess(facts).map(nameOf)).toEqual([
    'ServiceAccount wmco/windows-instance-config-daemon',
    'Role wmco/windows-instance-config-daemon',
    'RoleBinding wmco/windows-instance-config-daemon',
    'ClusterRole windows-instance-config-daemon',
    'ClusterRoleBinding windows-instance-config-daemon',
    'Role wmco/system-wicd-nodes',
    'RoleBinding wmco/system-wicd-nodes',
    'ClusterRole system-wicd-nodes',
    'ClusterRoleBinding system-wicd-nodes',
  ]);
});

const bindings: [name: string, roleKind: string, subject: object][] = [
  ['RoleBinding wmco/windows-instance-config-daemon', 'Role', account],
  ['ClusterRoleBinding windows-instance-config-daemon', 'ClusterRole', account],
  ['RoleBinding wmco/system-wicd-nodes', 'Role', group],
  ['ClusterRoleBinding system-wicd-nodes', 'ClusterRole', group],
];
for (const [name, kind, subject] of bindings) {
  test(`${name} leads to the role of its name, for one subject`, () => {
    const object = find(sharedAccess(facts), name);
    expect(object?.roleRef).toEqual({ apiGroup: 'rbac.authorization.k8s.io', kind, name: object?.metadata.name });
    expect(object?.subjects).toEqual([subject]);
  });
}

test('everything bears labels by which it is found again', () => {
  for (const { object } of [
    ...sharedAccess({ ...facts, isPlainKubernetes: true }),
    ...nodeAccess({ name: 'n', uid: 'u' }, access),
  ])
    expect(object.metadata.labels).toEqual(accessLabels);
  expect(accessLabels).toMatchObject({
    'app.kubernetes.io/name': 'windows-machine-config-operator',
    'app.kubernetes.io/part-of': 'wicd',
  });
});

test('what agents may read follows the services ConfigMaps', () => {
  const configMaps = ['windows-services-2', 'windows-services-1'];
  const role = find(sharedAccess({ ...facts, configMaps }), 'Role wmco/system-wicd-nodes');
  expect(role?.rules?.[0]?.resourceNames).toEqual(['windows-services-1', 'windows-services-2']);
});

test('the account may look for a Node only while agents of the Go operator run', () => {
  const nodesOf = (formerAgents: boolean) => {
    const role = find(sharedAccess({ ...facts, formerAgents }), 'ClusterRole windows-instance-config-daemon');
    return role?.rules?.filter(({ resources }) => resources?.includes('nodes'));
  };
  expect(nodesOf(true)).toMatchObject([{ verbs: ['get', 'list'] }]);
  expect(nodesOf(false)).toEqual([]);
});

test('the cloud node manager has a user and a role of its own', () => {
  const all = nodeAccess({ name: 'win-1', uid: 'u' }, { ...access, hasCloudNodeManager: true });
  expect(find(all, 'ClusterRoleBinding windows-instance-config-daemon-cloud:win-1')).toMatchObject({
    roleRef: { name: 'windows-instance-config-daemon-cloud:win-1' },
    subjects: [{ kind: 'User', name: 'system:wicd-cloud-node:win-1' }],
  });
});

test('a plain cluster gets an account for kubelets that have no certificate yet', () => {
  const all = sharedAccess({ ...facts, isPlainKubernetes: true });
  expect(find(all, 'ServiceAccount wmco/node-bootstrapper')).toBeDefined();
  expect(find(all, 'ClusterRoleBinding windows-instance-config-daemon-node-bootstrapper')).toMatchObject({
    roleRef: { kind: 'ClusterRole', name: 'system:node-bootstrapper' },
    subjects: [{ kind: 'ServiceAccount', name: 'node-bootstrapper', namespace: 'wmco' }],
  });
  expect(find(all, 'ClusterRoleBinding windows-kube-proxy')).toMatchObject({
    roleRef: { kind: 'ClusterRole', name: 'system:node-proxier' },
    subjects: [{ kind: 'Group', name: 'system:nodes' }],
  });
  expect(all).toHaveLength(sharedAccess(facts).length + 3);
});

test('the agent of a Node has a role that goes with the Node', () => {
  const all = nodeAccess({ name: 'win-1', uid: 'uid-1' }, access);
  expect(all.map(nameOf)).toEqual([
    'ClusterRole windows-instance-config-daemon:win-1',
    'ClusterRoleBinding windows-instance-config-daemon:win-1',
    'Role wmco/windows-instance-config-daemon:win-1',
    'RoleBinding wmco/windows-instance-config-daemon:win-1',
  ]);
  const owner = { apiVersion: 'v1', kind: 'Node', name: 'win-1', uid: 'uid-1' };
  for (const { object } of all) expect(object.metadata.ownerReferences).toEqual([owner]);
  expect(all[1]?.object).toMatchObject({
    roleRef: { kind: 'ClusterRole', name: 'windows-instance-config-daemon:win-1' },
    subjects: [{ kind: 'User', name: 'system:wicd-node:win-1' }],
  });
});

test('what is shared has no owner', () => {
  expect(sharedAccess(facts).flatMap(({ object }) => object.metadata.ownerReferences ?? [])).toEqual([]);
});

const names: [name: string, want: string | undefined][] = [
  ['windows-instance-config-daemon:win-1', 'win-1'],
  ['windows-instance-config-daemon:win-1.example.com', 'win-1.example.com'],
  ['windows-instance-config-daemon', undefined],
  ['windows-instance-config-daemon-cloud:win-1', 'win-1'],
  ['windows-instance-config-daemon:', undefined],
  ['system-wicd-nodes', undefined],
  ['other:win-1', undefined],
  ['', undefined],
];
test.each(names)('knows the Node of %j', (name, want) => expect(nodeOfRole(name)).toBe(want));

test('every Node is known by the name of its role, and no two share one', () => {
  const nodeName = fc.stringMatching(/^[a-z0-9]([a-z0-9.-]{0,60}[a-z0-9])?$/);
  fc.assert(
    fc.property(nodeName, nodeName, (one, other) => {
      expect(nodeOfRole(nodeRoleName(one))).toBe(one);
      expect(nodeRoleName(one) === nodeRoleName(other)).toBe(one === other);
    }),
    { numRuns: 500 },
  );
});
