import { byteOrder } from '#base/compare.ts';
import { allowedUnavailable, type RolloutSettings } from '#contract/rollout.ts';
import type { Grant, GrantJourney, RolloutGrants } from '#contract/rollout-grants.ts';
import { hasUsedItsHour } from './unavailable-time.ts';
import { type HostUpgrade, names, rolloutRefusal, type VersionRollout, versionRollout } from './version-rollout.ts';

/** A host as far as the budget is concerned. */
export interface BudgetHost {
  /** Name and UID of the WindowsInstance. */
  instance: string;
  uid: string;
  node: string;
  isPaused: boolean;
  /** Its Node was in service before; one that joins for the first time takes no capacity away. */
  isConfigured: boolean;
  /** The journey in its status. */
  journey?: GrantJourney;
  upgrade?: HostUpgrade;
}

export interface NodeState {
  isReady: boolean;
  isCordoned: boolean;
}

/** A host that asks for a grant. */
export interface GrantRequest {
  instance: string;
  uid: string;
  node: string;
  journey: GrantJourney;
  /** When it asked first. */
  sinceMs: number;
  outside?: OutsideBudget;
}

/** What counts as well for one request: Machines of the MachineSet of the host that do not work. */
export interface OutsideBudget {
  machineSet: string;
  /** Nodes of such Machines. */
  nodes: readonly string[];
  /** Machines without a Node. */
  missing: number;
  /** Nodes of Machines of the set that work. */
  working?: readonly string[];
}

export interface BudgetFacts extends Omit<RolloutGrants, 'unreadable'> {
  hosts: readonly BudgetHost[];
  /** All Windows Nodes, by name. */
  nodes: ReadonlyMap<string, NodeState>;
  /** Who waits for a grant. */
  waiting: readonly GrantRequest[];
  settings: RolloutSettings;
  /** Of this operator. */
  version: string;
  nowMs: number;
}

export type OutOfServiceCause = 'granted' | 'not ready' | 'cordoned' | 'no Node';

/** A node that is out of service. */
export interface OutOfService {
  node: string;
  cause: OutOfServiceCause;
  /** Name of its instance, if it has one. */
  instance?: string;
  /** Of the grant. */
  journey?: GrantJourney;
  /** False when it has kept others waiting for an hour. */
  isCounted: boolean;
}

/** Every node of the operator that is out of service, granted ones first. */
export function nodesOutOfService(facts: BudgetFacts): OutOfService[] {
  const granted = new Map(facts.grants.map(grant => [grant.node, grant]));
  const others = facts.hosts.flatMap(host => (granted.has(host.node) ? [] : outOfService(host, facts)));
  return [
    ...[...granted.values()].map(({ node, instance, journey }) => {
      return { node, cause: 'granted', instance, journey, isCounted: true } as const;
    }),
    ...others.toSorted((one, other) => byteOrder(one.node, other.node)),
  ];
}

function outOfService({ node, instance, isPaused, isConfigured }: BudgetHost, facts: BudgetFacts): OutOfService[] {
  if (isPaused || !isConfigured) return [];
  const cause = causeOf(facts.nodes.get(node));
  if (cause === undefined) return [];
  const isUnlimited = cause === 'cordoned' && facts.settings.countsCordoned;
  const isCounted = isUnlimited || !hasUsedItsHour(node, facts.unavailable, facts.nowMs);
  return [{ node, cause, instance, isCounted }];
}

function causeOf(node: NodeState | undefined): OutOfServiceCause | undefined {
  if (node === undefined) return 'no Node';
  if (!node.isReady) return 'not ready';
  return node.isCordoned ? 'cordoned' : undefined;
}

/** How many nodes may be out of service at once. */
export function budgetOf(facts: BudgetFacts): number {
  return allowedUnavailable(facts.settings, nodeCount(facts));
}

/** A host that is being removed or replaced belongs to the fleet until its grant ends. */
function nodeCount({ hosts, grants }: BudgetFacts): number {
  const configured = hosts.filter(({ isConfigured }) => isConfigured);
  return new Set([...configured.map(({ node }) => node), ...grants.map(({ node }) => node)]).size;
}

export type BudgetAnswer = { isGranted: true } | { isGranted: false; why: string };

