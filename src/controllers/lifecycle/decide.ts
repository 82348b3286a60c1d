import { timestamp } from '#base/clock.ts';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { isUpToDate, needsUpgrade } from '#contract/node-marks.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { findCondition } from '#kube/conditions.ts';
import { identityEndsMs } from '#node/record.ts';

/** What one instance is about. */
export interface Seen {
  instance: InstanceObject;
  /** The Node of the name in the record. */
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
  | { do: 'configure' }
  /** The agent has run out of credentials, or its key is not recorded. */
  | { do: 'reconnect'; why: string };

export function decide(seen: Seen): Decision {
  const { instance } = seen;
  if (instance.metadata.deletionTimestamp !== undefined) return { do: 'leave', why: 'it is being deleted' };
  const decision = decideWork(seen);
  const { code } = refusalOf(instance) ?? {};
  // Of two instances of one host only one speaks of its Node; all others may tell how theirs is.
  const isSilenced = code === 'INSTANCE_DUPLICATE' || decision.do === 'configure' || decision.do === 'reconnect';
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
  if (node === undefined) return { do: 'configure' };
  if (isUpToDate(node, version)) return decideAtRest(node, seen);
  // What another version has finished is for an upgrade to change, once its host is recorded; what nobody has finished is finished.
  const isLeft = needsUpgrade(node, version) && instance.status?.host !== undefined;
  return isLeft ? { do: 'report', node } : { do: 'configure' };
}

function decideAtRest(node: NodeView, seen: Seen): Decision {
  if (isHeldBack(node)) return { do: 'release', node };
  const endsMs = identityEndsMs(seen.instance.status ?? {});
  if (endsMs === undefined) return { do: 'reconnect', why: 'the key of its agent is not recorded' };
  if (seen.nowMs < endsMs) return { do: 'report', node };
  return { do: 'reconnect', why: `the certificate of its agent ended at ${timestamp(endsMs)} without a renewal` };
}

/** How long nothing can run out; undefined where no agent of ours is recorded. */
export function quietMs({ instance, nowMs }: Pick<Seen, 'instance' | 'nowMs'>): number | undefined {
  const endsMs = identityEndsMs(instance.status ?? {});
  return endsMs === undefined || endsMs <= nowMs ? undefined : endsMs - nowMs;
}

function isHeldBack({ annotations }: NodeView): boolean {
  return Object.hasOwn(annotations, nodeAnnotation.cordoned);
}
