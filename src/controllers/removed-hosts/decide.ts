import { isStaying } from '#cluster/instance-removal.ts';
import { hasConditionStatus } from '#base/condition.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation, nodeLabel, removedTaint } from '#contract/names.ts';
import type { RemovedHost } from '#contract/removed-hosts.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import type { Node, Taint } from '#kube/resources.ts';

export interface RemovedHostFacts {
  /** The Node of this name. */
  node: Node | undefined;
  /** Of this name. */
  note: RemovedHost | undefined;
  /** Instances that have recorded this name. */
  instances: readonly WindowsInstance[];
}

export type RemovedHostDecision =
  | { do: 'none' }
  /** The host is listed again. */
  | { do: 'end note'; instance: WindowsInstance }
  /** The Node of a host that was removed by force has registered. */
  | { do: 'isolate'; node: Node; note: RemovedHost }
  /** The note has ended. */
  | { do: 'release'; node: Node };

export function decide(name: string, { node, note, instances }: RemovedHostFacts): RemovedHostDecision {
  const listed = instances.find(instance => isListed(instance, name));
  if (note !== undefined && listed !== undefined) return { do: 'end note', instance: listed };
  if (node === undefined || node.metadata.labels?.[nodeLabel.os] !== 'windows') return { do: 'none' };
  if (note !== undefined) return { do: 'isolate', node, note };
  return isTainted(node) ? { do: 'release', node } : { do: 'none' };
}

/** An accepted instance that is to stay has connected to the host of this name. */
export function isListed(instance: WindowsInstance, name: string): boolean {
  const { status } = instance;
  const isRejected = hasConditionStatus(status?.conditions, instanceCondition.accepted, 'False');
  return status?.host?.name === name && !isRejected && isStaying(instance);
}

/** The Node with the taint, cordoned. A Node that a user cordoned stays theirs. */
export function isolate(node: Node): Node {
  const taints = isTainted(node) ? (node.spec?.taints ?? []) : [...(node.spec?.taints ?? []), { ...removedTaint }];
  const isCordoned = node.spec?.unschedulable === true;
  const annotations = isCordoned
    ? node.metadata.annotations
    : { ...node.metadata.annotations, [nodeAnnotation.cordoned]: '' };
  return {
    ...node,
    metadata: { ...node.metadata, ...(annotations && { annotations }) },
    spec: { ...node.spec, taints, unschedulable: true },
  };
}

/** The Node without the taint. The journey of an instance uncordons its Node itself. */
export function release(node: Node, hasInstance: boolean): Node {
  const taints = (node.spec?.taints ?? []).filter(taint => !isRemovedTaint(taint));
  const untainted = { ...node, spec: { ...node.spec, taints } };
  const { [nodeAnnotation.cordoned]: mark, ...annotations } = node.metadata.annotations ?? {};
  if (hasInstance || mark === undefined) return untainted;
  const { unschedulable: _unschedulable, ...spec } = untainted.spec;
  return { ...untainted, metadata: { ...node.metadata, annotations }, spec };
}

export function isIsolated(node: Node): boolean {
  return isTainted(node) && node.spec?.unschedulable === true;
}

function isTainted({ spec }: Node): boolean {
  return spec?.taints?.some(isRemovedTaint) ?? false;
}

function isRemovedTaint({ key, effect }: Taint): boolean {
  return key === removedTaint.key && effect === removedTaint.effect;
}
