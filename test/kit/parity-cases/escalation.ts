import { type ParityCase, status } from './case.ts';
import { changed } from './changed.ts';
import {
  rbac,
  own,
  jane,
  on,
  onRoles,
  onBindings,
  role,
  makeRole,
  makeClusterRole,
  binding,
  bindEverywhere,
  allowing,
  asJane,
  apiGroup,
} from './rbac-steps.ts';

const notHeld = `user "${jane}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:`;

export const escalationCases: readonly ParityCase[] = [
  {
    name: 'rejects a new role with permissions that the user lacks',
    steps: [
      ...allowing(onRoles(['create', 'update']), on(['get'], ['pods'])),
      asJane(`POST ${own}/roles`, 403, {
        body: role('gift', [on(['list', 'get', 'delete'], ['secrets', 'pods'])]),
        gives: status(
          'Forbidden',
          `roles.rbac.authorization.k8s.io "gift" is forbidden: ${notHeld}\n{APIGroups:[""], Resources:["pods"], Verbs:["list" "delete"]}\n{APIGroups:[""], Resources:["secrets"], Verbs:["list" "get" "delete"]}`,
          { name: 'gift', group: apiGroup, kind: 'roles' },
        ),
      }),
      asJane(`POST ${own}/roles`, 201, { body: role('gift', [on(['get'], ['pods'])]) }),
    ],
  },
  {
    name: 'rejects added permissions that the user lacks',
    steps: [
      ...allowing(onRoles(['update', 'get']), on(['get'], ['pods'])),
      makeRole('gift', on(['get'], ['pods'])),
      asJane(`PUT ${own}/roles/gift`, 403, {
        body: role('gift', [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]),
        gives: status(
          'Forbidden',
          `roles.rbac.authorization.k8s.io "gift" is forbidden: ${notHeld}\n{APIGroups:["*"], Resources:["*"], Verbs:["*"]}`,
        ),
      }),
    ],
  },
  {
    name: 'checks resourceNames one by one',
    steps: [
      ...allowing(onRoles(['create']), { ...on(['get'], ['pods']), resourceNames: ['a'] }),
      asJane(`POST ${own}/roles`, 403, {
        body: role('gift', [{ ...on(['get'], ['pods']), resourceNames: ['a', 'b'] }]),
        gives: status(
          'Forbidden',
          `roles.rbac.authorization.k8s.io "gift" is forbidden: ${notHeld}\n{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}`,
        ),
      }),
    ],
  },
  {
    name: 'needs cluster-wide permissions to create a cluster role',
    steps: [
      makeClusterRole('maker', onRoles(['create'])),
      bindEverywhere('maker'),
      ...allowing(on(['get'], ['pods'])),
      asJane(`POST ${rbac}/clusterroles`, 403, {
        body: role('gift-{id}', [on(['get'], ['pods']), { verbs: ['get', 'post'], nonResourceURLs: ['/metrics'] }]),
        gives: status(
          'Forbidden',
          `clusterroles.rbac.authorization.k8s.io "gift-{id}" is forbidden: ${notHeld}\n{APIGroups:[""], Resources:["pods"], Verbs:["get"]}\n{NonResourceURLs:["/metrics"], Verbs:["get"]}\n{NonResourceURLs:["/metrics"], Verbs:["post"]}`,
        ),
      }),
    ],
  },
  {
    name: 'allows any role with escalate',
    steps: [
      ...allowing(onRoles(['create', 'escalate'])),
      asJane(`POST ${own}/roles`, 201, { body: role('gift', [on(['*'], ['secrets'])]) }),
    ],
  },
  {
    name: 'escalate for a name does not allow creating the role',
    steps: [
      ...allowing(onRoles(['create', 'update']), onRoles(['escalate'], { resourceNames: ['gift'] })),
      asJane(`POST ${own}/roles`, 403, { body: role('gift', [on(['get'], ['secrets'])]) }),
      makeRole('gift', on(['get'], ['pods'])),
      asJane(`PUT ${own}/roles/gift`, 200, { body: role('gift', [on(['get'], ['secrets'])]) }),
    ],
  },
  {
    name: 'rejects a binding to a role with permissions that the user lacks',
    steps: [
      makeRole('gift', on(['get', 'list'], ['secrets'])),
      ...allowing(onBindings),
      asJane(`POST ${own}/rolebindings`, 403, {
        body: binding('Role', 'gift'),
        gives: status(
          'Forbidden',
          `rolebindings.rbac.authorization.k8s.io "gift" is forbidden: ${notHeld}\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}`,
        ),
      }),
    ],
  },
  {
    name: 'allows a binding to a role with permissions of the user',
    steps: [
      makeRole('gift', on(['get'], ['secrets'])),
      ...allowing(onBindings, on(['get'], ['secrets'])),
      asJane(`POST ${own}/rolebindings`, 201, { body: binding('Role', 'gift') }),
    ],
  },
  {
    name: 'allows a binding with bind',
    steps: [
      makeRole('gift', on(['get'], ['secrets'])),
      ...allowing(onBindings, onRoles(['bind'], { resourceNames: ['gift'] })),
      asJane(`POST ${own}/rolebindings`, 201, { body: binding('Role', 'gift') }),
      makeRole('other', on(['list'], ['secrets'])),
      asJane(`POST ${own}/rolebindings`, 403, { body: binding('Role', 'other') }),
    ],
  },
  {
    name: 'rejects a binding to a missing role unless the user has all permissions',
    steps: [
      ...allowing(onBindings),
      asJane(`POST ${own}/rolebindings`, 404, {
        body: binding('Role', 'ghost'),
        gives: status(
          'NotFound',
          changed(
            'roles.rbac.authorization.k8s.io "ghost" not found',
            'rolebindings.rbac.authorization.k8s.io "ghost" not found',
          ),
          { name: 'ghost', group: apiGroup },
        ),
      }),
    ],
  },
];
