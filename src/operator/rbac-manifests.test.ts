import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Permission, Verb } from '#kube/permissions.ts';
import type { PolicyRule } from '#kube/resources.ts';
import { fileOf, type Manifest, mergedRules, rbacManifests } from './rbac-manifests.ts';

const permission = (more: Partial<Permission>): Permission => ({
  in: 'cluster',
  group: '',
  resources: ['nodes'],
  verbs: ['get'],
  ...more,
});
const nameOf = ({ kind, metadata }: Manifest) => `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;

test('makes an account, and a role with its binding for each place', () => {
  const manifests = rbacManifests(
    [permission({ in: 'own namespace' }), permission({}), permission({ in: { namespace: 'other' } })],
    'wmco',
  );
  const name = 'windows-machine-config-operator';
  expect(manifests.map(nameOf)).toEqual([
    `ServiceAccount wmco/${name}`,
    `ClusterRole /${name}`,
    `ClusterRoleBinding /${name}`,
    `Role other/${name}`,
    `RoleBinding other/${name}`,
    `Role wmco/${name}`,
    `RoleBinding wmco/${name}`,
  ]);
});

test('binds every role to the account, and to no other', () => {
  const manifests = rbacManifests([permission({}), permission({ in: { namespace: 'other' } })], 'wmco');
  for (const manifest of manifests.filter(({ kind }) => kind.endsWith('Binding'))) {
    expect(manifest).toMatchObject({
      roleRef: {
        apiGroup: 'rbac.authorization.k8s.io',
        kind: manifest.kind.replace('Binding', ''),
        name: manifest.metadata.name,
      },
      subjects: [{ kind: 'ServiceAccount', name: 'windows-machine-config-operator', namespace: 'wmco' }],
    });
  }
});

test('a permission for the own namespace and one by its name are one place', () => {
  const manifests = rbacManifests(
    [permission({ in: 'own namespace' }), permission({ in: { namespace: 'wmco' } })],
    'wmco',
  );
  expect(manifests).toHaveLength(3);
});

const merges: [name: string, permissions: Permission[], want: Partial<PolicyRule>[]][] = [
  ['nothing', [], []],
  [
    'verbs of one resource',
    [permission({ verbs: ['watch', 'get'] }), permission({ verbs: ['get', 'list'] })],
    [{ resources: ['nodes'], verbs: ['get', 'list', 'watch'] }],
  ],
  [
    'resources with the same verbs',
    [permission({ resources: ['pods'] }), permission({ resources: ['nodes'] })],
    [{ resources: ['nodes', 'pods'], verbs: ['get'] }],
  ],
  [
    'not resources with other verbs',
    [permission({ resources: ['pods'], verbs: ['list'] }), permission({})],
    [{ resources: ['nodes'] }, { resources: ['pods'] }],
  ],
  [
    'not groups',
    [permission({ group: 'a' }), permission({ group: 'b' })],
    [{ apiGroups: ['a'] }, { apiGroups: ['b'] }],
  ],
  [
    'not what is for some names with what is for all',
    [permission({ names: ['x'], verbs: ['delete'] }), permission({})],
    [{ resourceNames: ['x'], verbs: ['delete'] }, { verbs: ['get'] }],
  ],
  [
    'what is for the same names, in whatever order',
    [permission({ names: ['b', 'a'] }), permission({ names: ['a', 'b'], verbs: ['list'] })],
    [{ resourceNames: ['a', 'b'], verbs: ['get', 'list'] }],
  ],
  ['not what is for no name, which would be for all', [permission({ names: [] })], []],
];
for (const [name, permissions, want] of merges) {
  test(`merges ${name}`, () => {
    const rules = mergedRules(permissions);
    expect(rules).toHaveLength(want.length);
    expect(rules).toMatchObject(want);
  });
}

/** `verb group/resource name` for each thing that is allowed. */
const lines = (rules: readonly PolicyRule[]) =>
  rules
    .flatMap(({ apiGroups = [], resources = [], resourceNames = ['*'], verbs }) =>
      apiGroups.flatMap(group =>
        resources.flatMap(resource =>
          verbs.flatMap(verb => resourceNames.map(name => `${verb} ${group}/${resource} ${name}`)),
        ),
      ),
    )
    .sort();

test('allows exactly what is asked for, and the same in any order', () => {
  const some = fc.record({
    in: fc.constant('cluster' as const),
    group: fc.constantFrom('', 'apps'),
    resources: fc.subarray(['nodes', 'pods', 'secrets'], { minLength: 1 }),
    verbs: fc.subarray<Verb>(['get', 'list', 'patch'], { minLength: 1 }),
    names: fc.option(fc.subarray(['a', 'b'], { minLength: 1 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(fc.array(some, { maxLength: 6 }), permissions => {
      const asked = permissions.flatMap(({ names, ...rest }) =>
        lines([
          {
            apiGroups: [rest.group],
            resources: rest.resources,
            verbs: rest.verbs,
            ...(names && { resourceNames: names }),
          },
        ]),
      );
      const given = permissions.map(({ names, ...rest }) => ({ ...rest, ...(names && { names }) }));
      expect([...new Set(lines(mergedRules(given)))]).toEqual([...new Set(asked)].sort());
      expect(mergedRules(given.toReversed())).toEqual(mergedRules(given));
    }),
    { numRuns: 300 },
  );
});

const files: [namespace: string | undefined, want: string][] = [
  [undefined, 'operator'],
  ['openshift-windows-machine-config-operator', 'operator'],
  ['default', 'operator'],
  ['openshift-machine-api', 'openshift'],
  ['openshift-machine-config-operator', 'openshift'],
  ['openshift-config', 'openshift'],
  ['openshift-cluster-api', 'cluster-api'],
];
test.each(files)('puts what is in %s into %s', (namespace, want) => {
  const metadata = { name: 'x', labels: {}, ...(namespace !== undefined && { namespace }) };
  expect(fileOf({ apiVersion: 'v1', kind: 'Role', metadata })).toBe(want);
});
