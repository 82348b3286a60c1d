import type { KubeResource } from '#kube/resource.ts';
import { clusterRoleBindings, clusterRoles } from '#kube/resources.ts';
import { type DefaultBinding, defaultPolicy, type DefaultRole } from '../auth/rbac/default-roles.ts';
import type { Controller } from '../ports.ts';

/** Creates the default roles and bindings unless they exist. */
export function createDefaultPolicy(): Controller {
  return {
    start(api) {
      for (const role of defaultPolicy.roles) {
        if (api.get(clusterRoles, { namespace: '', name: role.name }) === undefined) {
          api.create(clusterRoles, roleObject(role));
        }
      }
      for (const binding of defaultPolicy.bindings) {
        if (api.get(clusterRoleBindings, { namespace: '', name: binding.role }) === undefined) {
          api.create(clusterRoleBindings, bindingObject(binding));
        }
      }
    },
    stop: () => undefined,
  };
}

function roleObject({ name, rules }: DefaultRole): KubeResource {
  return { metadata: metadataOf(name), rules } as KubeResource;
}

function bindingObject({ role, subjects }: DefaultBinding): KubeResource {
  const apiGroup = clusterRoles.group;
  return {
    metadata: metadataOf(role),
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: subjects.map(subject => ({ ...subject, apiGroup })),
  } as KubeResource;
}

function metadataOf(name: string): KubeResource['metadata'] {
  return {
    name,
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
  };
}
