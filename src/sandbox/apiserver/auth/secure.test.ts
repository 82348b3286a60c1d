import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCsr } from '../../../../test/kit/csr.ts';
import { type Received, Target } from '../../../../test/kit/parity-cases/target.ts';
import { fromBase64, fromUtf8, toBase64 } from '../../../base/bytes.ts';
import { systemClock } from '../../../base/clock.ts';
import { credentialIdKey, tokenIdOf } from '../../../contract/token-id.ts';
import { memberAt, textAt } from '../object.ts';
import { type ApiServer, startApiServer } from '../server.ts';
import { createAuthority, issueClientPair, issueServerPair } from './ca.ts';
import { secureParts } from './secure.ts';

const authority = createAuthority('kubernetes', systemClock);
const parts = secureParts({ authority });
let server: ApiServer;
const targets: Target[] = [];

beforeAll(async () => {
  server = await startApiServer(parts);
});
afterAll(async () => {
  for (const target of targets) target.close();
  await server.close();
});

type Send = (line: string, body?: unknown, headers?: Record<string, string>) => Promise<Received>;
function sender(credentials: { token?: string; cert?: string; key?: string }): Send {
  const target = new Target({ url: server.url, ca: server.ca, ...credentials });
  targets.push(target);
  return (line, body, headers = {}) => {
    const [method = 'GET', path = '/'] = line.split(' ');
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    return target.send({ method, path, headers: { 'content-type': 'application/json', ...headers }, ...text });
  };
}
const asUser = (commonName: string, ...organizations: string[]): Send => {
  const { certificate, key } = issueClientPair(authority, { commonName, organizations }, systemClock);
  return sender({ cert: certificate, key });
};
const asAdmin: Send = (...call) => asUser('admin', 'system:masters')(...call);
const messageOf = ({ code, body }: Received) => [code, textAt(body, 'message')];
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const reviews = '/apis/authorization.k8s.io/v1';
async function eventually(ask: () => Promise<Received>, holds: (received: Received) => boolean): Promise<Received> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const received = await ask();
    if (holds(received)) return received;
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  throw new Error('never');
}

test('a user with a certificate has exactly the permissions of its roles', async () => {
  const jane = asUser('jane', 'dev');
  const list = 'GET /api/v1/namespaces/default/configmaps';
  expect(messageOf(await jane(list))).toEqual([
    403,
    'configmaps is forbidden: User "jane" cannot list resource "configmaps" in API group "" in the namespace "default"',
  ]);
  const role = {
    metadata: { name: 'reader' },
    rules: [{ verbs: ['list'], apiGroups: [''], resources: ['configmaps'] }],
  };
  await asAdmin(`POST ${rbac}/namespaces/default/roles`, role);
  const binding = {
    metadata: { name: 'reader' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'dev' }],
  };
  expect((await asAdmin(`POST ${rbac}/namespaces/default/rolebindings`, binding)).code).toBe(201);
  expect((await jane(list)).code).toBe(200);
  expect((await jane('GET /api/v1/namespaces/kube-system/configmaps')).code).toBe(403);
  expect((await asUser('joe', 'ops')(list)).code).toBe(403);
});

test('invalid credentials are rejected with 401, missing ones are anonymous', async () => {
  expect(messageOf(await sender({ token: 'wrong' })('GET /version'))).toEqual([401, 'Unauthorized']);
  const stranger = createAuthority('kubernetes', systemClock);
  const { certificate, key } = issueClientPair(
    stranger,
    { commonName: 'admin', organizations: ['system:masters'] },
    systemClock,
  );
  expect((await sender({ cert: certificate, key })('GET /version')).code).toBe(401);
  const serving = issueServerPair(authority, ['x'], systemClock);
  expect((await sender({ cert: serving.certificate, key: serving.key })('GET /version')).code).toBe(401);
  expect((await sender({})('GET /version')).code).toBe(200);
  expect(messageOf(await sender({})('GET /api/v1/nodes'))).toEqual([
    403,
    'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API group "" at the cluster scope',
  ]);
  expect(messageOf(await sender({})('GET /metrics'))[1]).toBe(
    'forbidden: User "system:anonymous" cannot get path "/metrics"',
  );
});

test('a token Secret works until it is deleted', async () => {
  const secrets = '/api/v1/namespaces/default/secrets';
  await asAdmin(`POST ${secrets}`, {
    metadata: { name: 'legacy', annotations: { 'kubernetes.io/service-account.name': 'default' } },
    type: 'kubernetes.io/service-account-token',
  });
  const filled = await eventually(
    () => asAdmin(`GET ${secrets}/legacy`),
    ({ body }) => textAt(body, 'data.token') !== '',
  );
  const token = fromUtf8(fromBase64(textAt(filled.body, 'data.token')) ?? new Uint8Array()) ?? '';
  const robot = sender({ token });
  expect((await robot('GET /api')).code).toBe(200);
  expect(messageOf(await robot('GET /api/v1/nodes'))[1]).toMatch(
    /User "system:serviceaccount:default:default" cannot list/,
  );
  await asAdmin(`DELETE ${secrets}/legacy`);
  expect((await robot('GET /api')).code).toBe(401);
});

