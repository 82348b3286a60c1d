import { expect, test } from 'vitest';
import type { PolicyRule } from '#kube/resources.ts';
import { permissions } from './controller.ts';
import {
  accountClusterRules,
  accountRules,
  eventRules,
  formerAccountClusterRules,
  formerClusterRules,
  groupClusterRules,
  groupRules,
  nodeRules,
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

test('an agent may look at and patch its own Node, and no other', () => {
  expect(allowedBy(nodeRules('win-1', 'None')).sort()).toEqual([
    'get nodes win-1',
    'list nodes win-1',
    'patch nodes win-1',
    'watch nodes win-1',
  ]);
});

test('on Azure it may also do what the cloud node manager does, to the same Node', () => {
  const lines = allowedBy(nodeRules('win-1', 'Azure'));
  expect(lines).toContain('update nodes win-1');
  expect(lines).toContain('patch nodes/status win-1');
  expect(lines.every(line => line.endsWith(' win-1'))).toBe(true);
});

test('all agents may read services ConfigMaps by their names, in any order the same', () => {
  expect(allowedBy(groupRules(['b', 'a']))).toEqual(
    ['get', 'list', 'watch'].flatMap(verb => [`${verb} configmaps a`, `${verb} configmaps b`]),
  );
  expect(groupRules(['b', 'a'])).toEqual(groupRules(['a', 'b']));
});

test('without any services ConfigMap they may read none, not all', () => {
  // A rule with an empty list of names would allow all names.
  expect(groupRules([])).toEqual([]);
});

test('all agents may ask for certificates and follow what becomes of them', () => {
  expect(allowedBy(groupClusterRules)).toEqual([`create ${csr} *`, `get ${csr} *`, `list ${csr} *`, `watch ${csr} *`]);
});

test('agents say on events what troubles them', () => {
  expect(allowedBy(eventRules)).toEqual(['create events *', 'patch events *']);
});

test('the account of the bootstrap may find its Node, and change none', () => {
  const lines = allowedBy(accountClusterRules);
  expect(lines.filter(line => line.includes('nodes'))).toEqual(['get nodes *', 'list nodes *']);
  expect(lines).toContain(`create ${csr} *`);
  expect(allowedBy(accountRules)).toEqual(['get configmaps *', 'list configmaps *', 'watch configmaps *']);
});

test('nobody may read a Secret, approve a request, make a token or do anything', () => {
  const all = [
    ...accountClusterRules,
    ...accountRules,
    ...groupClusterRules,
    ...groupRules(['x']),
    ...eventRules,
    ...nodeRules('win-1', 'Azure'),
    ...formerClusterRules,
    ...formerAccountClusterRules,
  ];
  const lines = allowedBy(all);
  expect(lines.filter(line => /secrets|approval|signers|serviceaccounts|roles|\* \*|pods/.test(line))).toEqual([]);
  expect(all.flatMap(({ verbs }) => verbs)).not.toContain('*');
});

test('the agent of the Go operator may take its marks from its Node as that account', () => {
  expect(allowedBy(formerAccountClusterRules)).toEqual(
    expect.arrayContaining(['patch nodes *', ...allowedBy(accountClusterRules)]),
  );
});

test('agents of the Go operator keep what its manifests give them', () => {
  expect(allowedBy(formerClusterRules).filter(line => line.includes('nodes'))).toEqual([
    'list nodes *',
    ...['get', 'patch', 'update', 'watch'].map(verb => `${verb} nodes *`),
    ...['get', 'patch', 'update', 'watch'].map(verb => `${verb} nodes/status *`),
  ]);
});

test('the operator has everything it gives, where it gives it', () => {
  const ours = (where: (place: (typeof permissions)[number]['in']) => boolean) =>
    allowedBy(
      permissions
        .filter(permission => where(permission.in))
        .map(({ group, resources, verbs }) => ({ apiGroups: [group], resources: [...resources], verbs: [...verbs] })),
    ).map(line => line.replace(/ \*$/, ''));
  const inCluster = ours(place => place === 'cluster');
  const inDefault = ours(place => typeof place === 'object' && place.namespace === 'default');
  const inOwn = ours(place => place === 'own namespace');
  const given = (rules: readonly PolicyRule[]) => allowedBy(rules).map(line => line.replace(/ \S+$/, ''));
  for (const rules of [accountClusterRules, groupClusterRules, formerClusterRules, nodeRules('x', 'Azure')])
    expect(inCluster).toEqual(expect.arrayContaining(given(rules)));
  for (const rules of [accountRules, groupRules(['x'])]) expect(inOwn).toEqual(expect.arrayContaining(given(rules)));
  expect(inDefault).toEqual(expect.arrayContaining(given(eventRules)));
});
