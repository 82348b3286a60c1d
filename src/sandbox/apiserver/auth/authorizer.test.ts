import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { readerOf } from '../../../../test/kit/api-reader.ts';
import type { KubeResource, Resource } from '../../../kube/resource.ts';
import { clusterRoleBindings, clusterRoles, roleBindings, roles } from '../../../kube/resources.ts';
import type { AccessRequest, UserInfo } from '../ports.ts';
import { createAuthorizer } from './authorizer.ts';
import { accessForbidden } from './forbidden.ts';

type Objects = (readonly [Resource, KubeResource & Record<string, unknown>])[];

const jane: UserInfo = { username: 'jane', groups: ['dev', 'system:authenticated'] };
const robot: UserInfo = { username: 'system:serviceaccount:ns:robot', groups: ['system:serviceaccounts'] };
const request = (members: Partial<AccessRequest> = {}): AccessRequest => ({
  user: jane,
  verb: 'get',
  path: '',
  group: '',
  version: 'v1',
  resource: 'pods',
  subresource: '',
  namespace: 'ns',
  name: 'web',
  ...members,
});

const readPods = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] }];
const clusterRole = (name: string, rules: unknown = readPods): Objects[number] => [
  clusterRoles,
  { metadata: { name }, rules },
];
const role = (namespace: string, name: string, rules: unknown = readPods): Objects[number] => [
  roles,
  { metadata: { namespace, name }, rules },
];
const subject = (kind: string, name: string, namespace?: string) => ({ kind, name, ...(namespace && { namespace }) });
const everywhere = (name: string, ref: string, ...subjects: object[]): Objects[number] => [
  clusterRoleBindings,
  { metadata: { name }, roleRef: { kind: 'ClusterRole', name: ref }, subjects },
];
const inside = (namespace: string, ref: [kind: string, name: string], ...subjects: object[]): Objects[number] => [
  roleBindings,
  { metadata: { namespace, name: 'binding' }, roleRef: { kind: ref[0], name: ref[1] }, subjects },
];
const decide = (objects: Objects, members: Partial<AccessRequest> = {}) =>
  createAuthorizer(readerOf(objects)).authorize(request(members));

const jn = subject('User', 'jane');
const bound = [clusterRole('reader'), everywhere('b', 'reader', jn)];

const cases: [string, Objects, Partial<AccessRequest>, boolean][] = [
  ['no binding', [clusterRole('reader')], {}, false],
  ['a user by name', bound, {}, true],
  ['a user in any namespace by a cluster binding', bound, { namespace: 'other' }, true],
  ['a user outside namespaces by a cluster binding', bound, { namespace: '', verb: 'list', name: '' }, true],
  ['not more than the role says', bound, { verb: 'delete' }, false],
  ['another user', bound, { user: { username: 'joe', groups: [] } }, false],
  ['a member of a group', [clusterRole('reader'), everywhere('b', 'reader', subject('Group', 'dev'))], {}, true],
  [
    'a group by the name of the user',
    [clusterRole('reader'), everywhere('b', 'reader', subject('Group', 'jane'))],
    {},
    false,
  ],
  [
    'a user by the name of a group',
    [clusterRole('reader'), everywhere('b', 'reader', subject('User', 'dev'))],
    {},
    false,
  ],
  ['the second subject', [clusterRole('reader'), everywhere('b', 'reader', subject('User', 'x'), jn)], {}, true],
  ['a binding without subjects', [clusterRole('reader'), everywhere('b', 'reader')], {}, false],
  [
    'a subject of an unknown kind',
    [clusterRole('reader'), everywhere('b', 'reader', subject('Robot', 'jane'))],
    {},
    false,
  ],
  [
    'a service account',
    [clusterRole('reader'), everywhere('b', 'reader', subject('ServiceAccount', 'robot', 'ns'))],
    { user: robot },
    true,
  ],
  [
    'a service account of another namespace',
    [clusterRole('reader'), everywhere('b', 'reader', subject('ServiceAccount', 'robot', 'other'))],
    { user: robot },
    false,
  ],
  [
    'a service account without namespace in a cluster binding',
    [clusterRole('reader'), everywhere('b', 'reader', subject('ServiceAccount', 'robot'))],
    { user: robot },
    false,
  ],
  [
    'a service account without namespace in a binding of its namespace',
    [role('ns', 'reader'), inside('ns', ['Role', 'reader'], subject('ServiceAccount', 'robot'))],
    { user: robot },
    true,
  ],
  ['a role in its namespace', [role('ns', 'reader'), inside('ns', ['Role', 'reader'], jn)], {}, true],
  [
    'a role in another namespace',
    [role('ns', 'reader'), inside('ns', ['Role', 'reader'], jn)],
    { namespace: 'other' },
    false,
  ],
  ['a role outside namespaces', [role('ns', 'reader'), inside('ns', ['Role', 'reader'], jn)], { namespace: '' }, false],
  ['a role of another namespace', [role('other', 'reader'), inside('ns', ['Role', 'reader'], jn)], {}, false],
  ['a cluster role in one namespace', [clusterRole('reader'), inside('ns', ['ClusterRole', 'reader'], jn)], {}, true],
  [
    'a cluster role elsewhere',
    [clusterRole('reader'), inside('ns', ['ClusterRole', 'reader'], jn)],
    { namespace: 'other' },
    false,
  ],
  ['a role that has no rules', [clusterRole('reader', null), everywhere('b', 'reader', jn)], {}, false],
  ['the masters, without any role', [], { user: { username: 'x', groups: ['system:masters'] }, verb: 'destroy' }, true],
  ['a user named like the masters', [], { user: { username: 'system:masters', groups: [] } }, false],
  [
    'paths by a cluster binding',
    [clusterRole('p', [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }]), everywhere('b', 'p', jn)],
    { path: '/metrics', resource: '', namespace: '', name: '' },
    true,
  ],
  [
    'paths by a binding of a namespace',
    [clusterRole('p', [{ verbs: ['get'], nonResourceURLs: ['*'] }]), inside('ns', ['ClusterRole', 'p'], jn)],
    { path: '/metrics', resource: '', namespace: '', name: '' },
    false,
  ],
];
test.each(cases)('allows or rejects %s', (_, objects, members, allowed) => {
  expect(decide(objects, members).allowed).toBe(allowed);
});

