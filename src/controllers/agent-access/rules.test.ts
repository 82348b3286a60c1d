import { expect, test } from 'vitest';
import type { PolicyRule } from '#kube/resources.ts';
import { permissions } from './controller.ts';
import { nodeAccess, sharedAccess, type Wanted } from './desired.ts';
import {
  accountClusterRules,
  accountRules,
  cloudNodeRules,
  formerAccountClusterRules,
  formerNamespaceRules,
  formerNodeRules,
  groupClusterRules,
  groupRules,
  nodeRules,
  reportRules,
} from './rules.ts';

/** `verb group/resource[/subresource] [name]`, one line for each thing a rule allows. */
function allowedBy(rules: readonly PolicyRule[]): string[] {
  return rules.flatMap(({ apiGroups = [], resources = [], resourceNames, verbs }) =>
    apiGroups.flatMap(group =>
      resources.flatMap(resource =>
        verbs.flatMap(verb =>
          (resourceNames ?? ['*']).map(name => `${verb} ${group === '' ? '' : `${group}/`}${resource} ${name}`),
        ),
      ),
    ),
  );
}

const csr = 'certificates.k8s.io/certificatesigningrequests';
const facts = { namespace: 'wmco', configMaps: ['windows-services-v2'], formerAgents: false, isPlainKubernetes: false };
const access = { namespace: 'wmco', isFormer: false, hasCloudNodeManager: false };

/** Everything that a subject may do: by the bindings for it, and the roles to which they lead. */
function rightsOf(subject: string, wanted: readonly Wanted[]): string[] {
  return wanted
    .filter(({ object }) => object.subjects?.some(({ name }) => name === subject))
    .flatMap(({ object: { metadata, roleRef } }) => {
      const role = wanted.find(
        ({ resource, object }) =>
          resource.kind === roleRef?.kind &&
          object.metadata.name === roleRef.name &&
          object.metadata.namespace === metadata.namespace,
      );
      const place = metadata.namespace === undefined ? 'cluster' : metadata.namespace;
      return allowedBy(role?.object.rules ?? []).map(line => `${place}: ${line}`);
    })
    .sort();
}

const readsRequests = [
  `cluster: create ${csr} *`,
  ...['get', 'list', 'watch'].map(verb => `cluster: ${verb} ${csr} *`),
];
const shared = sharedAccess(facts);
const node = { name: 'win-1', uid: 'u' };

const rights: [who: string, subjects: string[], wanted: Wanted[], want: string[]][] = [
  [
    'an agent: its Node by name, its services ConfigMap, its certificate requests, and one report that it writes',
    ['system:wicd-node:win-1', 'system:wicd-nodes'],
    [...shared, ...nodeAccess(node, access)],
    [
      ...readsRequests,
      'cluster: get nodes win-1',
      'cluster: list nodes win-1',
      'cluster: watch nodes win-1',
      'wmco: get configmaps wicd-report-win-1',
      'wmco: get configmaps windows-services-v2',
      'wmco: list configmaps windows-services-v2',
      'wmco: patch configmaps wicd-report-win-1',
      'wmco: update configmaps wicd-report-win-1',
      'wmco: watch configmaps windows-services-v2',
    ],
  ],
  [
    'the account whose token is on a host: services ConfigMaps by name, and certificate requests',
    ['windows-instance-config-daemon'],
    shared,
    [...readsRequests, 'wmco: get configmaps windows-services-v2'],
  ],
  [
    'cloud-node-manager: its own Node and its status',
    ['system:wicd-cloud-node:win-1'],
    [...shared, ...nodeAccess(node, { ...access, hasCloudNodeManager: true })],
    [
      ...['get', 'list', 'patch', 'update', 'watch'].map(verb => `cluster: ${verb} nodes win-1`),
      'cluster: patch nodes/status win-1',
    ],
  ],
  ['cloud-node-manager of a platform without one: none', ['system:wicd-cloud-node:win-1'], [...shared], []],
  [
    'an agent of the Go operator: reads all Nodes and ConfigMaps, patches its own Node only',
    ['system:wicd-node:win-1', 'system:wicd-nodes'],
    [...sharedAccess({ ...facts, formerAgents: true }), ...nodeAccess(node, { ...access, isFormer: true })],
    [
      ...readsRequests,
      'cluster: get nodes *',
      'cluster: list nodes *',
      'cluster: patch nodes win-1',
      'cluster: update nodes win-1',
      'cluster: watch nodes *',
      'wmco: get configmaps *',
      'wmco: get configmaps windows-services-v2',
      'wmco: list configmaps *',
      'wmco: list configmaps windows-services-v2',
      'wmco: watch configmaps *',
      'wmco: watch configmaps windows-services-v2',
    ],
  ],
  [
    'an agent of ours beside one of the Go operator: no more than before',
    ['system:wicd-node:win-2', 'system:wicd-nodes'],
    [
      ...sharedAccess({ ...facts, formerAgents: true }),
      ...nodeAccess(node, { ...access, isFormer: true }),
      ...nodeAccess({ name: 'win-2', uid: 'u2' }, access),
    ],
    ownRightsOf('win-2'),
  ],
];

