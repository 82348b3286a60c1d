import { expect, test } from 'vitest';
import { readerOf, stored } from '../../../../../test/kit/api-reader.ts';
import type { KubeResource, Resource } from '../../../../kube/resource.ts';
import { clusterRoleBindings, clusterRoles, configMaps, roleBindings, roles } from '../../../../kube/resources.ts';
import type { AdmissionRequest, UserInfo } from '../../ports.ts';
import { createAuthorizer } from '../authorizer.ts';
import { refuseEscalation } from './escalation.ts';

type Objects = (readonly [Resource, KubeResource & Record<string, unknown>])[];

const jane: UserInfo = { username: 'jane', groups: ['dev', 'system:authenticated'] };
const master: UserInfo = { username: 'root', groups: ['system:masters'] };
const rule = (verbs: string[], resources: string[], more: object = {}) => ({
  verbs,
  apiGroups: [''],
  resources,
  ...more,
});
const onRoles = (verbs: string[], more: object = {}) => ({
  verbs,
  apiGroups: ['rbac.authorization.k8s.io'],
  resources: ['roles', 'clusterroles'],
  ...more,
});
const readPods = rule(['get', 'list'], ['pods']);

/** What jane holds, everywhere or in the namespace ns only. */
const holding = (rules: object[], where = ''): Objects => [
  [clusterRoles, { metadata: { name: 'held' }, rules }],
  where === ''
    ? [clusterRoleBindings, { metadata: { name: 'held' }, ...toJane }]
    : [roleBindings, { metadata: { namespace: where, name: 'held' }, ...toJane }],
];
const toJane = { roleRef: { kind: 'ClusterRole', name: 'held' }, subjects: [{ kind: 'User', name: 'jane' }] };

interface Write {
  resource: Resource;
  object: Record<string, unknown>;
  old?: Record<string, unknown>;
  user?: UserInfo;
  operation?: AdmissionRequest['operation'];
  subresource?: string;
}

function attempt(held: Objects, write: Write): string {
  const api = readerOf(held);
  const metadata = write.resource.namespaced ? { namespace: 'ns', name: 'new' } : { name: 'new' };
  const object = stored(write.resource, { metadata, ...write.object });
  const old = write.old === undefined ? undefined : stored(write.resource, { metadata, ...write.old });
  const request: AdmissionRequest = {
    user: write.user ?? jane,
    operation: write.operation ?? (old === undefined ? 'create' : 'update'),
    resource: write.resource,
    subresource: write.subresource ?? '',
    object,
    old,
  };
  try {
    refuseEscalation(request, api, createAuthorizer(api));
    return 'allowed';
  } catch (error) {
    return (error as Error).message;
  }
}

const heading =
  'user "jane" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:';
const makeRole = (...rules: object[]): Write => ({ resource: roles, object: { rules } });
const makeClusterRole = (...rules: object[]): Write => ({ resource: clusterRoles, object: { rules } });
const allowed: [string, Objects, Write][] = [
  ['the masters', [], { ...makeRole(rule(['*'], ['*'])), user: master }],
  ['a role of what its author holds', holding([readPods]), makeRole(readPods)],
  ['a role of what its author holds in that namespace', holding([readPods], 'ns'), makeRole(readPods)],
  ['a role without rules', [], makeRole()],
  ['a cluster role of what its author holds everywhere', holding([readPods]), makeClusterRole(readPods)],
  ['any role for who may escalate', holding([onRoles(['escalate'])]), makeRole(rule(['*'], ['*']))],
  [
    'a change of a named role for who may escalate it',
    holding([onRoles(['escalate'], { resourceNames: ['new'] })]),
    { ...makeRole(rule(['*'], ['*'])), old: { rules: [] } },
  ],
  ['a deletion', [], { ...makeRole(rule(['*'], ['*'])), operation: 'delete' }],
  ['another kind', [], { resource: configMaps, object: { rules: [rule(['*'], ['*'])] } }],
  [
    'another group with the same names',
    [],
    { ...makeRole(rule(['*'], ['*'])), resource: { ...roles, group: 'example' } },
  ],
  [
    'a change of finalizers only',
    [],
    {
      resource: roles,
      object: { rules: [rule(['*'], ['*'])], metadata: { namespace: 'ns', name: 'new', finalizers: ['a/b'] } },
      old: { rules: [rule(['*'], ['*'])] },
    },
  ],
];
test.each(allowed)('allows %s', (_, held, write) => expect(attempt(held, write)).toBe('allowed'));

