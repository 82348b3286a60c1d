import { timestamp } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { isUpToDate, needsUpgrade } from '#contract/node-marks.ts';
import { identityEndsMs } from '#node/record.ts';

export interface LifecycleFacts {
  instance: WindowsInstance;
  /** The Node with the recorded name. */
  node: NodeView | undefined;
  /** Why the host is rejected. */
  problem: AppError | undefined;
  /** Of this operator. */
  version: string;
  nowMs: number;
}

export type Decision =
  /** It is being deleted or rejected. */
  | { do: 'leave'; why: string }
  | { do: 'pause' }
  /** Its Node is configured. */
  | { do: 'report'; node: NodeView }
  /** As above, but the Node is still cordoned by a journey that was interrupted. */
  | { do: 'release'; node: NodeView }
  | { do: 'configure' }
  /** The credentials of the agent expired, or its key is not recorded; `held` is a Node that is also to be released. */
  | { do: 'reconnect'; why: string; held?: NodeView };

export function decide(facts: LifecycleFacts): Decision {
  const { instance, problem } = facts;
  if (instance.metadata.deletionTimestamp !== undefined) return { do: 'leave', why: 'it is being deleted' };
  const decision = decideWork(facts);
  const code = problem?.code;
  // Of two instances of one host only one reports the Node; other rejected instances still report theirs.
  const isSkipped = code === 'INSTANCE_DUPLICATE' || decision.do === 'configure' || decision.do === 'reconnect';
  return code !== undefined && isSkipped ? { do: 'leave', why: `it is not accepted: ${code}` } : decision;
}

function decideWork(facts: LifecycleFacts): Decision {
  const { instance, node, version } = facts;
  if (instance.spec.paused === true) return { do: 'pause' };
  if (node === undefined) return { do: 'configure' };
  const isCurrent = isUpToDate(node, version);
  // A Node that another version configured is left to an upgrade once its host is recorded; an unfinished one is configured.
  const isOtherVersion = needsUpgrade(node, version) && instance.status?.host !== undefined;
  const isHeld = isCurrent && isCordonedByOperator(node);
  const why = whyReconnect(node, facts);
  if (why !== undefined && (isCurrent || isOtherVersion || isRecorded(instance, node))) {
    return { do: 'reconnect', why, ...(isHeld && { held: node }) };
  }
  if (!isCurrent && !isOtherVersion) return { do: 'configure' };
  return { do: isHeld ? 'release' : 'report', node };
}

/** The record decides: otherwise a Node, or another version of the operator, could lock out an agent. */
function whyReconnect(node: NodeView, { instance, version, nowMs }: LifecycleFacts): string | undefined {
  const { status = {} } = instance;
  const endsMs = identityEndsMs(status);
  if (endsMs === undefined) {
    // An agent of another operator stays. The Node decides only if no version is recorded.
    const isOwnVersion = status.version === undefined ? isUpToDate(node, version) : status.version === version;
    return isOwnVersion ? 'the key of its agent is not recorded' : undefined;
  }
  return nowMs < endsMs ? undefined : `the certificate of its agent expired at ${timestamp(endsMs)} without a renewal`;
}

/** This Node was configured before, whatever it reports. One that was registered again has to be configured first. */
function isRecorded({ status = {} }: WindowsInstance, { uid }: NodeView): boolean {
  const { version, nodeUID = uid } = status;
  return version !== undefined && nodeUID === uid;
}

/** Time until the credentials of the agent expire; undefined when no agent is recorded. */
export function credentialsMs({ instance, nowMs }: Pick<LifecycleFacts, 'instance' | 'nowMs'>): number | undefined {
  const endsMs = identityEndsMs(instance.status ?? {});
  return endsMs === undefined || endsMs <= nowMs ? undefined : endsMs - nowMs;
}

function isCordonedByOperator({ annotations }: NodeView): boolean {
  return Object.hasOwn(annotations, nodeAnnotation.cordoned);
}
