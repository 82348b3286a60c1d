import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { RolloutSettings } from '#contract/rollout.ts';
import type { GrantJourney } from '#contract/rollout-grants.ts';
import type { OutsideBudget } from './budget.ts';

/** `why` names who holds the budget and who is ahead. */
export type GrantAnswer = { isGranted: true } | { isGranted: false; why: string };

/** Permissions to take a Node out of service, limited by the disruption budget. */
export interface Grants {
  /**
   * Takes a grant for the Node of the instance, or tells what it waits for. An instance that has one gets it again. One that has to
   * wait asks again when it is woken.
   */
  take(
    instance: WindowsInstance,
    journey: GrantJourney,
    signal: AbortSignal,
    outside?: OutsideBudget,
  ): Promise<GrantAnswer>;
  /** Ends the grant of the instance, if it has one, and its wait for one. */
  end(instance: WindowsInstance, signal: AbortSignal): Promise<void>;
  /** Of the ConfigMap windows-rollout. */
  settings(): RolloutSettings;
}
