import { timestamp } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { isUpToDate } from '#contract/node-marks.ts';
import type { JourneyName, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { upgradeState } from '#contract/windows-instance/upgrade-state.ts';
import { rebootCause } from '#node/lifecycle/reboot/due.ts';
import { identityEndsMs } from '#node/record.ts';
import {
  isBetweenVersions,
  isChanged,
  isHalfDone,
  isTakenOut,
  isUnfinished,
  whyFinishUpgrade,
  whyRollback,
  whyUpgrade,
} from './decide-upgrade.ts';

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
  /** Another instance that has taken over the host of this one. */
  successor?: string;
  /** Hashes of what the host should have, and of what it was given. */
  desired?: HostHashes;
  given?: HostHashes;
  /** There are Windows Nodes that an operator configured and no instance has recorded. */
  hasOrphans?: boolean;
  /** Journeys of this version; others are never chosen. */
  journeys: ReadonlySet<JourneyName>;
  /** Why a journey has to wait: the budget, a stopped or paused roll-out, a key that is not confirmed. */
  gates?: Readonly<Partial<Record<JourneyName, string>>>;
}

/** Content of a host that journeys of their own replace. */
export interface HostHashes {
  /** Of the SSH public key; `given`: of the one that last worked. */
  keyHash?: string;
  /** Of files that take effect at once. */
  fileHash?: string;
  /** Of the services, and of files that they read when they start. */
  servicesHash?: string;
  /** Services have variables of a proxy. */
  hasProxy?: boolean;
  /** Former keys are to be removed from the host. */
  hasFormerKeys?: boolean;
}

/** A journey that is due, but has to wait. */
export interface Wait {
  journey: JourneyName;
  cause: string;
  why: string;
  /** It has asked for a grant. */
  isForBudget?: boolean;
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
  /** Another instance has its host: only the object is deleted. */
  | { do: 'discard'; why: string }
  /** `next` would be done. `held`: a Node whose drain is stopped; it is put back into service. */
  | { do: 'pause'; next: string; held?: NodeView }
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
  cause: (facts: LifecycleFacts) => string | undefined;
}

/** The first row that is due decides. A row that has to wait leaves the decision to the rows below. */
const rows: readonly Row[] = [
  { journey: 'adopt', cause: whyAdopt },
  { journey: 'configure', cause: whyConfigure },
  { journey: 'rollback', cause: whyRollback },
  { journey: 'upgrade', cause: whyFinishUpgrade },
  // Before an upgrade starts: an agent whose credentials have expired could not report the new version.
  { journey: 'reconnect', cause: whyReconnect },
  { journey: 'upgrade', cause: whyUpgrade },
  { journey: 'reboot', cause: ({ instance, node }) => rebootCause(instance, node) },
  { journey: 'rekey', cause: whyRekey },
  { journey: 'refresh', cause: whyRefresh },
  { journey: 'restart', cause: whyRestart },
];

export function decide(facts: LifecycleFacts): Decision {
  const { instance, uninstall, successor } = facts;
  if (uninstall !== undefined) return { do: 'leave', why: uninstall };
  if (instance.metadata.deletionTimestamp !== undefined) return { do: 'leave', why: 'it is being deleted' };
  if (successor !== undefined) return { do: 'discard', why: `WindowsInstance ${successor} has taken over its host` };
  const next = decideWork(facts);
  const isPaused = instance.spec.paused === true && !('cause' in next && isChanged(facts, next.do));
  if (!isPaused) return next;
  const held = isDrained(instance) ? undefined : heldNode(facts);
  return { do: 'pause', next: nextText(next), ...(held && { held }) };
}

/** A removal has gone further than its drain: the host is no whole node any more. */
function isDrained({ status }: WindowsInstance): boolean {
  const drain = status?.timeline?.find(({ name }) => name === 'drain');
  return status?.journey?.name === 'remove' && drain?.finished !== undefined;
}

/** For administrators who have paused the host. */
function nextText(next: Decision): string {
  if ('cause' in next) return `${next.do}, because ${next.cause}`;
  const [wait] = 'waits' in next ? next.waits : [];
  if (wait !== undefined) return `${wait.journey}, because ${wait.cause}; it waits: ${wait.why}`;
  return next.do === 'leave' ? `nothing, because ${next.why}` : 'nothing is due';
}

function decideWork(facts: LifecycleFacts): Decision {
  const { removal, problem } = facts;
  if (removal !== undefined) return decideRemoval(removal, facts);
  const decision = decideNode(facts);
  if (problem === undefined) return decision;
  // Of two instances of one host only one reports the Node; other rejected instances still report theirs, and bring it back.
  const isStart = 'cause' in decision && !isUnfinished(facts, decision.do);
  const isSkipped = problem.code === 'INSTANCE_DUPLICATE' || isStart;
  return isSkipped ? { do: 'leave', why: `it is not accepted: ${problem.code}` } : decision;
}

/** While a removal waits, only the credentials of the agent are renewed. */
function decideRemoval(cause: string, facts: LifecycleFacts): Decision {
  const { journeys, gates = {}, problem } = facts;
  const why = gates.remove ?? (journeys.has('remove') ? undefined : 'this version of the operator removes no hosts');
  if (why === undefined) return { do: 'remove', cause, waits: [] };
  const waits = [{ journey: 'remove', cause, why }] as const;
  const canReconnect = problem === undefined && journeys.has('reconnect') && gates.reconnect === undefined;
  const reconnect = canReconnect ? whyReconnect(facts) : undefined;
  return reconnect === undefined ? { do: 'wait', waits } : { do: 'reconnect', cause: reconnect, waits };
}

