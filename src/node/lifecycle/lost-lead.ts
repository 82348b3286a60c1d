import { isAppError } from '#base/errors.ts';
import type { Leader } from '#kube/leader/leader.ts';

/** After a failure: whether another operator leads by now, so that nothing may be written any more. A host that says so proves nothing. */
export async function hasLostLead(
  thrown: unknown,
  { leader }: { leader: Pick<Leader, 'isCurrent'> },
  signal: AbortSignal,
): Promise<boolean> {
  if (!isAppError(thrown, 'LEADER_STALE')) return false;
  return !(await leader.isCurrent(signal).catch(() => false));
}
