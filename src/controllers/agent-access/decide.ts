import { sameData } from '#base/compare.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { isWindowsNode, type NodeView } from '#contract/node.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import type { AccessObject } from './desired.ts';

/** A Node with the record of its instance. */
export interface AccessNode {
  node: Pick<NodeView, 'labels' | 'annotations'>;
  /** Undefined for a Node without an instance. */
  record: Pick<WindowsInstanceStatus, 'agent' | 'version'> | undefined;
  /** Some hosts are not recorded yet, and it may be one of them. */
  mayBeAdopted: boolean;
}

/** `unknown`: of this version and not recorded, as after the operator was installed again; its permissions stay until it is adopted. */
export type AgentKind = 'current' | 'former' | 'unknown' | 'none';

/**
 * Which agent a Node has. The record of its instance decides, because a Node can write its own annotations. A Node without an instance
 * is to be adopted if the Go operator configured it.
 */
export function agentOf(
  { node, record, mayBeAdopted }: AccessNode,
  formerVersions: ReadonlySet<string>,
  ownVersion: string,
): AgentKind {
  if (record !== undefined) {
    return record.agent === undefined && formerVersions.has(record.version ?? '') ? 'former' : 'current';
  }
  const version = node.annotations[nodeAnnotation.version] ?? '';
  if (!mayBeAdopted || !isWindowsNode(node) || version === '') return 'none';
  if (formerVersions.has(version)) return 'former';
  return version === ownVersion ? 'unknown' : 'none';
}

/** Services ConfigMaps of the Go operator have scripts instead of host variables. */
const ownTrait = '"hostVariables"';

/** Whether the Go operator wrote this services ConfigMap. */
export function isOfGoOperator(data: Readonly<Record<string, string>>): boolean {
  return !(data['services'] ?? '').includes(ownTrait);
}

export type Difference = 'none' | 'update' | 'recreate';

/** How to repair the object. Labels and annotations of other writers stay. */
export function differenceTo(wanted: AccessObject, found: AccessObject): Difference {
  // The API server does not allow to change roleRef.
  if (wanted.roleRef !== undefined && !sameData(wanted.roleRef, found.roleRef)) return 'recreate';
  const owners = wanted.metadata.ownerReferences;
  const isSame =
    (wanted.rules === undefined || sameData(wanted.rules, found.rules)) &&
    (wanted.subjects === undefined || sameData(wanted.subjects, found.subjects)) &&
    (owners === undefined || sameData(owners, found.metadata.ownerReferences)) &&
    Object.entries(wanted.metadata.labels ?? {}).every(([key, value]) => found.metadata.labels?.[key] === value);
  return isSame ? 'none' : 'update';
}

/** The object with the wanted fields. */
export function mergeObject(wanted: AccessObject, found: AccessObject): AccessObject {
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
