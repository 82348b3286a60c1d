import { core, given, type ParityCase, type Step, status } from './case.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const roles = `${rbac}/namespaces/{ns}/roles`;
const bindings = `${rbac}/namespaces/{ns}/rolebindings`;
const joe = 'joe-{id}';

const readPods: Step = {
  send: `POST ${roles}`,
  body: { metadata: { name: 'r' }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }] },
  code: 201,
};
const bindJoe: Step = {
  send: `POST ${bindings}`,
  body: { metadata: { name: 'b' }, roleRef: { kind: 'Role', name: 'r' }, subjects: [{ kind: 'User', name: joe }] },
  code: 201,
};

function forbids(name: string, send: string, message: string, details: Record<string, unknown>): ParityCase {
  const body = send.startsWith('GET') || send.startsWith('DELETE') ? {} : { body: {} };
  return {
    name: `forbids ${name}`,
    steps: [{ send, ...body, as: joe, code: 403, gives: status('Forbidden', message, details) }],
  };
}

export const accessCases: readonly ParityCase[] = [
  forbids(
    'to list in a namespace',
    `GET ${core}/configmaps`,
    `configmaps is forbidden: User "${joe}" cannot list resource "configmaps" in API group "" in the namespace "{ns}"`,
    { kind: 'configmaps' },
  ),
  forbids(
    'to get',
    `GET ${core}/configmaps/a`,
    `configmaps "a" is forbidden: User "${joe}" cannot get resource "configmaps" in API group "" in the namespace "{ns}"`,
    { name: 'a', kind: 'configmaps' },
  ),
  forbids(
    'to list in the cluster',
    'GET /api/v1/nodes',
    `nodes is forbidden: User "${joe}" cannot list resource "nodes" in API group "" at the cluster scope`,
    { kind: 'nodes' },
  ),
  forbids(
    'to watch',
    `GET ${core}/configmaps?watch=true`,
    `configmaps is forbidden: User "${joe}" cannot watch resource "configmaps" in API group "" in the namespace "{ns}"`,
    { kind: 'configmaps' },
  ),
  forbids(
    'to create',
    `POST ${core}/configmaps`,
    `configmaps is forbidden: User "${joe}" cannot create resource "configmaps" in API group "" in the namespace "{ns}"`,
    { kind: 'configmaps' },
  ),
  forbids(
    'a subresource',
    `PUT ${core}/pods/p/status`,
    `pods "p" is forbidden: User "${joe}" cannot update resource "pods/status" in API group "" in the namespace "{ns}"`,
    { name: 'p', kind: 'pods' },
  ),
  forbids(
    'to delete a collection of a group',
    `DELETE ${roles}`,
    `roles.rbac.authorization.k8s.io is forbidden: User "${joe}" cannot deletecollection resource "roles" in API group "rbac.authorization.k8s.io" in the namespace "{ns}"`,
    { group: 'rbac.authorization.k8s.io', kind: 'roles' },
  ),
  forbids('a path', 'GET /metrics', `forbidden: User "${joe}" cannot get path "/metrics"`, {}),
  {
    name: 'allows what a role and its binding allow, only in their namespace',
    steps: [
      readPods,
      bindJoe,
      { send: `GET ${core}/pods`, as: joe, code: 200, gives: { kind: 'PodList' }, eventually: true },
      { send: `GET ${core}/pods/none`, as: joe, code: 404 },
      { send: `DELETE ${core}/pods/none`, as: joe, code: 403 },
      { send: 'GET /api/v1/namespaces/default/pods', as: joe, code: 403 },
      { send: 'GET /api/v1/pods', as: joe, code: 403 },
      { send: `DELETE ${bindings}/b`, code: 200 },
      { send: `GET ${core}/pods`, as: joe, code: 403, eventually: true },
    ],
  },
  {
    name: 'supports resourceNames in a role',
    steps: [
      given('a'),
      given('b'),
      {
        ...readPods,
        body: {
          metadata: { name: 'r' },
          rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: ['a'], verbs: ['get'] }],
        },
      },
      bindJoe,
      { send: `GET ${core}/configmaps/a`, as: joe, code: 200, eventually: true },
      { send: `GET ${core}/configmaps/b`, as: joe, code: 403 },
    ],
  },
  {
    name: 'allows every user to read version and discovery',
    steps: [
      { send: 'GET /version', as: joe, code: 200 },
      { send: 'GET /api', as: joe, code: 200 },
      { send: 'GET /apis', as: joe, code: 200 },
      { send: 'GET /healthz', as: joe, code: 200 },
    ],
  },
  {
    name: 'prevents users from granting permissions that they do not have',
    steps: [
      {
        ...readPods,
        body: {
          metadata: { name: 'r' },
          rules: [{ apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'], verbs: ['create', 'list'] }],
        },
      },
      bindJoe,
      { send: `GET ${roles}`, as: joe, code: 200, eventually: true },
      {
        send: `POST ${roles}`,
        body: { metadata: { name: 'more' }, rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }] },
        as: joe,
        code: 403,
        gives: status('Forbidden', /is attempting to grant RBAC permissions not currently held/),
      },
    ],
  },
];