function decideNode(facts: LifecycleFacts): Decision {
  const { node, journeys, gates = {} } = facts;
  const held = heldNode(facts);
  const waits: Wait[] = [];
  for (const { journey, cause: causeOf } of rows) {
    const cause = journeys.has(journey) ? causeOf(facts) : undefined;
    const why = gates[journey];
    if (cause === undefined) continue;
    if (why !== undefined) waits.push({ journey, cause, why });
    else return { do: journey, cause, waits, ...(held && { held }) };
  }
  if (node === undefined) return { do: 'wait', waits };
  return { do: held ? 'release' : 'report', node, waits };
}

/** The Node, if it could be in service, but a journey that was interrupted has cordoned it. */
function heldNode(facts: LifecycleFacts): NodeView | undefined {
  const { node } = facts;
  return node !== undefined && isAtRest(facts) && isTakenOut(node) ? node : undefined;
}

/** Its Node was configured completely, by this or another version, and is not in the middle of a change. */
function isAtRest(facts: LifecycleFacts): boolean {
  if (isHalfDone(facts) || whyFinishUpgrade(facts) !== undefined) return false;
  return isUpToDate(facts.node, facts.version) || whyUpgrade(facts) !== undefined;
}

/** An instance of an earlier operator may have the name of its Node and nothing else. */
function whyAdopt({ instance, node, hasOrphans = false }: LifecycleFacts): string | undefined {
  const { status = {} } = instance;
  const isRecorded = status.host !== undefined || status.certifiedName !== undefined;
  if (isRecorded || interruptedJourney(status) === 'configure') return undefined;
  if (node !== undefined)
    return isConfigured(node) ? 'its Node is configured, but its host is not recorded' : undefined;
  return hasOrphans ? 'its Node may exist already' : undefined;
}

function isConfigured({ annotations }: NodeView): boolean {
  return Object.hasOwn(annotations, nodeAnnotation.version);
}

/** Earlier versions did not record which journey was interrupted. */
function interruptedJourney({ journey, phase, timeline = [] }: WindowsInstanceStatus): JourneyName | undefined {
  if (journey !== undefined) return journey.name;
  const isOpen = phase === 'Configuring' || phase === 'Failed';
  return isOpen && timeline.length > 0 ? 'configure' : undefined;
}

function whyConfigure(facts: LifecycleFacts): string | undefined {
  const { node, version } = facts;
  if (node === undefined) return 'it has no Node';
  if (isUpToDate(node, version) || whyUpgrade(facts) !== undefined || isBetweenVersions(facts)) return undefined;
  // A Node that was configured before, whatever it reports now, needs no more than new credentials.
  return whyReconnect(facts) === undefined ? 'its Node is not configured completely' : undefined;
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

/** Machines get another key with their user data, and are replaced. The Node says which key earlier operators used. */
function whyRekey(facts: LifecycleFacts): string | undefined {
  const { instance, node, desired, given } = facts;
  if (node === undefined || desired?.keyHash === undefined || instance.spec.source?.kind === 'Machine')
    return undefined;
  if (!isAtRest(facts)) return undefined;
  const { [nodeAnnotation.pubKeyHash]: marked } = node.annotations;
  if ((given?.keyHash ?? marked) !== desired.keyHash) return 'its SSH key is not the current one';
  if (given?.hasFormerKeys === true) return 'a former SSH key is still authorized on the host';
  return marked === desired.keyHash ? undefined : 'its Node has the hash of another SSH key';
}

/**
 * Also a host that waits for its upgrade. An agent of the Go operator is replaced first. A host whose services use a proxy keeps the
 * CAs of the proxy until they do not.
 */
function whyRefresh(facts: LifecycleFacts): string | undefined {
  const { instance, desired, given } = facts;
  if (desired?.fileHash === undefined || desired.fileHash === given?.fileHash) return undefined;
  const losesProxy = given?.hasProxy === true && desired.hasProxy !== true;
  if (losesProxy && desired.servicesHash !== given.servicesHash) return undefined;
  return instance.status?.agent !== undefined && isAtRest(facts)
    ? 'registry settings or certificates have changed'
    : undefined;
}

/**
 * Only with the services of this version; and not while it soaks, where a failure would be one of the version. A node that is not
 * ready, but was not changed either, would only seem to fail with the new settings.
 */
export function whyRestart(facts: LifecycleFacts): string | undefined {
  const { instance, node, version, desired, given } = facts;
  const { agent, version: recorded, upgrade } = instance.status ?? {};
  if (desired?.servicesHash === undefined || desired.servicesHash === given?.servicesHash) return undefined;
  const isOwn = agent !== undefined && recorded === version && isUpToDate(node, version);
  const isSoaking = upgradeState(upgrade) === 'soaking';
  const canTell = node?.ready === true || given?.servicesHash === undefined;
  return isOwn && !isSoaking && canTell && isAtRest(facts) ? 'settings of its services have changed' : undefined;
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