const reasons: [string, Objects, Partial<AccessRequest>, string][] = [
  ['a cluster binding', bound, {}, 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to User "jane"'],
  [
    'a group',
    [clusterRole('reader'), everywhere('b', 'reader', subject('Group', 'dev'))],
    {},
    'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "reader" to Group "dev"',
  ],
  [
    'a binding of a namespace',
    [role('ns', 'reader'), inside('ns', ['Role', 'reader'], subject('ServiceAccount', 'robot'))],
    { user: robot },
    'RBAC: allowed by RoleBinding "binding/ns" of Role "reader" to ServiceAccount "robot/ns"',
  ],
  ['nothing', [], {}, ''],
  [
    'a role that does not exist',
    [everywhere('b', 'ghost', jn)],
    {},
    'RBAC: clusterrole.rbac.authorization.k8s.io "ghost" not found',
  ],
  [
    'several roles that do not exist, each once',
    [everywhere('a', 'ghost', jn), everywhere('b', 'ghost', jn), inside('ns', ['Role', 'spook'], jn)],
    {},
    'RBAC: [clusterrole.rbac.authorization.k8s.io "ghost" not found, role.rbac.authorization.k8s.io "spook" not found]',
  ],
  ['a reference to no role', [inside('ns', ['Pod', 'x'], jn)], {}, 'RBAC: unsupported role reference kind: "Pod"'],
];
test.each(reasons)('names as the reason %s', (_, objects, members, reason) => {
  expect(decide(objects, members).reason).toBe(reason);
});

test('a missing role does not hide another one that allows', () => {
  expect(decide([everywhere('a', 'ghost', jn), ...bound]).allowed).toBe(true);
});

test('lists the rules that hold in a namespace', () => {
  const objects: Objects = [
    ...bound,
    clusterRole('paths', [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }]),
    everywhere('c', 'paths', jn),
    role('ns', 'own', [{ verbs: ['*'], apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['web'] }]),
    inside('ns', ['Role', 'own'], jn),
    role('other', 'own'),
    inside('other', ['Role', 'own'], jn),
  ];
  expect(createAuthorizer(readerOf(objects)).rulesFor(jane, 'ns')).toEqual({
    resourceRules: [
      { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] },
      { verbs: ['*'], apiGroups: ['apps'], resources: ['deployments'], resourceNames: ['web'] },
    ],
    nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/metrics'] }],
  });
});

test('reports what could not be evaluated in a list of rules', () => {
  const ghost: Objects = [everywhere('b', 'ghost', jn)];
  const problem = 'clusterrole.rbac.authorization.k8s.io "ghost" not found';
  const nodes = 'node authorizer does not support user rule resolution';
  const node = { username: 'system:node:n1', groups: ['system:nodes'] };
  const rulesFor = (objects: Objects, user: UserInfo) => createAuthorizer(readerOf(objects)).rulesFor(user, 'ns');
  expect(rulesFor(ghost, jane)).toEqual({ resourceRules: [], nonResourceRules: [], evaluationError: problem });
  expect(rulesFor([], node)).toEqual(expect.objectContaining({ incomplete: true, evaluationError: nodes }));
  const lost: Objects = [everywhere('b', 'ghost', subject('User', node.username))];
  expect(rulesFor(lost, node)).toEqual(expect.objectContaining({ evaluationError: `[${nodes}, ${problem}]` }));
});

