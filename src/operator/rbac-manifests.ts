import { byteOrder } from '#base/compare.ts';
import { defaultNamespace, namespaceName, operatorName } from '#contract/names.ts';
import { type Permission, ruleOf } from '#kube/permissions.ts';
import type { PolicyRule } from '#kube/resources.ts';

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels: Record<string, string> };
  rules?: PolicyRule[];
  [member: string]: unknown;
}

const apiGroup = 'rbac.authorization.k8s.io';
const rbac = `${apiGroup}/v1`;
const labels = { 'app.kubernetes.io/name': operatorName };

/** Service account, roles and bindings for exactly these permissions. */
export function rbacManifests(permissions: readonly Permission[], namespace: string = defaultNamespace): Manifest[] {
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: operatorName, namespace, labels },
  };
  return [account, ...roleManifests(permissions, operatorName, namespace)];
}

/** Separate roles for permissions that are optional. */
export function roleManifests(
  permissions: readonly Permission[],
  name: string,
  namespace: string = defaultNamespace,
): Manifest[] {
  const places = Map.groupBy(permissions, ({ in: where }) => placeOf(where, namespace));
  const inOrder = [...places].sort(([one], [other]) => byteOrder(one, other));
  return inOrder.flatMap(([place, its]) => roleAndBinding({ place, name, own: namespace }, mergedRules(its)));
}

export const manifestFiles = ['operator', 'openshift', 'cluster-api'] as const;

/** The file of a manifest: a manifest cannot be applied where its namespace does not exist. */
export function fileOf({ metadata: { namespace } }: Manifest): (typeof manifestFiles)[number] {
  if (namespace === namespaceName.clusterApi) return 'cluster-api';
  const others: readonly (string | undefined)[] = Object.values(namespaceName);
  return others.includes(namespace) ? 'openshift' : 'operator';
}

/** Empty for the whole cluster. */
function placeOf(where: Permission['in'], own: string): string {
  if (where === 'cluster') return '';
  return where === 'own namespace' ? own : where.namespace;
}

function roleAndBinding(
  { place, name, own }: Record<'place' | 'name' | 'own', string>,
  rules: PolicyRule[],
): Manifest[] {
  const scope = place === '' ? 'Cluster' : '';
  const metadata = { name, ...(place !== '' && { namespace: place }), labels };
  return [
    { apiVersion: rbac, kind: `${scope}Role`, metadata, rules },
    {
      apiVersion: rbac,
      kind: `${scope}RoleBinding`,
      metadata,
      roleRef: { apiGroup, kind: `${scope}Role`, name },
      subjects: [{ kind: 'ServiceAccount', name: operatorName, namespace: own }],
    },
  ];
}

/** One rule for all resources of a group with the same verbs, in stable order. */
export function mergedRules(permissions: readonly Permission[]): PolicyRule[] {
  const verbs = new Map<string, { permission: Permission; resource: string; verbs: Set<string> }>();
  // An empty list of names means all names.
  for (const permission of permissions.filter(({ names }) => names?.length !== 0)) {
    for (const resource of permission.resources) {
      const id = JSON.stringify([permission.group, resource, [...(permission.names ?? [])].sort(byteOrder)]);
      const entry = verbs.get(id) ?? { permission, resource, verbs: new Set() };
      for (const verb of permission.verbs) entry.verbs.add(verb);
      verbs.set(id, entry);
    }
  }
  const alike = Map.groupBy(verbs.values(), ({ permission: { group, names = [] }, verbs: its }) =>
    JSON.stringify([group, [...names].sort(byteOrder), [...its].sort(byteOrder)]),
  );
  return [...alike.entries()]
    .sort(([one], [other]) => byteOrder(one, other))
    .flatMap(([, [first, ...rest]]) => (first === undefined ? [] : [ruleFor(first, [first, ...rest])]));
}

function ruleFor(
  { permission, verbs }: { permission: Permission; verbs: Set<string> },
  all: readonly { resource: string }[],
): PolicyRule {
  const rule = ruleOf(permission);
  return {
    ...rule,
    resources: all.map(({ resource }) => resource).sort(byteOrder),
    ...(rule.resourceNames && { resourceNames: [...rule.resourceNames].sort(byteOrder) }),
    verbs: [...verbs].sort(byteOrder),
  };
}
