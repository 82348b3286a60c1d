import { type Permission, ruleOf } from '../../src/kube/permissions.ts';
import { isAlreadyExists } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import * as kinds from '../../src/kube/resources.ts';

const api = 'rbac.authorization.k8s.io';

/** Grants a user exactly these permissions, so that a missing one fails the test. */
export async function grant(
  admin: Client,
  user: string,
  namespace: string,
  permissions: readonly Permission[],
): Promise<void> {
  const subjects = [{ kind: 'User', name: user, apiGroup: api }];
  const everywhere = permissions.filter(permission => permission.in === 'cluster').map(ruleOf);
  const reference = (kind: string) => ({ apiGroup: api, kind, name: user });
  await admin.create(kinds.clusterRoles, { metadata: { name: user }, rules: everywhere });
  await admin.create(kinds.clusterRoleBindings, {
    metadata: { name: user },
    roleRef: reference('ClusterRole'),
    subjects,
  });
  const places = new Set(permissions.flatMap(permission => placeOf(permission, namespace) ?? []));
  for (const place of places) {
    const metadata = { name: user, namespace: place };
    await admin.create(kinds.namespaces, { metadata: { name: place } }).catch(unlessThere);
    const rules = permissions.filter(permission => placeOf(permission, namespace) === place).map(ruleOf);
    await admin.create(kinds.roles, { metadata, rules });
    await admin.create(kinds.roleBindings, { metadata, roleRef: reference('Role'), subjects });
  }
}

function placeOf(permission: Permission, own: string): string | undefined {
  if (permission.in === 'cluster') return undefined;
  return permission.in === 'own namespace' ? own : permission.in.namespace;
}

function unlessThere(error: unknown): void {
  if (!isAlreadyExists(error)) throw error;
}
