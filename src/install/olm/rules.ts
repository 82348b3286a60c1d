import { operatorPermissions } from '#operator/permissions.ts';
import { mergedRules } from '#operator/rbac-manifests.ts';
import type { Permission } from '#kube/permissions.ts';
import type { PolicyRule } from '#kube/resources.ts';

export interface ServiceRules {
  /** OLM makes a Role of them in the namespace of the operator. */
  own: PolicyRule[];
  /** OLM makes a ClusterRole of them. */
  cluster: PolicyRule[];
}

/**
 * The permissions of the operator as a ClusterServiceVersion can express them. OLM puts every Role into the namespace of
 * the operator, those of the bundle, too, so permissions in other namespaces have to be for the whole cluster.
 */
export function serviceRules(permissions: readonly Permission[] = operatorPermissions): ServiceRules {
  const { own = [], cluster = [] } = Object.groupBy(permissions, ({ in: where }) =>
    where === 'own namespace' ? 'own' : 'cluster',
  );
  return { own: mergedRules(own), cluster: mergedRules(cluster) };
}
