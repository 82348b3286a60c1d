import { byteOrder } from '#base/compare.ts';
import { reportName } from '#contract/agent-report.ts';
import type { PolicyRule } from '#kube/resources.ts';

/** What an agent may do. Every rule here is also one of the operator's own: RBAC lets nobody grant what he may not do himself. */

const rule = (group: string, resources: string[], verbs: string[], resourceNames?: readonly string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs,
  ...(resourceNames && { resourceNames: [...resourceNames].sort(byteOrder) }),
});

const watching = ['get', 'list', 'watch'];
const requests = rule('certificates.k8s.io', ['certificatesigningrequests'], ['create', ...watching]);

/** Of the service account, whose token brings a host into the cluster: to request a certificate. */
export const accountClusterRules: readonly PolicyRule[] = [requests];

/** Of the service account: to read services ConfigMaps by name, for `bootstrap`. */
export function accountRules(configMaps: readonly string[]): PolicyRule[] {
  return named(configMaps, ['get']);
}

/** Of all agents that have a certificate: to request the next one. */
export const groupClusterRules: readonly PolicyRule[] = [requests];

/** Of all agents that have a certificate: to read services ConfigMaps, each by its name. */
export function groupRules(configMaps: readonly string[]): PolicyRule[] {
  return named(configMaps, watching);
}

function named(configMaps: readonly string[], verbs: string[]): PolicyRule[] {
  // An empty list of names would mean all names.
  return configMaps.length === 0 ? [] : [rule('', ['configmaps'], verbs, configMaps)];
}

/** Of the agent of one Node: to read that Node. Lists and watches are allowed when they ask for that name only. */
export function nodeRules(node: string): PolicyRule[] {
  return [rule('', ['nodes'], watching, [node])];
}

/** Of the agent of one Node, in the operator's namespace: its report, which the operator creates. */
export function reportRules(node: string): PolicyRule[] {
  return [rule('', ['configmaps'], ['get', 'update', 'patch'], [reportName(node)])];
}

/** Of cloud-node-manager on one Node: to write what the cloud knows of the machine. */
export function cloudNodeRules(node: string): PolicyRule[] {
  return [rule('', ['nodes'], [...watching, 'patch', 'update'], [node]), rule('', ['nodes/status'], ['patch'], [node])];
}

/** Of an agent of the Go operator on one Node: it searches for its Node among all, and writes its own only. */
export function formerNodeRules(node: string): PolicyRule[] {
  return [rule('', ['nodes'], watching), rule('', ['nodes'], ['patch', 'update'], [node])];
}

/** Of an agent of the Go operator, in the operator's namespace. */
export const formerNamespaceRules: readonly PolicyRule[] = [rule('', ['configmaps'], watching)];

/** Of the service account while agents of the Go operator run: they look for their Node with its token. */
export const formerAccountClusterRules: readonly PolicyRule[] = [rule('', ['nodes'], ['get', 'list']), requests];