const refused: [string, Objects, Write, string][] = [
  [
    'a role of what its author does not hold',
    holding([readPods]),
    makeRole(rule(['get', 'delete', 'update'], ['pods', 'secrets'])),
    `roles.rbac.authorization.k8s.io "new" is forbidden: ${heading}\n{APIGroups:[""], Resources:["pods"], Verbs:["delete" "update"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete" "update"]}`,
  ],
  [
    'a cluster role of what its author holds in a namespace only',
    holding([readPods], 'ns'),
    makeClusterRole(readPods),
    `clusterroles.rbac.authorization.k8s.io "new" is forbidden: ${heading}\n{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`,
  ],
  [
    'a role for which a name would be needed that is not known yet',
    holding([onRoles(['escalate'], { resourceNames: ['new'] })]),
    makeRole(readPods),
    `roles.rbac.authorization.k8s.io "new" is forbidden: ${heading}\n{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`,
  ],
  [
    'a change that keeps a rule its author does not hold',
    [],
    {
      resource: roles,
      object: { rules: [readPods], metadata: { namespace: 'ns', name: 'new', labels: { a: 'b' } } },
      old: { rules: [readPods] },
    },
    `roles.rbac.authorization.k8s.io "new" is forbidden: ${heading}\n{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`,
  ],
  [
    'with word of roles that are missing',
    [[clusterRoleBindings, { metadata: { name: 'x' }, ...toJane }]],
    makeRole(rule(['get'], ['pods'])),
    `roles.rbac.authorization.k8s.io "new" is forbidden: ${heading}\n{APIGroups:[""], Resources:["pods"], Verbs:["get"]}; resolution errors: [clusterrole.rbac.authorization.k8s.io "held" not found]`,
  ],
];
test.each(refused)('rejects %s', (_, held, write, message) => expect(attempt(held, write)).toBe(message));

const target = (rules: object[]): Objects => [
  [clusterRoles, { metadata: { name: 'target' }, rules }],
  [roles, { metadata: { namespace: 'ns', name: 'target' }, rules }],
];
const bind = (kind: string, resource: Resource, name = 'target'): Write => ({
  resource,
  object: { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind, name }, subjects: [{ kind: 'User', name: 'joe' }] },
});

const bindingCases: [string, Objects, Write, string][] = [
  [
    'of a role its author holds',
    [...target([readPods]), ...holding([readPods])],
    bind('Role', roleBindings),
    'allowed',
  ],
  [
    'of a cluster role its author holds everywhere',
    [...target([readPods]), ...holding([readPods])],
    bind('ClusterRole', clusterRoleBindings),
    'allowed',
  ],
  [
    'by the masters, of a role that does not exist',
    [],
    { ...bind('ClusterRole', clusterRoleBindings), user: master },
    'allowed',
  ],
  [
    'by who may bind that role',
    [...target([rule(['*'], ['*'])]), ...holding([onRoles(['bind'], { resourceNames: ['target'] })])],
    bind('ClusterRole', clusterRoleBindings),
    'allowed',
  ],
  [
    'by who may bind it in this namespace',
    [...target([rule(['*'], ['*'])]), ...holding([onRoles(['bind'])], 'ns')],
    bind('Role', roleBindings),
    'allowed',
  ],
  [
    'everywhere by who may bind it in a namespace only',
    [...target([readPods]), ...holding([onRoles(['bind'])], 'ns')],
    bind('ClusterRole', clusterRoleBindings),
    `clusterrolebindings.rbac.authorization.k8s.io "new" is forbidden: ${heading}\n{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`,
  ],
  [
    'of a role its author does not hold',
    target([readPods]),
    bind('Role', roleBindings),
    `rolebindings.rbac.authorization.k8s.io "new" is forbidden: ${heading}\n{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`,
  ],
  [
    'by who may bind another role',
    [...target([readPods]), ...holding([onRoles(['bind'], { resourceNames: ['other'] })])],
    bind('ClusterRole', clusterRoleBindings),
    `clusterrolebindings.rbac.authorization.k8s.io "new" is forbidden: ${heading}\n{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`,
  ],
  [
    'of a role that does not exist',
    [],
    bind('Role', roleBindings, 'ghost'),
    'rolebindings.rbac.authorization.k8s.io "ghost" not found',
  ],
  [
    'of a cluster role that does not exist',
    [],
    bind('ClusterRole', roleBindings, 'ghost'),
    'rolebindings.rbac.authorization.k8s.io "ghost" not found',
  ],
  ['of something that is no role', [], bind('Pod', roleBindings), 'unsupported role reference kind: "Pod"'],
  ['of a member of every object', [], bind('toString', roleBindings), 'unsupported role reference kind: "toString"'],
];
test.each(bindingCases)('a binding %s', (_, held, write, want) => expect(attempt(held, write)).toBe(want));
