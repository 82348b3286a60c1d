import { applyPatch, core, given, type ParityCase, type Step, status } from './case.ts';
import { escalationCases } from './escalation.ts';
import {
  own,
  jane,
  on,
  makeRole,
  makeClusterRole,
  bind,
  bindEverywhere,
  allowing,
  asJane,
  apiGroup,
} from './rbac-steps.ts';
import { reviewCases } from './reviews.ts';

const refused = (verb: string, resource: string, scope: string, name = ''): Partial<Step> => {
  const [plural = ''] = resource.split('/');
  const what = `${plural}${name === '' ? '' : ` "${name}"`}`;
  const says = `${what} is forbidden: User "${jane}" cannot ${verb} resource "${resource}" in API group "" ${scope}`;
  return { gives: status('Forbidden', says, { kind: plural, ...(name === '' ? {} : { name }) }) };
};
const here = 'in the namespace "{ns}"';
const everywhere = 'at the cluster scope';
const list = `GET ${core}/configmaps`;
const applying = (name: string) => `PATCH ${core}/configmaps/${name}?fieldManager=test`;
const applied = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { x: 'y' } });

const scopeCases: readonly ParityCase[] = [
  {
    name: 'rejects a user without a role and names the missing permission',
    steps: [
      asJane(list, 403, refused('list', 'configmaps', here)),
      asJane('GET /api/v1/configmaps', 403, refused('list', 'configmaps', everywhere)),
      asJane(`GET ${core}/configmaps/a`, 403, refused('get', 'configmaps', here, 'a')),
      asJane(`DELETE ${core}/configmaps`, 403, refused('deletecollection', 'configmaps', here)),
      asJane(`GET ${core}/configmaps?watch=true`, 403, refused('watch', 'configmaps', here)),
      asJane(`POST ${core}/configmaps`, 403, {
        body: { metadata: { name: 'a' } },
        ...refused('create', 'configmaps', here),
      }),
      asJane(`PUT ${core}/configmaps/a`, 403, {
        body: { metadata: { name: 'a' } },
        ...refused('update', 'configmaps', here, 'a'),
      }),
      asJane(`PATCH ${core}/configmaps/a`, 403, { body: {}, ...refused('patch', 'configmaps', here, 'a') }),
    ],
  },
  {
    name: 'names group and subresource in a Forbidden error',
    steps: [
      asJane('GET /apis/apps/v1/namespaces/{ns}/deployments/a', 403, {
        gives: status(
          'Forbidden',
          `deployments.apps "a" is forbidden: User "${jane}" cannot get resource "deployments" in API group "apps" ${here}`,
          { name: 'a', group: 'apps', kind: 'deployments' },
        ),
      }),
      asJane(`GET ${core}/pods/a/status`, 403, refused('get', 'pods/status', here, 'a')),
      asJane(`POST ${core}/pods/a/eviction`, 403, {
        body: { metadata: { name: 'a' } },
        ...refused('create', 'pods/eviction', here, 'a'),
      }),
    ],
  },
  {
    name: 'rejects non-resource paths',
    steps: [
      asJane('GET /metrics', 403, {
        gives: status('Forbidden', `forbidden: User "${jane}" cannot get path "/metrics"`),
      }),
      asJane('GET /version'),
      asJane('GET /healthz'),
      asJane('GET /apis'),
    ],
  },
  {
    name: 'a role applies in its namespace to its verbs and resources',
    steps: [
      ...allowing(on(['list', 'get'], ['configmaps'])),
      asJane(list),
      asJane(`GET ${core}/configmaps/a`, 404),
      asJane(`DELETE ${core}/configmaps/a`, 403, refused('delete', 'configmaps', here, 'a')),
      asJane(`GET ${core}/secrets`, 403, refused('list', 'secrets', here)),
      asJane(
        'GET /api/v1/namespaces/default/configmaps',
        403,
        refused('list', 'configmaps', 'in the namespace "default"'),
      ),
      asJane('GET /api/v1/configmaps', 403, refused('list', 'configmaps', everywhere)),
    ],
  },
  {
    name: 'a rule can be limited to names',
    steps: [
      given('a'),
      given('b'),
      ...allowing({ ...on(['get', 'list', 'delete'], ['configmaps']), resourceNames: ['a'] }),
      asJane(`GET ${core}/configmaps/a`),
      asJane(`GET ${core}/configmaps/b`, 403, refused('get', 'configmaps', here, 'b')),
      asJane(list, 403, refused('list', 'configmaps', here)),
      asJane(`GET ${core}/configmaps?fieldSelector=metadata.name=a`),
    ],
  },
  {
    name: 'the right to create can be limited to a name for server-side apply, and for nothing else',
    steps: [
      ...allowing({ ...on(['create', 'patch'], ['configmaps']), resourceNames: ['a'] }),
      asJane(applying('a'), 201, { type: applyPatch, body: applied('a'), gives: { data: { x: 'y' } } }),
      asJane(applying('b'), 403, {
        type: applyPatch,
        body: applied('b'),
        ...refused('patch', 'configmaps', here, 'b'),
      }),
      asJane(`POST ${core}/configmaps`, 403, { body: applied('a'), ...refused('create', 'configmaps', here) }),
    ],
  },
  {
    name: 'server-side apply creates nothing without the right to create it',
    steps: [
      ...allowing(on(['patch'], ['configmaps'])),
      asJane(applying('a'), 403, { type: applyPatch, body: applied('a') }),
    ],
  },
  {
    name: 'a subresource needs its own rule',
    steps: [
      ...allowing(on(['*'], ['serviceaccounts'])),
      asJane(`GET ${core}/serviceaccounts`),
      asJane(`POST ${core}/serviceaccounts/default/token`, 403, {
        body: { spec: { expirationSeconds: 600 } },
        ...refused('create', 'serviceaccounts/token', here, 'default'),
      }),
    ],
  },
  {
    name: 'supports rules for a subresource of all resources',
    steps: [
      ...allowing(on(['create'], ['*/token'])),
      asJane(`POST ${core}/serviceaccounts/default/token`, 201, { body: { spec: { expirationSeconds: 600 } } }),
      asJane(`GET ${core}/serviceaccounts`, 403, refused('list', 'serviceaccounts', here)),
    ],
  },
  {
    name: 'supports wildcards',
    steps: [
      ...allowing({ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }),
      asJane(list),
      asJane(`GET ${core}/secrets`),
      asJane('GET /apis/apps/v1/namespaces/{ns}/deployments'),
      asJane(`POST ${core}/serviceaccounts/default/token`, 201, { body: { spec: { expirationSeconds: 600 } } }),
    ],
  },
  {
    name: 'a cluster role applies where it is bound',
    steps: [
      makeClusterRole('reader', on(['list'], ['configmaps', 'nodes'])),
      bind('ClusterRole', 'reader-{id}'),
      asJane(list),
      asJane('GET /api/v1/nodes', 403, refused('list', 'nodes', everywhere)),
      bindEverywhere('reader'),
      asJane('GET /api/v1/nodes'),
      asJane('GET /api/v1/configmaps'),
    ],
  },
  {
    name: 'names a missing role of a binding in the Forbidden error',
    steps: [
      bind('Role', 'ghost'),
      asJane(list, 403, {
        gives: status(
          'Forbidden',
          `configmaps is forbidden: User "${jane}" cannot list resource "configmaps" in API group "" ${here}: RBAC: role.rbac.authorization.k8s.io "ghost" not found`,
        ),
      }),
    ],
  },
  {
    name: 'a permission ends with its binding',
    steps: [
      ...allowing(on(['list'], ['configmaps'])),
      asJane(list),
      { send: `DELETE ${own}/rolebindings/own`, code: 200 },
      asJane(list, 403),
    ],
  },
  {
    name: 'has the roles admin, edit and view',
    steps: [
      bind('ClusterRole', 'view'),
      asJane(list),
      asJane(`GET ${core}/secrets`, 403),
      asJane(`POST ${core}/configmaps`, 403, { body: { metadata: { name: 'a' } } }),
      bind('ClusterRole', 'edit'),
      asJane(`GET ${core}/secrets`),
      asJane(`POST ${core}/configmaps`, 201, { body: { metadata: { name: 'a' } } }),
      asJane(`GET ${own}/roles`, 403),
      bind('ClusterRole', 'admin'),
      asJane(`GET ${own}/roles`),
      asJane('GET /api/v1/nodes', 403),
    ],
  },
  {
    name: 'supports service accounts as subjects',
    steps: [
      makeRole('reader', on(['list'], ['configmaps'])),
      {
        send: `POST ${own}/rolebindings`,
        body: {
          metadata: { name: 'reader' },
          roleRef: { apiGroup, kind: 'Role', name: 'reader' },
          subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: '{ns}' }],
        },
        code: 201,
      },
      { send: list, as: 'system:serviceaccount:{ns}:default', code: 200, eventually: true },
      { send: list, as: 'system:serviceaccount:{ns}:other', code: 403 },
    ],
  },
];

export const rbacCases: readonly ParityCase[] = [...scopeCases, ...escalationCases, ...reviewCases];
