import { byteOrder } from '#base/compare.ts';
import { reportName } from '#contract/agent-report.ts';
import type { PolicyRule } from '#kube/resources.ts';

/** Permissions of agents. The operator has all of them itself, because RBAC allows to grant only own permissions. */

const rule = (group: string, resources: string[], verbs: string[], resourceNames?: readonly string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs,
  ...(resourceNames && { resourceNames: [...resourceNames].sort(byteOrder) }),
});

const watching = ['get', 'list', 'watch'];
const requests = rule('certificates.k8s.io', ['certificatesigningrequests'], ['create', ...watching]);

/** For the service account whose token joining hosts use: request a certificate. */
export const accountClusterRules: readonly PolicyRule[] = [requests];

/** For the service account: read services ConfigMaps by name, for `bootstrap`. */
export function accountRules(configMaps: readonly string[]): PolicyRule[] {
  return named(configMaps, ['get']);
}

/** For all agents with a certificate: request the next one. */
export const groupClusterRules: readonly PolicyRule[] = [requests];

/** For all agents with a certificate: read services ConfigMaps by name. */
export function groupRules(configMaps: readonly string[]): PolicyRule[] {
  return named(configMaps, watching);
}

function named(configMaps: readonly string[], verbs: string[]): PolicyRule[] {
  // An empty list of names would mean all names.
  return configMaps.length === 0 ? [] : [rule('', ['configmaps'], verbs, configMaps)];
}

/** For the agent of one Node: read that Node. Lists and watches need a field selector for its name. */
export function nodeRules(node: string): PolicyRule[] {
  return [rule('', ['nodes'], watching, [node])];
}

/** For the agent of one Node, in the operator's namespace: write its report, which the operator creates. */
export function reportRules(node: string): PolicyRule[] {
  return [rule('', ['configmaps'], ['get', 'update', 'patch'], [reportName(node)])];
}

/** For cloud-node-manager on one Node: write what the cloud reports about the machine. */
export function cloudNodeRules(node: string): PolicyRule[] {
  return [rule('', ['nodes'], [...watching, 'patch', 'update'], [node]), rule('', ['nodes/status'], ['patch'], [node])];
}

/** For an agent of the Go operator on one Node: read all Nodes to find its own, and write that one. */
export function formerNodeRules(node: string): PolicyRule[] {
  return [rule('', ['nodes'], watching), rule('', ['nodes'], ['patch', 'update'], [node])];
}

/** For agents of the Go operator, in the operator's namespace. */
export const formerNamespaceRules: readonly PolicyRule[] = [rule('', ['configmaps'], watching)];

/** For the service account while agents of the Go operator run: they find their Node with its token. */
export const formerAccountClusterRules: readonly PolicyRule[] = [rule('', ['nodes'], ['get', 'list']), requests];
