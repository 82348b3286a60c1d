import { isAppError } from '#base/errors.ts';
import type { GrantJourney } from '#contract/rollout-grants.ts';
import { checkCluster } from './configure/remedies.ts';
import type { AgentJourney, HostJourney } from './host-journey.ts';
import type { Step, StepTurn } from './step.ts';

/** Its own step, so that a cordon in the timeline means a Node out of service. */
export function takeGrant<J extends AgentJourney>(name: GrantJourney, isDone: (journey: J) => boolean): Step<J> {
  return {
    name: 'budget',
    description: 'takes a grant of the disruption budget; without one the journey ends here until it is its turn',
    usualMs: 15_000,
    limitMs: 2 * 60_000,
    remedy: checkCluster,
    isDone,
    async run(journey, { signal }) {
      journey.refusal = await budgetRefusal(journey, name, signal);
    },
  };
}

/** Why the Node must stay in service now; a Node that is out of service needs no grant. */
export async function budgetRefusal(
  { node, deps, instance }: HostJourney,
  name: GrantJourney,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (node === undefined || !node.ready || node.unschedulable) return undefined;
  const answer = await deps.grants.take(instance, name, signal);
  return answer.isGranted ? undefined : answer.why;
}

/** Drains the Node. Pods that stay are left behind only if that is forced, or by the setting drainTimeout. */
export async function evictPods(
  { joinedNode, deps }: HostJourney,
  { signal, note }: StepTurn,
  isForced = false,
): Promise<void> {
  const { drainTimeout } = deps.grants.settings();
  const timeout = drainTimeout === 'continue' ? {} : { timeoutMs: drainTimeout };
  try {
    await deps.nodes.drain(joinedNode.name, { signal, note, ...timeout });
  } catch (error) {
    const isEnough = isForced || drainTimeout === 'continue';
    if (!isEnough || !isAppError(error, 'DRAIN_BLOCKED')) throw error;
    deps.log.warn('Pods were not evicted; continuing without them', { error });
  }
}

/** Puts the Node of a journey that failed before it changed the host back into service, so that others need not wait. */
export async function backInService({ node, deps, instance }: HostJourney, signal: AbortSignal): Promise<void> {
  if (node !== undefined) await deps.nodes.release(node.name, signal);
  await deps.grants.end(instance, signal);
}
