import { type ParityCase, status } from './case.ts';
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
    name: 'nobody makes a role of what they do not hold',
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
    name: 'nobody widens a role beyond what they hold',
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
    name: 'names are held one by one',
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
    name: 'a cluster role must be held everywhere',
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
    name: 'who may escalate makes any role',
    steps: [
      ...allowing(onRoles(['create', 'escalate'])),
      asJane(`POST ${own}/roles`, 201, { body: role('gift', [on(['*'], ['secrets'])]) }),
    ],
  },
  {
    name: 'who may escalate one role by name may not make it',
    steps: [
      ...allowing(onRoles(['create', 'update']), onRoles(['escalate'], { resourceNames: ['gift'] })),
      asJane(`POST ${own}/roles`, 403, { body: role('gift', [on(['get'], ['secrets'])]) }),
      makeRole('gift', on(['get'], ['pods'])),
      asJane(`PUT ${own}/roles/gift`, 200, { body: role('gift', [on(['get'], ['secrets'])]) }),
    ],
  },
  {
    name: 'nobody binds a role they do not hold',
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
    name: 'who holds a role binds it',
    steps: [
      makeRole('gift', on(['get'], ['secrets'])),
      ...allowing(onBindings, on(['get'], ['secrets'])),
      asJane(`POST ${own}/rolebindings`, 201, { body: binding('Role', 'gift') }),
    ],
  },
  {
    name: 'who may bind a role binds it',
    steps: [
      makeRole('gift', on(['get'], ['secrets'])),
      ...allowing(onBindings, onRoles(['bind'], { resourceNames: ['gift'] })),
      asJane(`POST ${own}/rolebindings`, 201, { body: binding('Role', 'gift') }),
      makeRole('other', on(['list'], ['secrets'])),
      asJane(`POST ${own}/rolebindings`, 403, { body: binding('Role', 'other') }),
    ],
  },
  {
    name: 'a role that nobody has made cannot be bound by who does not hold everything',
    steps: [
      ...allowing(onBindings),
      asJane(`POST ${own}/rolebindings`, 404, {
        body: binding('Role', 'ghost'),
        gives: status('NotFound', 'roles.rbac.authorization.k8s.io "ghost" not found', {
          name: 'ghost',
          group: apiGroup,
          kind: 'roles',
        }),
      }),
    ],
  },
];
