import { byteOrder } from '#base/compare.ts';
import type { PolicyRule } from '#kube/resources.ts';

/** What an agent may do. Every rule here is also one of the operator's own: nobody can grant what he may not do himself. */

const rule = (group: string, resources: string[], verbs: string[], resourceNames?: readonly string[]): PolicyRule => ({
  apiGroups: [group],
  resources,
  verbs,
  ...(resourceNames && { resourceNames: [...resourceNames].sort(byteOrder) }),
});

const requests = rule('certificates.k8s.io', ['certificatesigningrequests'], ['create', 'get', 'list', 'watch']);

/** Of the service account, whose token brings a host into the cluster: it has to find its Node among all, and changes none. */
export const accountClusterRules: readonly PolicyRule[] = [rule('', ['nodes'], ['get', 'list']), requests];
export const accountRules: readonly PolicyRule[] = [rule('', ['configmaps'], ['get', 'list', 'watch'])];

/** Of all agents that have a certificate: to ask for the next one. */
export const groupClusterRules: readonly PolicyRule[] = [requests];

/** Of all agents that have a certificate: to read services ConfigMaps, each by its name. */
export function groupRules(configMaps: readonly string[]): PolicyRule[] {
  // An empty list of names would mean all names.
  return configMaps.length === 0 ? [] : [rule('', ['configmaps'], ['get', 'list', 'watch'], configMaps)];
}

/** In the namespace where events about Nodes are: to say what troubles them. */
export const eventRules: readonly PolicyRule[] = [rule('', ['events'], ['create', 'patch'])];

/** Of the agent of one Node: that Node, and no other. Lists and watches are allowed when they ask for that name only. */
export function nodeRules(node: string, platform: string): PolicyRule[] {
  const own = rule('', ['nodes'], ['get', 'list', 'watch', 'patch'], [node]);
  if (platform !== 'Azure') return [own];
  // The cloud node manager uses the identity of the agent, and writes what the cloud knows of the machine.
  return [
    rule('', ['nodes'], ['get', 'list', 'watch', 'patch', 'update'], [node]),
    rule('', ['nodes/status'], ['patch'], [node]),
  ];
}

/** When it cleans a host, the agent of the Go operator takes its marks from the Node, as the service account. */
export const formerAccountClusterRules: readonly PolicyRule[] = [
  rule('', ['nodes'], ['get', 'list', 'patch']),
  requests,
];

/** Agents of the Go operator look at all Nodes and ConfigMaps. While such agents run they keep what they had. */
export const formerClusterRules: readonly PolicyRule[] = [
  rule('', ['nodes'], ['list']),
  rule('', ['nodes', 'nodes/status'], ['get', 'patch', 'update', 'watch']),
  requests,
];
