import type { KubeResource } from '#kube/resource.ts';
import { clusterRoleBindings, clusterRoles } from '#kube/resources.ts';
import { type DefaultBinding, defaultPolicy, type DefaultRole } from '../auth/rbac/default-roles.ts';
import type { Controller } from '../ports.ts';

const aggregateLabel = (name: string) => `rbac.authorization.k8s.io/aggregate-to-${name}`;

/** Makes the roles and bindings that every cluster has, unless they are there already. */
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

function roleObject({ name, rules, partOf, gathers }: DefaultRole): KubeResource {
  const labels = partOf === undefined ? {} : { [aggregateLabel(partOf)]: 'true' };
  const selectors = gathers === undefined ? [] : [{ matchLabels: { [aggregateLabel(gathers)]: 'true' } }];
  return {
    metadata: metadataOf(name, labels),
    ...(selectors.length === 0 ? {} : { aggregationRule: { clusterRoleSelectors: selectors } }),
    rules: rules ?? [],
  } as KubeResource;
}

function bindingObject({ role, subjects }: DefaultBinding): KubeResource {
  const apiGroup = clusterRoles.group;
  return {
    metadata: metadataOf(role, {}),
    roleRef: { apiGroup, kind: 'ClusterRole', name: role },
    subjects: subjects.map(subject => ({ ...subject, apiGroup })),
  } as KubeResource;
}

function metadataOf(name: string, labels: Record<string, string>): KubeResource['metadata'] {
  return {
    name,
    labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults', ...labels },
    annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
  };
}
