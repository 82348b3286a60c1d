import type { InstanceObject } from '#cluster/windows-instances.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { isUpToDate, needsUpgrade } from '#contract/node-marks.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { findCondition } from '#kube/conditions.ts';
import { conditionReason } from '#node/lifecycle/instance-status.ts';

/** What one instance is about. */
export interface Seen {
  instance: InstanceObject;
  /** The Windows node with an address of the instance. */
  node: NodeView | undefined;
  /** Of this operator. */
  version: string;
  nowMs: number;
}

export type Decision =
  /** It is about to go, and this version of the operator leaves such hosts as they are; or it is not accepted. */
  | { do: 'leave'; why: string }
  | { do: 'pause' }
  /** Its Node runs a version. */
  | { do: 'report'; node: NodeView }
  /** As above, but a journey ended before it could let pods come. */
  | { do: 'release'; node: NodeView }
  | { do: 'configure' };

export function decide(seen: Seen): Decision {
  const { instance } = seen;
  if (instance.metadata.deletionTimestamp !== undefined) return { do: 'leave', why: 'it is being deleted' };
  const decision = decideWork(seen);
  const { code } = refusalOf(instance) ?? {};
  // Of two instances of one host only one speaks of its Node; all others may tell how theirs is.
  const isSilenced = code === 'INSTANCE_DUPLICATE' || decision.do === 'configure';
  return code !== undefined && isSilenced ? { do: 'leave', why: `it is not accepted: ${code}` } : decision;
}

/** Why nothing may be done to the host; undefined when it may. */
export function refusalOf({ status }: InstanceObject): { code: string } | undefined {
  const accepted = findCondition(status?.conditions, instanceCondition.accepted);
  return accepted?.status === 'False' ? { code: accepted.reason } : undefined;
}

function decideWork(seen: Seen): Decision {
  const { instance, node, version } = seen;
  if (instance.spec.paused === true) return { do: 'pause' };
  if (node === undefined || wasAway(seen)) return { do: 'configure' };
  if (isUpToDate(node, version)) return { do: isHeldBack(node) ? 'release' : 'report', node };
  // What another version has finished is for an upgrade to change; what nobody has finished is finished.
  return needsUpgrade(node, version) ? { do: 'report', node } : { do: 'configure' };
}

/** The certificate of an agent lives for an hour, and is renewed when a fifth of that is left. */
const awayMs = 10 * 60_000;

/**
 * A host that is back after so long may have neither a certificate nor a token that is still good, and cannot ask for one by itself.
 * It goes the whole way again, on which little is left to do but to bring it a new token.
 */
function wasAway({ instance, node, version, nowMs }: Seen): boolean {
  const ready = findCondition(instance.status?.conditions, instanceCondition.ready);
  if (ready?.reason !== conditionReason.nodeNotReady || node?.ready !== true) return false;
  return isUpToDate(node, version) && nowMs - Date.parse(ready.lastTransitionTime) >= awayMs;
}

function isHeldBack({ annotations }: NodeView): boolean {
  return Object.hasOwn(annotations, nodeAnnotation.cordoned);
}