test('a requested token names its holder, and ends with its account', async () => {
  const accounts = '/api/v1/namespaces/default/serviceaccounts';
  await asAdmin(`POST ${accounts}`, { metadata: { name: 'robot' } });
  const requested = await asAdmin(`POST ${accounts}/robot/token`, { spec: { expirationSeconds: 600 } });
  expect(requested.code).toBe(201);
  const token = textAt(requested.body, 'status.token');
  const review = await asAdmin('POST /apis/authentication.k8s.io/v1/tokenreviews', { spec: { token } });
  expect(memberAt(review.body, 'status')).toEqual({
    authenticated: true,
    user: {
      username: 'system:serviceaccount:default:robot',
      uid: expect.any(String),
      groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
      extra: { [credentialIdKey]: [tokenIdOf(token)] },
    },
    audiences: ['https://kubernetes.default.svc'],
  });
  expect((await sender({ token })('GET /apis')).code).toBe(200);
  await asAdmin(`DELETE ${accounts}/robot`);
  expect((await sender({ token })('GET /apis')).code).toBe(401);
});

const bound: [string, object, number, string][] = [
  ['a pod that is not there', { kind: 'Pod', apiVersion: 'v1', name: 'ghost' }, 404, 'pods "ghost" not found'],
  ['a Secret that is not there', { kind: 'Secret', apiVersion: 'v1', name: 'ghost' }, 404, 'secrets "ghost" not found'],
  [
    'a Secret of another time',
    { kind: 'Secret', apiVersion: 'v1', name: 'bound', uid: 'old' },
    409,
    'Operation cannot be fulfilled on Secret "bound": the UID in the bound object reference (old) does not match the UID in record. The object might have been deleted and then recreated',
  ],
  ['a Node that is not there', { kind: 'Node', apiVersion: 'v1', name: 'x' }, 404, 'nodes "x" not found'],
  [
    'a Service',
    { kind: 'Service', apiVersion: 'v1', name: 'x' },
    400,
    'cannot bind token to object of type /v1, Kind=Service',
  ],
  [
    'a pod of another account',
    { kind: 'Pod', apiVersion: 'v1', name: 'pod' },
    400,
    'cannot bind token for serviceaccount "default" to pod running with different serviceaccount name.',
  ],
];
test.each(bound)('no token is bound to %s', async (_, boundObjectRef, code, message) => {
  await asAdmin('POST /api/v1/namespaces/default/secrets', { metadata: { name: 'bound' } });
  const spec = { serviceAccountName: 'other', containers: [{ name: 'c', image: 'i' }] };
  await asAdmin('POST /api/v1/namespaces/default/pods', { metadata: { name: 'pod' }, spec });
  const answer = await asAdmin('POST /api/v1/namespaces/default/serviceaccounts/default/token', {
    spec: { boundObjectRef },
  });
  expect(messageOf(answer)).toEqual([code, message]);
});

test('a token bound to a Secret ends with it', async () => {
  await asAdmin('POST /api/v1/namespaces/default/secrets', { metadata: { name: 'ends' } });
  const spec = { boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 'ends' } };
  const { body } = await asAdmin('POST /api/v1/namespaces/default/serviceaccounts/default/token', { spec });
  const robot = sender({ token: textAt(body, 'status.token') });
  expect((await robot('GET /api')).code).toBe(200);
  await asAdmin('DELETE /api/v1/namespaces/default/secrets/ends');
  expect((await robot('GET /api')).code).toBe(401);
});

test('an approved kubelet request yields a working certificate', async () => {
  const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const spec = {
    request: toBase64(makeCsr({ organizations: ['system:nodes'], commonNames: ['system:node:win1'] })),
    signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
    usages: ['digital signature', 'key encipherment', 'client auth'],
  };
  const kubelet = asUser('system:node:win1', 'system:nodes');
  const created = await kubelet(`POST ${csrs}`, { metadata: { name: 'win1' }, spec });
  expect(created.code).toBe(201);
  expect(memberAt(created.body, 'spec.username')).toBe('system:node:win1');
  const approved = {
    ...(created.body as object),
    status: { conditions: [{ type: 'Approved', status: 'True', reason: 'x' }] },
  };
  expect((await kubelet(`PUT ${csrs}/win1/approval`, approved)).code).toBe(403);
  expect((await asAdmin(`PUT ${csrs}/win1/approval`, approved)).code).toBe(200);
  const signed = await eventually(
    () => asAdmin(`GET ${csrs}/win1`),
    ({ body }) => textAt(body, 'status.certificate') !== '',
  );
  expect(fromUtf8(fromBase64(textAt(signed.body, 'status.certificate')) ?? new Uint8Array())).toMatch(
    /BEGIN CERTIFICATE/,
  );
});