/** Whether the request gets a grant now. It counts as waiting, whether it is in the list or not. */
export function decideGrant(request: GrantRequest, facts: BudgetFacts): BudgetAnswer {
  const waiting = [...facts.waiting.filter(({ uid }) => uid !== request.uid), request];
  const all = { ...facts, waiting };
  if (nextRequests(all).includes(request)) return { isGranted: true };
  return { isGranted: false, why: new Refusals(all).why(request) };
}

/** What each request waits for that gets no grant now. A host with a grant of its own waits for something else. */
export function whysOf(facts: BudgetFacts): Map<GrantRequest, string> {
  const refusals = new Refusals(facts);
  const next = new Set(nextRequests(facts));
  const holders = new Set(facts.grants.map(({ uid }) => uid));
  const waiting = facts.waiting.filter(request => !next.has(request) && !holders.has(request.uid));
  return new Map(waiting.map(request => [request, refusals.why(request)]));
}

export const pausedText = 'the roll-out is paused: paused is true in ConfigMap windows-rollout';

/** The requests that get a grant now, in their order. */
export function nextRequests(facts: BudgetFacts): GrantRequest[] {
  const budget = budgetOf(facts);
  const upgrades = new UpgradeTurns(facts);
  const grantedBefore: ReadonlySet<string> = new Set(facts.grants.map(({ node }) => node));
  const granted = new Set(grantedBefore);
  const counted = new Set(nodesOutOfService(facts).flatMap(({ node, isCounted }) => (isCounted ? [node] : [])));
  // What becomes free is kept for the first request that does not fit, or others could overtake it forever.
  let isRoomKept = false;
  const isNext = (request: GrantRequest): boolean => {
    if (needsNoBudget(request, facts)) return true;
    // There are never more grants than the budget allows.
    if (isHeldByPause(request, grantedBefore, facts) || withoutNode(granted, request) >= budget) return false;
    // An upgrade that the roll-out holds back keeps no others waiting.
    if (upgrades.refusal(request) !== undefined) return false;
    // A node that is out of service already takes no more away.
    if (isOut(request, grantedBefore, facts)) return true;
    if (isRoomKept) return false;
    const { nodes = [], missing = 0 } = request.outside ?? {};
    const replaced = replacedNodes(request, facts);
    const out = withoutNode(new Set([...counted, ...nodes].filter(node => !replaced.includes(node))), request);
    // What a replaced Machine has taken away is either missing in its set, or one of these nodes, until the new one works.
    if (out + Math.max(missing, replaced.length - nodes.length) < budget) return true;
    // One that its own MachineSet keeps waiting keeps no others waiting.
    isRoomKept = nodes.length + missing < budget;
    return false;
  };
  return inOrder(facts).filter(request => {
    const isGranted = isNext(request);
    if (isGranted) for (const nodes of [granted, counted]) nodes.add(request.node);
    if (isGranted) upgrades.granted(request);
    return isGranted;
  });
}

/** Why the roll-out of this version does not let the upgrade start; undefined for other journeys. */
export function upgradeRefusal(request: GrantRequest, facts: BudgetFacts): string | undefined {
  return new UpgradeTurns(facts).refusal(request);
}

/** Which upgrades the roll-out of this version lets start, in addition to the budget. */
class UpgradeTurns {
  readonly #facts: BudgetFacts;
  readonly #rollout: VersionRollout;

  constructor(facts: BudgetFacts) {
    this.#facts = facts;
    this.#rollout = versionRollout(facts);
  }

