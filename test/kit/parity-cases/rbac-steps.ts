import { type Step } from './case.ts';

export const rbac = '/apis/rbac.authorization.k8s.io/v1';
export const own = `${rbac}/namespaces/{ns}`;
export const apiGroup = 'rbac.authorization.k8s.io';
export const jane = 'jane-{id}';

interface Rule {
  verbs: string[];
  apiGroups?: string[];
  resources?: string[];
  resourceNames?: string[];
  nonResourceURLs?: string[];
}

export const on = (verbs: string[], resources: string[], group = ''): Rule => ({
  verbs,
  apiGroups: [group],
  resources,
});
export const onRoles = (verbs: string[], more: Partial<Rule> = {}): Rule => ({
  ...on(verbs, ['clusterroles', 'roles'], apiGroup),
  ...more,
});
export const onBindings = on(['create'], ['rolebindings'], apiGroup);
export const role = (name: string, rules: Rule[]) => ({ metadata: { name }, rules });
export const makeRole = (name: string, ...rules: Rule[]): Step => ({
  send: `POST ${own}/roles`,
  body: role(name, rules),
  code: 201,
});
export const makeClusterRole = (name: string, ...rules: Rule[]): Step => ({
  send: `POST ${rbac}/clusterroles`,
  body: role(`${name}-{id}`, rules),
  code: 201,
});
const subjects = [{ apiGroup, kind: 'User', name: jane }];
export const binding = (kind: string, name: string) => ({
  metadata: { name },
  roleRef: { apiGroup, kind, name },
  subjects,
});
export const bind = (kind: string, name: string): Step => ({
  send: `POST ${own}/rolebindings`,
  body: binding(kind, name),
  code: 201,
});
export const bindEverywhere = (name: string): Step => ({
  send: `POST ${rbac}/clusterrolebindings`,
  body: binding('ClusterRole', `${name}-{id}`),
  code: 201,
});
/** Permissions of jane in the namespace of the case. */
export const allowing = (...rules: Rule[]): Step[] => [makeRole('own', ...rules), bind('Role', 'own')];

/** The real server sees new roles a moment later. */
export const asJane = (send: string, code = 200, more: Partial<Step> = {}): Step => ({
  send,
  as: jane,
  code,
  eventually: true,
  ...more,
});