/** What an agent of ours has where no other agent is. */
function ownRightsOf(name: string): string[] {
  const all = [...sharedAccess(facts), ...nodeAccess({ name, uid: 'u2' }, access)];
  return [`system:wicd-node:${name}`, 'system:wicd-nodes'].flatMap(subject => rightsOf(subject, all));
}

for (const [who, subjects, wanted, want] of rights) {
  test(`the rights of ${who}`, () => {
    const all = subjects.flatMap(subject => rightsOf(subject, wanted));
    expect(all.sort()).toEqual([...want].sort());
  });
}

test('all agents may read services ConfigMaps by their names, in any order the same', () => {
  expect(groupRules(['b', 'a'])).toEqual(groupRules(['a', 'b']));
});

test('without any services ConfigMap they may read none, not all', () => {
  // A rule with an empty list of names would allow all names.
  expect([groupRules([]), accountRules([])]).toEqual([[], []]);
});

const allRules = [
  ...accountClusterRules,
  ...accountRules(['x']),
  ...groupClusterRules,
  ...groupRules(['x']),
  ...nodeRules('win-1'),
  ...reportRules('win-1'),
  ...cloudNodeRules('win-1'),
  ...formerNodeRules('win-1'),
  ...formerNamespaceRules,
  ...formerAccountClusterRules,
];

test('no agent may read a Secret, write an event, approve a request, make a token or do anything', () => {
  const lines = allowedBy(allRules);
  expect(lines.filter(line => /secrets|events|approval|signers|serviceaccounts|roles|\* \*|pods/.test(line))).toEqual(
    [],
  );
  expect(allRules.flatMap(({ verbs }) => verbs)).not.toContain('*');
});

test('no agent may write to a Node or a ConfigMap that is not named', () => {
  const writes = allowedBy(allRules).filter(line => /^(update|patch|delete|create)/.test(line));
  expect(writes.filter(line => line.endsWith(' *'))).toEqual([`create ${csr} *`, `create ${csr} *`, `create ${csr} *`]);
});

test('the report of a Node with a long name is named by its hash', () => {
  const [rule] = reportRules(`${'a'.repeat(63)}.`.repeat(4).slice(0, 253));
  expect(rule?.resourceNames).toEqual([expect.stringMatching(/^wicd-long-report-[0-9a-f]{40}$/)]);
});

test('the operator has everything it gives, where it gives it', () => {
  const ours = (where: (place: (typeof permissions)[number]['in']) => boolean) =>
    allowedBy(
      permissions
        .filter(permission => where(permission.in))
        .map(({ group, resources, verbs }) => ({ apiGroups: [group], resources: [...resources], verbs: [...verbs] })),
    ).map(line => line.replace(/ \*$/, ''));
  const inCluster = ours(place => place === 'cluster');
  const inOwn = ours(place => place === 'own namespace');
  const given = (rules: readonly PolicyRule[]) => allowedBy(rules).map(line => line.replace(/ \S+$/, ''));
  const clusterWide = [accountClusterRules, groupClusterRules, formerAccountClusterRules];
  for (const rules of [...clusterWide, formerNodeRules('x'), nodeRules('x'), cloudNodeRules('x')]) {
    expect(inCluster).toEqual(expect.arrayContaining(given(rules)));
  }
  for (const rules of [accountRules(['x']), groupRules(['x']), reportRules('x'), formerNamespaceRules]) {
    expect(inOwn).toEqual(expect.arrayContaining(given(rules)));
  }
});
