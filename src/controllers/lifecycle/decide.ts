import { timestamp } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { awaitsReboot, isUpToDate, needsUpgrade } from '#contract/node-marks.ts';
import type { JourneyName } from '#contract/windows-instance/resource.ts';
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
  /** Why nothing is done to any host: the operator is being uninstalled. */
  uninstall?: string;
  /** Why the host is to be removed. */
  removal?: string;
  /** There are Windows Nodes that an operator configured and no instance has recorded. */
  hasOrphans?: boolean;
  /** Journeys of this version; others are never chosen. */
  journeys: ReadonlySet<JourneyName>;
  /** Why a journey has to wait: the budget, a stopped or paused roll-out, a key that is not confirmed. */
  gates?: Readonly<Partial<Record<JourneyName, string>>>;
}

/** A journey that is due, but has to wait. */
export interface Wait {
  journey: JourneyName;
  cause: string;
  why: string;
}

/** A journey that is started. */
export interface Due {
  do: JourneyName;
  /** Why it is started. */
  cause: string;
  /** Journeys that come first, but have to wait. */
  waits: readonly Wait[];
  /** A Node that is also to be released. */
  held?: NodeView;
}

export type Decision =
  /** It is being deleted or rejected, or the operator is being uninstalled. */
  | { do: 'leave'; why: string }
  /** `next` would be done. */
  | { do: 'pause'; next: string }
  /** Its Node is configured. */
  | { do: 'report'; node: NodeView; waits: readonly Wait[] }
  /** As above, but the Node is still cordoned by a journey that was interrupted. */
  | { do: 'release'; node: NodeView; waits: readonly Wait[] }
  /** Only journeys that have to wait. */
  | { do: 'wait'; waits: readonly Wait[] }
  | Due;

interface Row {
  journey: JourneyName;
  /** Why the journey is due; undefined when it is not. */
  cause(facts: LifecycleFacts): string | undefined;
}

/** The first row that is due decides. A row that has to wait leaves the decision to the rows below. */
const rows: readonly Row[] = [
  { journey: 'adopt', cause: whyAdopt },
  { journey: 'configure', cause: whyConfigure },
  { journey: 'upgrade', cause: whyUpgrade },
  { journey: 'reboot', cause: ({ node }) => (node && awaitsReboot(node) ? 'its agent requires a reboot' : undefined) },
  { journey: 'reconnect', cause: whyReconnect },
];

export function decide(facts: LifecycleFacts): Decision {
  const { instance, uninstall } = facts;
  if (uninstall !== undefined) return { do: 'leave', why: uninstall };
  if (instance.metadata.deletionTimestamp !== undefined) return { do: 'leave', why: 'it is being deleted' };
  const next = decideWork(facts);
  return instance.spec.paused === true
    ? { do: 'pause', next: 'cause' in next ? `${next.do}: ${next.cause}` : next.do }
    : next;
}

function decideWork(facts: LifecycleFacts): Decision {
  const { removal, problem } = facts;
  if (removal !== undefined) return decideRemoval(removal, facts);
  const decision = decideNode(facts);
  if (problem === undefined) return decision;
  // Of two instances of one host only one reports the Node; other rejected instances still report theirs.
  const isSkipped = problem.code === 'INSTANCE_DUPLICATE' || 'cause' in decision;
  return isSkipped ? { do: 'leave', why: `it is not accepted: ${problem.code}` } : decision;
}

/** While a removal waits, only the credentials of the agent are renewed. */
function decideRemoval(cause: string, facts: LifecycleFacts): Decision {
  const why = facts.gates?.remove;
  if (why === undefined) return { do: 'remove', cause, waits: [] };
  const waits = [{ journey: 'remove', cause, why }] as const;
  const reconnect = facts.problem === undefined ? whyReconnect(facts) : undefined;
  return reconnect === undefined ? { do: 'wait', waits } : { do: 'reconnect', cause: reconnect, waits };
}

function decideNode(facts: LifecycleFacts): Decision {
  const { node, version, journeys, gates = {} } = facts;
  const isHeld = node !== undefined && isUpToDate(node, version) && isCordonedByOperator(node);
  const waits: Wait[] = [];
  for (const { journey, cause: causeOf } of rows) {
    const cause = journeys.has(journey) ? causeOf(facts) : undefined;
    const why = gates[journey];
    if (cause === undefined) continue;
    if (why !== undefined) waits.push({ journey, cause, why });
    else return { do: journey, cause, waits, ...(isHeld && { held: node }) };
  }
  if (node === undefined) return { do: 'wait', waits };
  return { do: isHeld ? 'release' : 'report', node, waits };
}

function whyAdopt({ instance, hasOrphans = false }: LifecycleFacts): string | undefined {
  const isRecorded = boundNode(instance) !== undefined;
  return isRecorded || !hasOrphans ? undefined : 'its Node may exist already';
}

function whyConfigure(facts: LifecycleFacts): string | undefined {
  const { node, version } = facts;
  if (node === undefined) return 'it has no Node';
  if (isUpToDate(node, version) || whyUpgrade(facts) !== undefined) return undefined;
  // A Node that was configured before, whatever it reports now, needs no more than new credentials.
  return whyReconnect(facts) === undefined ? 'its Node is not configured completely' : undefined;
}

/** A Node that another version configured is upgraded once its host is recorded; an unfinished one is configured. */
function whyUpgrade({ instance, node, version }: LifecycleFacts): string | undefined {
  const isOther = needsUpgrade(node, version) && instance.status?.host !== undefined;
  return isOther ? `its Node runs version ${node?.annotations[nodeAnnotation.version]}, not ${version}` : undefined;
}

/** The record decides: otherwise a Node, or another version of the operator, could lock out an agent. */
function whyReconnect(facts: LifecycleFacts): string | undefined {
  const { instance, node, version, nowMs } = facts;
  if (node === undefined) return undefined;
  const isKnown = isUpToDate(node, version) || whyUpgrade(facts) !== undefined || isRecorded(instance, node);
  if (!isKnown) return undefined;
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