  /** One that has swapped its files must come to its end. No host waits for its own node, which a former instance took out. */
  refusal({ journey, uid, instance, node }: GrantRequest): string | undefined {
    if (journey !== 'upgrade' || isUnfinished(uid, this.#facts)) return undefined;
    const { stoppedBy, running, limit } = this.#rollout;
    const others = {
      // A host that failed asks only because an administrator retries it.
      stoppedBy: stoppedBy.filter(name => name !== instance),
      running: running.filter(each => each.uid !== uid && each.node !== node),
      limit,
    };
    return rolloutRefusal(others, this.#facts.version);
  }

  granted({ journey, uid, node }: GrantRequest): void {
    if (journey === 'upgrade') this.#rollout.running.push({ uid, node });
  }
}

function isUnfinished(uid: string, { hosts }: Pick<BudgetFacts, 'hosts'>): boolean {
  const state = hosts.find(host => host.uid === uid)?.upgrade?.state;
  return state === 'swapping' || state === 'failed';
}

/** A pause takes no node out of service, but one that is out comes back. */
function isHeldByPause(request: GrantRequest, granted: ReadonlySet<string>, facts: BudgetFacts): boolean {
  if (!facts.settings.isPaused) return false;
  return !(isUnfinished(request.uid, facts) && isOut(request, granted, facts));
}

/** Nodes with grants whose Machines, of the same set, are gone. One whose Machine was not deleted yet counts by itself. */
function replacedNodes({ outside }: GrantRequest, { grants }: BudgetFacts): string[] {
  if (outside === undefined) return [];
  const { machineSet: name, nodes, working = [] } = outside;
  const isGone = (node: string) => !nodes.includes(node) && !working.includes(node);
  return grants.flatMap(({ machineSet, node }) => (machineSet === name && isGone(node) ? [node] : []));
}

export function grantOf({ instance, uid, node, journey, outside }: GrantRequest, nowMs: number): Grant {
  return { instance, uid, node, journey, sinceMs: nowMs, ...(outside && { machineSet: outside.machineSet }) };
}

/** Nothing is lost by the removal of a node that does not work. */
function needsNoBudget({ journey, node }: GrantRequest, { nodes }: BudgetFacts): boolean {
  return journey === 'remove' && nodes.get(node)?.isReady !== true;
}

function withoutNode(nodes: ReadonlySet<string>, { node }: GrantRequest): number {
  return nodes.size - (nodes.has(node) ? 1 : 0);
}

/** Out of service already, by whatever cause. */
function isOut({ node }: GrantRequest, grantedNodes: ReadonlySet<string>, { nodes }: BudgetFacts): boolean {
  return causeOf(nodes.get(node)) !== undefined || grantedNodes.has(node);
}

/** Broken nodes and rollbacks first, then the one that waits longest, then by name. */
export function inOrder(facts: BudgetFacts): GrantRequest[] {
  const granted = new Set(facts.grants.map(({ node }) => node));
  const isFirst = (request: GrantRequest) => request.journey === 'rollback' || isOut(request, granted, facts);
  const ranked = facts.waiting.map(request => ({ request, rank: isFirst(request) ? 0 : 1 }));
  return ranked
    .toSorted((one, other) => one.rank - other.rank || byWaiting(one.request, other.request))
    .map(({ request }) => request);
}

function byWaiting(one: GrantRequest, other: GrantRequest): number {
  return one.sinceMs - other.sinceMs || byteOrder(one.instance, other.instance) || byteOrder(one.uid, other.uid);
}

/** What requests wait for. All that is the same for all of them is computed once: there can be hundreds. */
class Refusals {
  readonly #isPaused: boolean;
  readonly #upgrades: UpgradeTurns;
  readonly #ordered: readonly GrantRequest[];
  readonly #limit: string;
  readonly #holders: readonly string[];

  constructor(facts: BudgetFacts) {
    this.#isPaused = facts.settings.isPaused;
    this.#upgrades = new UpgradeTurns(facts);
    this.#ordered = inOrder(facts);
    this.#limit = `at most ${budgetOf(facts)} of ${nodeCount(facts)} nodes may be out of service`;
    this.#holders = nodesOutOfService(facts).flatMap(each => (each.isCounted ? [holderText(each)] : []));
  }

  why(request: GrantRequest): string {
    if (this.#isPaused) return pausedText;
    return this.#upgrades.refusal(request) ?? this.#waitText(request);
  }

  /** Names who holds the budget and who is ahead. */
  #waitText(request: GrantRequest): string {
    const { nodes = [], missing = 0 } = request.outside ?? {};
    const machines = nodes.length + missing;
    const before = this.#ordered.slice(0, this.#ordered.indexOf(request));
    const parts = [
      this.#limit,
      ...(this.#holders.length > 0 ? [`out of service: ${names(this.#holders)}`] : []),
      ...(machines > 0 ? [`${machines} Machines of its MachineSet are not healthy`] : []),
      ...(before.length > 0 ? [`ahead: ${names(before.map(({ node }) => node))}`] : []),
    ];
    return parts.join('; ');
  }
}

function holderText({ node, cause, journey }: OutOfService): string {
  return `${node} (${journey ?? cause})`;
}
