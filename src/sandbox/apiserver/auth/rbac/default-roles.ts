import { nodeRules } from './node-rules.ts';
import { on, readPaths, type RoleRule } from './role-rule.ts';

export interface DefaultRole {
  name: string;
  rules: readonly RoleRule[];
}

export interface DefaultBinding {
  role: string;
  subjects: readonly { kind: 'Group' | 'User'; name: string }[];
}

const read = ['get', 'list', 'watch'];
const write = ['create', 'delete', 'deletecollection', 'patch', 'update'];
const csr = 'certificates.k8s.io';
const rbac = 'rbac.authorization.k8s.io';
const apiPaths = ['/api', '/api/*', '/apis', '/apis/*'];

const approver = (signer: string): DefaultRole => ({
  name: `system:${csr}:${signer}-approver`,
  rules: [{ ...on(['approve'], csr, 'signers'), resourceNames: [`kubernetes.io/${signer}`] }],
});

const requester = (what: string): DefaultRole => ({
  name: `system:${csr}:certificatesigningrequests:${what}`,
  rules: [on(['create'], csr, `certificatesigningrequests/${what}`)],
});

const adminRules: readonly RoleRule[] = [
  on(['create'], 'authorization.k8s.io', 'localsubjectaccessreviews'),
  on([...read, ...write], rbac, 'rolebindings', 'roles'),
];

const editRules: readonly RoleRule[] = [
  on(read, '', 'pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy', 'secrets', 'services/proxy'),
  on(['impersonate'], '', 'serviceaccounts'),
  on(write, '', 'pods', 'pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy'),
  on(write, '', 'configmaps', 'endpoints', 'secrets', 'serviceaccounts', 'services', 'services/proxy'),
  on(write, 'apps', 'daemonsets', 'deployments', 'deployments/scale', 'replicasets', 'replicasets/scale'),
  on(write, 'policy', 'poddisruptionbudgets'),
];

const viewRules: readonly RoleRule[] = [
  on(read, '', 'configmaps', 'endpoints', 'events', 'namespaces', 'namespaces/status', 'pods', 'pods/log'),
  on(read, '', 'pods/status', 'serviceaccounts', 'services', 'services/status'),
  on(read, 'apps', 'daemonsets', 'daemonsets/status', 'deployments', 'deployments/scale', 'deployments/status'),
  on(read, 'apps', 'replicasets', 'replicasets/scale', 'replicasets/status'),
  on(read, 'policy', 'poddisruptionbudgets', 'poddisruptionbudgets/status'),
];

const roles: readonly DefaultRole[] = [
  {
    name: 'cluster-admin',
    rules: [on(['*'], '*', '*'), { verbs: ['*'], nonResourceURLs: ['*'] }],
  },
  {
    name: 'system:discovery',
    rules: [readPaths(...apiPaths, '/healthz', '/livez', '/openapi', '/openapi/*', '/readyz', '/version', '/version/')],
  },
  {
    name: 'system:monitoring',
    rules: [readPaths('/healthz', '/healthz/*', '/livez', '/livez/*', '/metrics', '/readyz', '/readyz/*')],
  },
  {
    name: 'system:basic-user',
    rules: [on(['create'], 'authorization.k8s.io', 'selfsubjectaccessreviews', 'selfsubjectrulesreviews')],
  },
  {
    name: 'system:public-info-viewer',
    rules: [readPaths('/healthz', '/livez', '/readyz', '/version', '/version/')],
  },
  {
    name: 'system:auth-delegator',
    rules: [
      on(['create'], 'authentication.k8s.io', 'tokenreviews'),
      on(['create'], 'authorization.k8s.io', 'subjectaccessreviews'),
    ],
  },
  { name: 'system:node', rules: nodeRules },
  { name: 'system:node-bootstrapper', rules: [on(['create', ...read], csr, 'certificatesigningrequests')] },
  {
    name: 'system:node-proxier',
    rules: [
      on(['list', 'watch'], '', 'endpoints', 'services'),
      on(['list', 'watch'], 'discovery.k8s.io', 'endpointslices'),
      on(['list', 'watch'], 'networking.k8s.io', 'servicecidrs'),
      on(read, '', 'nodes'),
      on(['create', 'patch', 'update'], '', 'events'),
    ],
  },
  requester('nodeclient'),
  requester('selfnodeclient'),
  approver('kube-apiserver-client'),
  approver('kube-apiserver-client-kubelet'),
  approver('kubelet-serving'),
  approver('legacy-unknown'),
  { name: 'admin', rules: [...adminRules, ...editRules, ...viewRules] },
  { name: 'edit', rules: [...editRules, ...viewRules] },
  { name: 'view', rules: viewRules },
];

const groups = (...names: string[]) => names.map(name => ({ kind: 'Group' as const, name }));

/** Default roles and bindings of a cluster, as far as they are used here. */
export const defaultPolicy: { roles: readonly DefaultRole[]; bindings: readonly DefaultBinding[] } = {
  roles,
  bindings: [
    { role: 'cluster-admin', subjects: groups('system:masters') },
    { role: 'system:monitoring', subjects: groups('system:monitoring') },
    { role: 'system:discovery', subjects: groups('system:authenticated') },
    { role: 'system:basic-user', subjects: groups('system:authenticated') },
    { role: 'system:public-info-viewer', subjects: groups('system:authenticated', 'system:unauthenticated') },
    { role: 'system:node-proxier', subjects: [{ kind: 'User', name: 'system:kube-proxy' }] },
    // The node authorizer replaces it.
    { role: 'system:node', subjects: [] },
  ],
};
