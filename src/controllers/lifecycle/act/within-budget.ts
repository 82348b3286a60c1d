import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { Client } from '#kube/client.ts';
import type { InstanceUpgrade, JourneyName } from '#contract/windows-instance/resource.ts';
import { upgradeState } from '#contract/windows-instance/upgrade-state.ts';
import { nodes } from '#kube/resources.ts';
import { goesBackWithoutGrant } from '#node/lifecycle/upgrade/node-steps.ts';
import type { Grants } from '#node/rollout/grants.ts';
import { decide, type Decision, type LifecycleFacts } from '../decide.ts';

/**
 * A Node that is in service is removed, rolled back, or has its services restarted only with a grant; without one the decision is made again. So is one whose
 * upgrade is staged: no connection is opened before its turn.
 */
export async function decideWithinBudget(
  facts: LifecycleFacts,
  grants: Pick<Grants, 'take'>,
  signal: AbortSignal,
): Promise<Decision> {
  const { instance, gates } = facts;
  const next = decide(facts);
  if (!('cause' in next) || !needsGrant(next.do, facts)) return next;
  const answer = await grants.take(instance, next.do, signal);
  return answer.isGranted
    ? next
    : withRefusal(decide({ ...facts, gates: { ...gates, [next.do]: answer.why } }), next.do);
}

function withRefusal(decision: Decision, journey: JourneyName): Decision {
  if (!('waits' in decision)) return decision;
  const waits = decision.waits.map(wait => (wait.journey === journey ? { ...wait, isForBudget: true } : wait));
  return { ...decision, waits };
}

function needsGrant(journey: JourneyName, { instance, node, version }: LifecycleFacts): boolean {
  const { upgrade } = instance.status ?? {};
  if (journey === 'remove') return node?.ready === true;
  if (journey === 'upgrade') return upgrade?.to === version && upgrade.staged !== undefined && isOpen(upgrade);
  if (journey === 'restart') return node?.ready === true;
  return journey === 'rollback' && !goesBackWithoutGrant(instance, node);
}

/** Not the record of an earlier upgrade to the same version. */
function isOpen(upgrade: InstanceUpgrade): boolean {
  return ['staging', 'swapping'].includes(upgradeState(upgrade));
}

/** For a journey that failed: a host that does not answer, and whose Node is still in service, keeps no others waiting. */
export async function endUnusedGrant(
  instance: WindowsInstance,
  { client, grants }: { client: Pick<Client, 'find'>; grants: Pick<Grants, 'end'> },
  signal: AbortSignal,
): Promise<void> {
  const name = boundNode(instance);
  // The cache may not know yet that the Node was cordoned.
  const node = name === undefined ? undefined : await client.find(nodes, name, { signal });
  if (node?.spec?.unschedulable !== true) await grants.end(instance, signal);
}
