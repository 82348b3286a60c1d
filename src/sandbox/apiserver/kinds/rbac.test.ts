import { expect, test } from 'vitest';
import { created, objectOf, problems, row } from '../../../../test/kit/kind-checks.ts';
import { clusterRole, clusterRoleBinding, role, roleBinding } from './rbac.ts';

const rule = { verbs: ['get'], apiGroups: [''], resources: ['pods'] };
const urls = { verbs: ['get'], nonResourceURLs: ['/x'] };
const verbsMissing = 'rules[0].verbs: Required value: verbs must contain at least one value';
const groupMissing = 'rules[0].apiGroups: Required value: resource rules must supply at least one api group';
const resourceMissing = 'rules[0].resources: Required value: resource rules must supply at least one resource';

const roles: [string, typeof role, unknown[] | undefined, string[]][] = [
  ['no rules', role, undefined, []],
  ['a rule', role, [rule], []],
  ['no verbs', role, [{ ...rule, verbs: [] }], [verbsMissing]],
  ['no group', role, [{ verbs: ['get'], resources: ['pods'] }], [groupMissing]],
  ['no resource', role, [{ verbs: ['get'], apiGroups: [''] }], [resourceMissing]],
  ['nothing', role, [{}], [verbsMissing, groupMissing, resourceMissing]],
  [
    'paths in a namespace',
    role,
    [urls],
    ['rules[0].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs'],
  ],
  ['paths in the cluster', clusterRole, [urls], []],
  [
    'a second bad rule',
    clusterRole,
    [rule, { ...urls, verbs: [] }],
    ['rules[1].verbs: Required value: verbs must contain at least one value'],
  ],
];
test.each(roles)('judges a role with %s', (_, kind, rules, wanted) =>
  expect(problems(kind, { rules })).toEqual(wanted),
);

test('stores null for a role without rules', () => {
  expect(created(role, {})).toMatchObject({ rules: null });
  expect(created(clusterRole, { rules: [] })).toMatchObject({ rules: null });
  expect(created(role, { rules: [rule] })).toMatchObject({ rules: [rule] });
  expect(role.prepareUpdate(objectOf(role, {}), objectOf(role), '')).toMatchObject({ rules: null });
});

test('fills in the group of roles and subjects', () => {
  const apiGroup = 'rbac.authorization.k8s.io';
  expect(
    created(roleBinding, {
      roleRef: { kind: 'Role', name: 'r' },
      subjects: [
        { kind: 'User', name: 'u' },
        { kind: 'Group', name: 'g', apiGroup: 'other' },
        { kind: 'ServiceAccount', name: 's' },
      ],
    }),
  ).toMatchObject({
    roleRef: { apiGroup, kind: 'Role', name: 'r' },
    subjects: [
      { apiGroup, kind: 'User', name: 'u' },
      { apiGroup: 'other', kind: 'Group', name: 'g' },
      { kind: 'ServiceAccount', name: 's' },
    ],
  });
  expect(created(roleBinding, { roleRef: { kind: 'Role', name: 'r' } })).not.toHaveProperty('subjects');
});

const roleRef = { kind: 'ClusterRole', name: 'r' };
const subject = (kind: string, more: object = {}) => ({ kind, name: 'x', ...more });
const bindings: [string, typeof role, Record<string, unknown>, string[]][] = [
  ['a role of the cluster', roleBinding, { roleRef }, []],
  ['a role of the namespace', roleBinding, { roleRef: { kind: 'Role', name: 'r' } }, []],
  [
    'a role of some namespace for the cluster',
    clusterRoleBinding,
    { roleRef: { kind: 'Role', name: 'r' } },
    ['roleRef.kind: Unsupported value: "Role": supported values: "ClusterRole"'],
  ],
  [
    'no role',
    roleBinding,
    {},
    ['roleRef.kind: Unsupported value: "": supported values: "ClusterRole", "Role"', 'roleRef.name: Required value'],
  ],
  ['subjects', roleBinding, { roleRef, subjects: [subject('User'), subject('Group'), subject('ServiceAccount')] }, []],
  [
    'a subject without a name',
    roleBinding,
    { roleRef, subjects: [{ kind: 'User' }] },
    ['subjects[0].name: Required value'],
  ],
  [
    'a subject of another kind',
    roleBinding,
    { roleRef, subjects: [subject('Dog')] },
    ['subjects[0].kind: Unsupported value: "Dog": supported values: "ServiceAccount", "User", "Group"'],
  ],
  [
    'an account of no namespace',
    clusterRoleBinding,
    { roleRef, subjects: [subject('ServiceAccount')] },
    ['subjects[0].namespace: Required value'],
  ],
  [
    'an account of a namespace',
    clusterRoleBinding,
    { roleRef, subjects: [subject('ServiceAccount', { namespace: 'n' })] },
    [],
  ],
];
test.each(bindings)('judges a binding with %s', (_, kind, content, wanted) => {
  expect(problems(kind, content)).toEqual(wanted);
});

test('does not change the roleRef', () => {
  expect(problems(roleBinding, { roleRef }, { roleRef })).toEqual([]);
  expect(problems(roleBinding, { roleRef: { ...roleRef, name: 's' } }, { roleRef })).toEqual([
    'roleRef: Invalid value: {"kind":"ClusterRole","name":"s"}: cannot change roleRef',
  ]);
});

test('shows roles and bindings', () => {
  expect(row(role, {})).toEqual({ Name: 'a', 'Created At': '2026-01-02T03:03:05Z' });
  const subjects = [subject('User'), subject('User', { name: 'y' }), subject('ServiceAccount', { namespace: 'n' })];
  expect(row(roleBinding, { roleRef, subjects })).toEqual({
    Name: 'a',
    Role: 'ClusterRole/r',
    Age: '60s',
    Users: 'x, y',
    Groups: '',
    ServiceAccounts: 'n/x',
  });
});

test('lets PUT create all of them, under any name that fits a path', () => {
  for (const kind of [role, clusterRole, roleBinding, clusterRoleBinding])
    expect(kind).toMatchObject({ createsOnUpdate: true, nameRule: 'path' });
});
