import type { Manifest } from '../../src/operator/rbac-manifests.ts';
import type { PolicyRule } from '../../src/kube/resources.ts';

/** One verb on one resource at one place, and the names it is limited to, if any. */
export interface SingleRight {
  /** Empty for the whole cluster. */
  namespace: string;
  group: string;
  /** With its subresource. */
  resource: string;
  verb: string;
  /** Undefined for all objects. */
  name?: string | undefined;
}

/** Every single right in the Roles and ClusterRoles of these manifests. */
export function grantedRights(manifests: readonly Manifest[]): SingleRight[] {
  return manifests
    .filter(({ kind }) => kind === 'Role' || kind === 'ClusterRole')
    .flatMap(({ rules = [], metadata: { namespace = '' } }) => rightsOf(rules, namespace));
}

export function rightsOf(rules: readonly PolicyRule[], namespace: string): SingleRight[] {
  return rules.flatMap(({ apiGroups = [], resources = [], verbs, resourceNames = [undefined] }) =>
    apiGroups.flatMap(group =>
      resources.flatMap(resource =>
        verbs.flatMap(verb => resourceNames.map(name => ({ namespace, group, resource, verb, name }))),
      ),
    ),
  );
}

/** Whether a right allows what is done; one for the whole cluster also allows it in each namespace. */
export function allows(right: SingleRight, done: SingleRight): boolean {
  return (
    (right.namespace === '' || right.namespace === done.namespace) &&
    right.group === done.group &&
    right.resource === done.resource &&
    right.verb === done.verb &&
    (right.name === undefined || right.name === done.name)
  );
}

/** As `kubectl auth can-i` asks for it: `get secrets/pull-secret in openshift-config`. */
export function rightText({ namespace, group, resource, verb, name }: SingleRight): string {
  const what = group === '' ? resource : `${resource}.${group}`;
  return `${verb} ${what}${name === undefined ? '' : ` ${name}`} in ${namespace === '' ? 'the cluster' : namespace}`;
}
