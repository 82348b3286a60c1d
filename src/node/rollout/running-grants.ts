import { type Grant, grantedJourneys } from '#contract/rollout-grants.ts';
import type { BudgetFacts, BudgetHost, NodeState } from './budget.ts';
import { hasUsedItsHour } from './unavailable-time.ts';
import { isUpgradeOpen } from './version-rollout.ts';

/** A journey is in the status of its instance soon after its grant was taken. */
export const startMs = 5 * 60_000;

export interface GrantFacts extends Pick<BudgetFacts, 'hosts' | 'nodes' | 'grants' | 'unavailable' | 'nowMs'> {
  /** When this process last took the grant, by UID of the instance. */
  takenMs?: ReadonlyMap<string, number>;
}

/** The grants that have not ended: those whose journey runs, or whose node is not in service again. */
export function runningGrants(facts: GrantFacts): Grant[] {
  const hosts = new Map(facts.hosts.map(host => [host.uid, host]));
  const taken = new Set(facts.hosts.map(({ node }) => node));
  return facts.grants.filter(grant => {
    const host = hosts.get(grant.uid);
    // Its instance was created again, which is no start of a journey, and no cache that is late.
    if (host === undefined && taken.has(grant.node) && isInService(facts.nodes.get(grant.node))) return false;
    return isRunning(grant, host, facts);
  });
}

/** A journey has reported its end. The grant of an upgrade stays until the node has soaked or is rolled back. */
export function endGrant(grants: readonly Grant[], uid: string, { hosts }: Pick<GrantFacts, 'hosts'>): Grant[] {
  const host = hosts.find(each => each.uid === uid);
  return isUpgradeOpen(host?.upgrade) ? [...grants] : grants.filter(grant => grant.uid !== uid);
}

/** Nodes whose grant has no journey any more, and that are not in service: they count like others, for an hour. */
export function stoppedGrants(facts: GrantFacts): string[] {
  const hosts = new Map(facts.hosts.map(host => [host.uid, host]));
  const isAtWork = (host: BudgetHost | undefined) => isOnJourney(host) || isUpgradeOpen(host?.upgrade);
  const isStopped = (grant: Grant) => !isAtWork(hosts.get(grant.uid)) && !isStarting(grant, facts);
  return facts.grants
    .filter(grant => isStopped(grant) && !isInService(facts.nodes.get(grant.node)))
    .map(({ node }) => node);
}

function isRunning(grant: Grant, host: BudgetHost | undefined, facts: GrantFacts): boolean {
  const { nodes, unavailable, nowMs } = facts;
  const node = nodes.get(grant.node);
  // That of a replaced Machine ends when its MachineSet is complete again.
  if (host === undefined && node === undefined && grant.journey !== 'replace') return false;
  const isOpen = isUpgradeOpen(host?.upgrade);
  if (host?.isPaused === true) return isOpen && !isInService(node);
  if (isOpen || isOnJourney(host)) return true;
  if (hasEnded(grant, host)) return false;
  if (isStarting(grant, facts)) return true;
  return !isInService(node) && !hasUsedItsHour(grant.node, unavailable, nowMs);
}

/** The upgrade for which it was taken, not one before it, is over: the next node may follow at once. */
function hasEnded({ journey, sinceMs }: Grant, host: BudgetHost | undefined): boolean {
  if (host?.upgrade === undefined || (journey !== 'upgrade' && journey !== 'rollback')) return false;
  const { activatedMs = -Infinity, endedMs = -Infinity } = host.upgrade;
  // Times are stored in whole seconds.
  const takenMs = Math.floor(sinceMs / 1000) * 1000;
  return endedMs >= takenMs && (journey === 'rollback' || activatedMs >= takenMs);
}

function isOnJourney(host: BudgetHost | undefined): boolean {
  return host?.journey !== undefined && grantedJourneys.has(host.journey);
}

export function isInService(node: NodeState | undefined): boolean {
  return node?.isReady === true && !node.isCordoned;
}

/** The clock can have been set back since. */
function isStarting({ uid, sinceMs }: Grant, { takenMs, nowMs }: GrantFacts): boolean {
  return Math.abs(nowMs - (takenMs?.get(uid) ?? sinceMs)) < startMs;
}
