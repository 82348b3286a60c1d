import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { JourneyName } from '#contract/windows-instance/resource.ts';

/** `why` names who holds the budget. */
export type GrantAnswer = { isGranted: true } | { isGranted: false; why: string };

/** Permissions to take a Node out of service, limited by the disruption budget. */
export interface Grants {
  /** Takes a grant for the Node of the instance, or tells what it waits for. An instance that has one gets it again. */
  take(instance: WindowsInstance, journey: JourneyName, signal: AbortSignal): Promise<GrantAnswer>;
  /** Ends the grant of the instance, if it has one. */
  end(instance: WindowsInstance, signal: AbortSignal): Promise<void>;
}

/** No limit; used by journeys in tests. */
export const unlimitedGrants: Grants = {
  take: async () => ({ isGranted: true }),
  end: async () => undefined,
};
