import { sameData } from '#base/compare.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { isWindowsNode, type NodeView } from '#contract/node.ts';
import { servicesConfigMapName } from '#contract/version.ts';
import type { AccessObject } from './desired.ts';

/** Whether the agent of the Node needs access: from the moment at which the operator has put its first mark on it. */
export function isAgentNode(node: Pick<NodeView, 'labels' | 'annotations'>): boolean {
  return isWindowsNode(node) && marks.some(mark => Object.hasOwn(node.annotations, mark));
}

const marks = [nodeAnnotation.pubKeyHash, nodeAnnotation.desiredVersion, nodeAnnotation.version];

/** Services of ours ask the host for values; those of the Go operator have scripts in their place. */
const ownTrait = '"hostVariables"';

/** Whether some Windows node runs the agent of the Go operator, by what the services ConfigMap of its version looks like. */
export function hasFormerAgents(
  nodes: readonly Pick<NodeView, 'labels' | 'annotations'>[],
  services: ReadonlyMap<string, Readonly<Record<string, string>>>,
): boolean {
  return nodes.filter(isWindowsNode).some(({ annotations }) => {
    const version = annotations[nodeAnnotation.version];
    const data = version === undefined ? undefined : services.get(servicesConfigMapName(version));
    return data !== undefined && !(data['services'] ?? '').includes(ownTrait);
  });
}

export type Difference = 'none' | 'update' | 'recreate';

/** What has to be done so that the object is as wanted. Labels and annotations of others stay. */
export function differenceTo(wanted: AccessObject, found: AccessObject): Difference {
  // The server lets nobody change to which role a binding leads.
  if (wanted.roleRef !== undefined && !sameData(wanted.roleRef, found.roleRef)) return 'recreate';
  const owners = wanted.metadata.ownerReferences;
  const isSame =
    (wanted.rules === undefined || sameData(wanted.rules, found.rules)) &&
    (wanted.subjects === undefined || sameData(wanted.subjects, found.subjects)) &&
    (owners === undefined || sameData(owners, found.metadata.ownerReferences)) &&
    Object.entries(wanted.metadata.labels ?? {}).every(([key, value]) => found.metadata.labels?.[key] === value);
  return isSame ? 'none' : 'update';
}

/** The object found with what we want of it. */
export function updated(wanted: AccessObject, found: AccessObject): AccessObject {
  const { labels, ownerReferences } = wanted.metadata;
  return {
    ...found,
    ...wanted,
    metadata: {
      ...found.metadata,
      labels: { ...found.metadata.labels, ...labels },
      ...(ownerReferences && { ownerReferences }),
    },
  };
}
