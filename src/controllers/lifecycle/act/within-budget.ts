import type { Grants } from '#node/rollout/grants.ts';
import { decide, type Decision, type LifecycleFacts } from '../decide.ts';

/** A Node that is in service is removed only with a grant; without one the decision is made again. */
export async function decideWithinBudget(
  facts: LifecycleFacts,
  grants: Pick<Grants, 'take'>,
  signal: AbortSignal,
): Promise<Decision> {
  const { instance, node } = facts;
  const next = decide(facts);
  if (next.do !== 'remove' || node?.ready !== true) return next;
  const answer = await grants.take(instance, 'remove', signal);
  return answer.isGranted ? next : decide({ ...facts, gates: { remove: answer.why } });
}
