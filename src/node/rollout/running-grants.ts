import { type Grant, grantedJourneys } from '#contract/rollout-grants.ts';
import type { BudgetFacts, BudgetHost, NodeState } from './budget.ts';
import { hasUsedItsHour } from './unavailable-time.ts';

/** A journey is in the status of its instance soon after its grant was taken. */
export const startMs = 5 * 60_000;

export interface GrantFacts
  extends Pick<BudgetFacts, 'hosts' | 'nodes' | 'grants' | 'unavailable' | 'settings' | 'nowMs'> {
  /** When this process last took the grant, by UID of the instance. */
  takenMs?: ReadonlyMap<string, number>;
}

/** The grants that have not ended: those whose journey runs, or whose node is not in service again. */
export function runningGrants(facts: GrantFacts): Grant[] {
  const hosts = new Map(facts.hosts.map(host => [host.uid, host]));
  return facts.grants.flatMap(grant => afterCheck(grant, hosts.get(grant.uid), facts) ?? []);
}

/** A journey has reported its end. The grant of an upgrade stays until the node has soaked. */
export function endGrant(
  grants: readonly Grant[],
  uid: string,
  facts: Pick<GrantFacts, 'settings' | 'nowMs'>,
): Grant[] {
  return grants.flatMap(grant => {
    if (grant.uid !== uid) return [grant];
    return soakMsOf(grant, facts) === 0 ? [] : [{ ...grant, readyMs: facts.nowMs }];
  });
}

/** Nodes whose grant has no journey any more, and that are not in service: they count like others, for an hour. */
export function stoppedGrants(facts: GrantFacts): string[] {
  const hosts = new Map(facts.hosts.map(host => [host.uid, host]));
  const isStopped = (grant: Grant) => !isOnJourney(hosts.get(grant.uid)) && !isStarting(grant, facts);
  return facts.grants
    .filter(grant => isStopped(grant) && !isInService(facts.nodes.get(grant.node)))
    .map(({ node }) => node);
}

function afterCheck(grant: Grant, host: BudgetHost | undefined, facts: GrantFacts): Grant | undefined {
  const { readyMs, ...started } = grant;
  const { nodes, unavailable, nowMs } = facts;
  const node = nodes.get(grant.node);
  if (host === undefined && node === undefined) return undefined;
  if (host?.isPaused === true) return undefined;
  if (isOnJourney(host)) return started;
  // A node that a user cordoned soaks, too.
  if (readyMs !== undefined && node?.isReady === true) return isSoaked(grant, readyMs, facts) ? undefined : grant;
  if (isStarting(grant, facts)) return started;
  if (!isInService(node)) return hasUsedItsHour(grant.node, unavailable, nowMs) ? undefined : started;
  return soakMsOf(grant, facts) === 0 ? undefined : { ...started, readyMs: nowMs };
}

function isOnJourney(host: BudgetHost | undefined): boolean {
  return host?.journey !== undefined && grantedJourneys.has(host.journey);
}

function isInService(node: NodeState | undefined): boolean {
  return node?.isReady === true && !node.isCordoned;
}

/** The clock can have been set back since. */
function isStarting({ uid, sinceMs }: Grant, { takenMs, nowMs }: GrantFacts): boolean {
  return Math.abs(nowMs - (takenMs?.get(uid) ?? sinceMs)) < startMs;
}

function isSoaked(grant: Grant, readyMs: number, facts: GrantFacts): boolean {
  return Math.abs(facts.nowMs - readyMs) >= soakMsOf(grant, facts);
}

function soakMsOf({ journey }: Grant, { settings }: Pick<GrantFacts, 'settings'>): number {
  return journey === 'upgrade' ? settings.soakMs : 0;
}
