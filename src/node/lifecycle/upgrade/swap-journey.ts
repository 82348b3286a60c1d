import type { EventText } from '#contract/events.ts';
import type { InstanceUpgrade, JourneyName } from '#contract/windows-instance/resource.ts';
import type { HostJourney } from '../host-journey.ts';

export interface AgentSaid {
  event?: string | undefined;
  failure?: string | undefined;
}

/** A journey that has a host swap its files for those of another version, and replaces them there all at once. */
export interface SwapJourney extends HostJourney {
  readonly name: Extract<JourneyName, 'upgrade' | 'rollback'>;
  /** The set of files that is put in place. */
  readonly set: 'next' | 'previous';
  /** The version that the host is to run. */
  readonly target: string;
  /** The upgrade that is made or taken back; undefined before its first record. */
  readonly upgrade: InstanceUpgrade | undefined;
  /** An earlier attempt has ordered the swap, with the Node drained. */
  readonly isOrdered: boolean;
  /** The files of the target are in place, and the agent has confirmed that. */
  readonly isInPlace: boolean;
  /** What the journey waits for while its Node stays in service. */
  wait: string | undefined;
  /** What the agent reported before the swap, which is not about the new files. */
  before: AgentSaid;
  /** Tells administrators. */
  announce(text: EventText): void;
  /** Stores that the order is given, before it is sent. */
  recordOrder(signal: AbortSignal): Promise<void>;
  /** Stores that the Node is in service with the target. */
  recordDone(): Promise<void>;
}
