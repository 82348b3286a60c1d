import { timestamp } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { isUpToDate, needsUpgrade } from '#contract/node-marks.ts';
import { identityEndsMs } from '#node/record.ts';

/** What one instance is about. */
export interface LifecycleFacts {
  instance: WindowsInstance;
  /** The Node of the name in the record. */
  node: NodeView | undefined;
  /** Why the host is rejected. */
  problem: AppError | undefined;
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
  /** The agent has run out of credentials, or its key is not recorded; with its Node where that waits to be released, too. */
  | { do: 'reconnect'; why: string; held?: NodeView };

export function decide(seen: LifecycleFacts): Decision {
  const { instance, problem } = seen;
  if (instance.metadata.deletionTimestamp !== undefined) return { do: 'leave', why: 'it is being deleted' };
  const decision = decideWork(seen);
  const code = problem?.code;
  // Of two instances of one host only one speaks of its Node; all others may tell how theirs is.
  const isSilenced = code === 'INSTANCE_DUPLICATE' || decision.do === 'configure' || decision.do === 'reconnect';
  return code !== undefined && isSilenced ? { do: 'leave', why: `it is not accepted: ${code}` } : decision;
}

function decideWork(seen: LifecycleFacts): Decision {
  const { instance, node, version } = seen;
  if (instance.spec.paused === true) return { do: 'pause' };
  if (node === undefined) return { do: 'configure' };
  const isCurrent = isUpToDate(node, version);
  // What another version has finished is for an upgrade to change, once its host is recorded; what nobody has finished is finished.
  const isLeft = needsUpgrade(node, version) && instance.status?.host !== undefined;
  const isHeld = isCurrent && isHeldBack(node);
  const why = whyReconnect(node, seen);
  if (why !== undefined && (isCurrent || isLeft || isRecorded(instance, node))) {
    return { do: 'reconnect', why, ...(isHeld && { held: node }) };
  }
  if (!isCurrent && !isLeft) return { do: 'configure' };
  return { do: isHeld ? 'release' : 'report', node };
}

/** By what the operator has recorded: otherwise a Node, or another version of the operator, could lock an agent out. */
function whyReconnect(node: NodeView, { instance, version, nowMs }: LifecycleFacts): string | undefined {
  const { status = {} } = instance;
  const endsMs = identityEndsMs(status);
  if (endsMs === undefined) {
    // An agent that another operator has installed is left alone. Only a host without a version in the record is asked.
    const isOurs = status.version === undefined ? isUpToDate(node, version) : status.version === version;
    return isOurs ? 'the key of its agent is not recorded' : undefined;
  }
  return nowMs < endsMs ? undefined : `the certificate of its agent ended at ${timestamp(endsMs)} without a renewal`;
}

/** This very Node was finished before, whatever it says by now. One that was made again has to be set up first. */
function isRecorded({ status = {} }: WindowsInstance, { uid }: NodeView): boolean {
  const { version, nodeUID = uid } = status;
  return version !== undefined && nodeUID === uid;
}

/** How long nothing can run out; undefined where no agent of ours is recorded. */
export function quietMs({ instance, nowMs }: Pick<LifecycleFacts, 'instance' | 'nowMs'>): number | undefined {
  const endsMs = identityEndsMs(instance.status ?? {});
  return endsMs === undefined || endsMs <= nowMs ? undefined : endsMs - nowMs;
}

function isHeldBack({ annotations }: NodeView): boolean {
  return Object.hasOwn(annotations, nodeAnnotation.cordoned);
}