const sentences: [string, Partial<AccessRequest>, string, string][] = [
  [
    'in a namespace',
    { resource: 'configmaps', verb: 'list', name: '' },
    '',
    'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "ns"',
  ],
  [
    'of one object',
    { group: 'apps', resource: 'deployments' },
    '',
    'deployments.apps "web" is forbidden: User "jane" cannot get resource "deployments" in API group "apps" in the namespace "ns"',
  ],
  [
    'of a subresource',
    { subresource: 'log' },
    '',
    'pods "web" is forbidden: User "jane" cannot get resource "pods/log" in API group "" in the namespace "ns"',
  ],
  [
    'outside namespaces, with a reason',
    { namespace: '', resource: 'nodes', name: 'n' },
    'because',
    'nodes "n" is forbidden: User "jane" cannot get resource "nodes" in API group "" at the cluster scope: because',
  ],
  ['of a path', { path: '/metrics' }, '', 'forbidden: User "jane" cannot get path "/metrics"'],
  [
    'with names that look like markup',
    { user: { username: '<b>&', groups: [] }, path: '/x' },
    '',
    'forbidden: User "&lt;b&gt;&amp;" cannot get path "/x"',
  ],
];
test.each(sentences)('words the refusal %s', (_, members, reason, message) => {
  expect(accessForbidden(request(members), reason).status).toEqual(
    expect.objectContaining({ code: 403, reason: 'Forbidden', message }),
  );
});

const names = fc.constantFrom('jane', 'dev', 'system:authenticated', 'joe', 'ops');
const anySubject = fc.record({ kind: fc.constantFrom('User', 'Group', 'ServiceAccount'), name: names });
const anyRules = fc.array(
  fc.record({
    verbs: fc.array(fc.constantFrom('get', 'list', 'delete', '*'), { maxLength: 2 }),
    apiGroups: fc.array(fc.constantFrom('', 'apps', '*'), { maxLength: 2 }),
    resources: fc.array(fc.constantFrom('pods', 'secrets', '*'), { maxLength: 2 }),
  }),
  { maxLength: 3 },
);
const anyBinding = fc.record({
  namespace: fc.constantFrom('', 'ns', 'other'),
  roleKind: fc.constantFrom('Role', 'ClusterRole'),
  role: fc.constantFrom('a', 'b'),
  subjects: fc.array(anySubject, { maxLength: 3 }),
});

test('every permission has a binding in scope to a role with a matching rule', () => {
  fc.assert(
    fc.property(
      fc.record({ a: anyRules, b: anyRules }),
      fc.array(anyBinding, { maxLength: 5 }),
      fc.record({
        verb: fc.constantFrom('get', 'list', 'delete'),
        group: fc.constantFrom('', 'apps'),
        resource: fc.constantFrom('pods', 'secrets'),
        namespace: fc.constantFrom('', 'ns', 'other'),
      }),
      (rules, bindings, asked) => {
        const objects: Objects = [
          clusterRole('a', rules.a),
          clusterRole('b', rules.b),
          role('ns', 'a', rules.b),
          ...bindings.map(({ namespace, roleKind, role: ref, subjects }, index): Objects[number] => [
            namespace === '' ? clusterRoleBindings : roleBindings,
            {
              metadata: { name: `b${index}`, ...(namespace && { namespace }) },
              roleRef: { kind: namespace === '' ? 'ClusterRole' : roleKind, name: ref },
              subjects,
            },
          ]),
        ];
        const expected = bindings.some(({ namespace, roleKind, role: ref, subjects }) => {
          const inScope = namespace === '' || namespace === asked.namespace;
          const isJane = subjects.some(
            ({ kind, name }) =>
              (kind === 'User' && name === 'jane') || (kind === 'Group' && jane.groups.includes(name)),
          );
          const own = namespace === 'ns' && ref === 'a' ? rules.b : [];
          const granted = namespace === '' || roleKind === 'ClusterRole' ? rules[ref] : own;
          const has = (list: readonly string[], item: string) => list.includes('*') || list.includes(item);
          const says = granted.some(
            rule =>
              has(rule.verbs, asked.verb) && has(rule.apiGroups, asked.group) && has(rule.resources, asked.resource),
          );
          return inScope && isJane && says;
        });
        expect(decide(objects, asked).allowed).toBe(expected);
      },
    ),
    { numRuns: 3000 },
  );
});