test('approving needs a right on the signer besides the right on requests', async () => {
  const csrs = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const rules = [
    {
      verbs: ['get', 'update'],
      apiGroups: ['certificates.k8s.io'],
      resources: ['certificatesigningrequests', 'certificatesigningrequests/approval'],
    },
  ];
  await asAdmin(`POST ${rbac}/clusterroles`, { metadata: { name: 'half-approver' }, rules });
  await asAdmin(`POST ${rbac}/clusterrolebindings`, {
    metadata: { name: 'half-approver' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'half-approver' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'half' }],
  });
  const spec = {
    request: toBase64(makeCsr({ organizations: ['dev'], commonNames: ['x'] })),
    signerName: 'kubernetes.io/kube-apiserver-client',
    usages: ['client auth'],
  };
  const { body } = await asAdmin(`POST ${csrs}`, { metadata: { name: 'half' }, spec });
  const approved = { ...(body as object), status: { conditions: [{ type: 'Approved', status: 'True', reason: 'x' }] } };
  expect(messageOf(await asUser('half')(`PUT ${csrs}/half/approval`, approved))).toEqual([
    403,
    'certificatesigningrequests.certificates.k8s.io "half" is forbidden: user not permitted to approve requests with signerName "kubernetes.io/kube-apiserver-client"',
  ]);
});

test('reviews report the permissions of a user', async () => {
  const resourceAttributes = { verb: 'list', resource: 'secrets', namespace: 'default' };
  const self = await asUser('nosy')(`POST ${reviews}/selfsubjectaccessreviews`, { spec: { resourceAttributes } });
  expect(memberAt(self.body, 'status')).toEqual({ allowed: false });
  const other = await asAdmin(`POST ${reviews}/subjectaccessreviews`, {
    spec: { user: 'x', groups: ['system:authenticated'], nonResourceAttributes: { path: '/apis', verb: 'get' } },
  });
  expect(memberAt(other.body, 'status')).toEqual({
    allowed: true,
    reason:
      'RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated"',
  });
  const rules = await asUser('nosy')(`POST ${reviews}/selfsubjectrulesreviews`, { spec: { namespace: 'default' } });
  expect(memberAt(rules.body, 'status.resourceRules')).toEqual([
    {
      verbs: ['create'],
      apiGroups: ['authorization.k8s.io'],
      resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
    },
  ]);
  expect(memberAt(rules.body, 'status.incomplete')).toBe(false);
});

test('an administrator can impersonate, others cannot', async () => {
  const as = { 'impersonate-user': 'jack' };
  expect(messageOf(await asAdmin('GET /api/v1/nodes', undefined, as))[1]).toMatch(
    /^nodes is forbidden: User "jack" cannot list/,
  );
  expect(messageOf(await asUser('nosy')('GET /api/v1/nodes', undefined, as))).toEqual([
    403,
    'users "jack" is forbidden: User "nosy" cannot impersonate resource "users" in API group "" at the cluster scope',
  ]);
});

test('users cannot grant permissions that they do not have', async () => {
  const rules = [
    { verbs: ['create'], apiGroups: ['rbac.authorization.k8s.io'], resources: ['roles'] },
    { verbs: ['get'], apiGroups: [''], resources: ['pods'] },
  ];
  await asAdmin(`POST ${rbac}/clusterroles`, { metadata: { name: 'giver' }, rules });
  await asAdmin(`POST ${rbac}/clusterrolebindings`, {
    metadata: { name: 'giver' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'giver' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'giver' }],
  });
  const giver = asUser('giver');
  const role = (verbs: string[]) => ({
    metadata: { name: 'gift' },
    rules: [{ verbs, apiGroups: [''], resources: ['pods'] }],
  });
  expect(messageOf(await giver(`POST ${rbac}/namespaces/default/roles`, role(['get', 'delete'])))).toEqual([
    403,
    'roles.rbac.authorization.k8s.io "gift" is forbidden: user "giver" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["pods"], Verbs:["delete"]}',
  ]);
  expect((await giver(`POST ${rbac}/namespaces/default/roles`, role(['get']))).code).toBe(201);
});

test('a kubelet keeps to its own Node', async () => {
  const kubelet = asUser('system:node:win1', 'system:nodes');
  expect((await kubelet('POST /api/v1/nodes', { metadata: { name: 'win1' } })).code).toBe(201);
  expect(messageOf(await kubelet('POST /api/v1/nodes', { metadata: { name: 'win2' } }))).toEqual([
    403,
    'nodes "win2" is forbidden: node "win1" is not allowed to modify node "win2"',
  ]);
  expect(messageOf(await kubelet('GET /api/v1/namespaces/default/secrets/bound'))).toEqual([
    403,
    `secrets "bound" is forbidden: User "system:node:win1" cannot get resource "secrets" in API group "" in the namespace "default": no relationship found between node 'win1' and this object`,
  ]);
});
