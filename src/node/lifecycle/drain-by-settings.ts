import { isAppError } from '#base/errors.ts';
import type { HostJourney } from './host-journey.ts';
import type { StepTurn } from './step.ts';

/** Drains the Node in the time of the setting `drainTimeout`. Pods that stay are an error unless it says `continue`, or `isForced`. */
export async function drainBySettings(
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

export function checkPods({ nodeName }: HostJourney): string {
  return (
    `Run \`kubectl get pods -A --field-selector spec.nodeName=${nodeName}\` and \`kubectl get pdb -A\`: ` +
    'pods that cannot be evicted block the drain of the Node.'
  );
}
