import { sameData } from '#base/compare.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { isWindowsNode, type NodeView } from '#contract/node.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import type { AccessObject } from './desired.ts';

/** A Node as far as access is concerned, with the record of the instance that is bound to it. */
export interface AccessNode {
  node: Pick<NodeView, 'labels' | 'annotations'>;
  /** Undefined for a Node that no instance is bound to (yet). */
  record: Pick<WindowsInstanceStatus, 'agent' | 'version'> | undefined;
  /** There are hosts that have yet to be recorded, and it may be one of them. */
  mayBeAdopted: boolean;
}

export type AgentKind = 'ours' | 'former' | 'none';

/**
 * Which agent a Node has. Where an instance is bound to it, its record alone decides: the annotations of a Node are its own words. A
 * Node that no instance is bound to has yet to be adopted, if the Go operator has made it.
 */
export function agentOf({ node, record, mayBeAdopted }: AccessNode, formerVersions: ReadonlySet<string>): AgentKind {
  if (record !== undefined) {
    return record.agent === undefined && formerVersions.has(record.version ?? '') ? 'former' : 'ours';
  }
  const version = node.annotations[nodeAnnotation.version] ?? '';
  return mayBeAdopted && isWindowsNode(node) && formerVersions.has(version) ? 'former' : 'none';
}

/** Services of ours ask the host for values; those of the Go operator have scripts in their place. */
const ownTrait = '"hostVariables"';

/** Whether the Go operator has written this data of a services ConfigMap. */
export function isOfGoOperator(data: Readonly<Record<string, string>>): boolean {
  return !(data['services'] ?? '').includes(ownTrait);
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
