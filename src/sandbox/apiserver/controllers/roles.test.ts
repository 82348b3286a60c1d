import { expect, test } from 'vitest';
import { quiet, startLocalApi } from '../../../../test/kit/local-api.ts';
import type { KubeResource } from '../../../kube/resource.ts';
import { clusterRoleBindings, clusterRoles } from '../../../kube/resources.ts';
import { createAuthorizer } from '../auth/authorizer.ts';
import { defaultPolicy } from '../auth/rbac/default-roles.ts';
import { readRules, ruleAllows } from '../auth/rbac/rule.ts';
import { listAt } from '../object.ts';
import type { AccessRequest, LocalApi, UserInfo } from '../ports.ts';
import { createDefaultPolicy } from './default-policy.ts';

const start = () => startLocalApi([createDefaultPolicy()]);
const find = (api: LocalApi, name: string) => api.get(clusterRoles, { namespace: '', name });
const rule = (resource: string) => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });
const rulesOf = (api: LocalApi, name: string) => listAt(find(api, name), 'rules');

test('every cluster has its roles and bindings', async () => {
  await using api = await start();
  await quiet(api);
  for (const { name } of defaultPolicy.roles) {
    const role = find(api, name);
    expect(role?.metadata.labels?.['kubernetes.io/bootstrapping']).toBe('rbac-defaults');
    expect(role?.metadata.annotations).toEqual({ 'rbac.authorization.kubernetes.io/autoupdate': 'true' });
    expect(readRules(role?.['rules']).length, name).toBeGreaterThan(0);
  }
  for (const { role } of defaultPolicy.bindings) {
    expect(api.get(clusterRoleBindings, { namespace: '', name: role })?.['roleRef']).toEqual({
      apiGroup: 'rbac.authorization.k8s.io',
      kind: 'ClusterRole',
      name: role,
    });
  }
});

test('existing roles are kept', async () => {
  await using api = await startLocalApi([]);
  api.create(clusterRoles, { metadata: { name: 'cluster-admin' }, rules: [rule('pods')] } as KubeResource);
  const controller = createDefaultPolicy();
  controller.start(api);
  controller.stop();
  expect(rulesOf(api, 'cluster-admin')).toEqual([rule('pods')]);
  expect(find(api, 'view')).toBeDefined();
});

const request = (user: UserInfo, members: Partial<AccessRequest>): AccessRequest => ({
  user,
  verb: 'get',
  path: '',
  group: '',
  version: 'v1',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  ...members,
});
const user = { username: 'jane', groups: ['system:authenticated'] };
const anonymous = { username: 'system:anonymous', groups: ['system:unauthenticated'] };
const policyCases: [string, UserInfo, Partial<AccessRequest>, boolean][] = [
  ['a user reads discovery', user, { path: '/apis/apps/v1' }, true],
  [
    'a user reviews their own permissions',
    user,
    { verb: 'create', group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews' },
    true,
  ],
  ['a user cannot read Secrets', user, { resource: 'secrets', namespace: 'default' }, false],
  ['a user cannot read metrics', user, { path: '/metrics' }, false],
  ['an anonymous user reads the version', anonymous, { path: '/version' }, true],
  ['an anonymous user reads health', anonymous, { path: '/healthz' }, true],
  ['an anonymous user cannot read discovery', anonymous, { path: '/apis' }, false],
  ['monitoring reads metrics', { username: 'm', groups: ['system:monitoring'] }, { path: '/metrics' }, true],
  [
    'the proxy watches services',
    { username: 'system:kube-proxy', groups: [] },
    { verb: 'watch', resource: 'services' },
    true,
  ],
];
test.each(policyCases)('by default %s', async (_, user, members, allowed) => {
  await using api = await start();
  await quiet(api);
  expect(createAuthorizer(api).authorize(request(user, members)).allowed).toBe(allowed);
});

const roleCases: [string, Partial<AccessRequest>, boolean][] = [
  ['view', { resource: 'pods', verb: 'list' }, true],
  ['view', { resource: 'secrets' }, false],
  ['view', { resource: 'pods', verb: 'delete' }, false],
  ['edit', { resource: 'pods', verb: 'list' }, true],
  ['edit', { resource: 'secrets', verb: 'create' }, true],
  ['edit', { resource: 'roles', group: 'rbac.authorization.k8s.io', verb: 'create' }, false],
  ['admin', { resource: 'pods', verb: 'list' }, true],
  ['admin', { resource: 'secrets', verb: 'create' }, true],
  ['admin', { resource: 'roles', group: 'rbac.authorization.k8s.io', verb: 'create' }, true],
  ['admin', { resource: 'nodes' }, false],
  ['cluster-admin', { resource: 'anything', group: 'x', verb: 'frobnicate' }, true],
  ['cluster-admin', { path: '/anything', verb: 'post' }, true],
  [
    'system:node-bootstrapper',
    { resource: 'certificatesigningrequests', group: 'certificates.k8s.io', verb: 'create' },
    true,
  ],
  ['system:node-bootstrapper', { resource: 'nodes', verb: 'create' }, false],
  [
    'system:certificates.k8s.io:kubelet-serving-approver',
    { resource: 'signers', group: 'certificates.k8s.io', verb: 'approve', name: 'kubernetes.io/kubelet-serving' },
    true,
  ],
  [
    'system:certificates.k8s.io:kubelet-serving-approver',
    { resource: 'signers', group: 'certificates.k8s.io', verb: 'approve', name: 'kubernetes.io/kube-apiserver-client' },
    false,
  ],
];
test.each(roleCases)('the role %s and %o: %s', async (name, members, allowed) => {
  await using api = await start();
  await quiet(api);
  const rules = readRules(find(api, name)?.['rules']);
  expect(rules.some(item => ruleAllows(item, request(user, members)))).toBe(allowed);
});
