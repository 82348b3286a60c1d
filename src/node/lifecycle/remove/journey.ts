import { hasTouchedHost, isForced } from '#cluster/instance-removal.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { NodeView } from '#contract/node.ts';
import type { RemovedHost } from '#contract/removed-hosts.ts';
import type { LifecycleDeps } from '../deps.ts';
import { AgentJourney } from '../host-journey.ts';
import type { JourneyRecord } from '../journey-record.ts';

/** What a removal does to objects of the cluster; each act tolerates that the object is gone. */
export interface RemovalCluster {
  /** Why the host must not be removed now, read past all caches; undefined when it may. */
  refusal(instance: WindowsInstance, signal: AbortSignal): Promise<string | undefined>;
  /** Another instance that is the same host and stays. */
  sharedWith(instance: WindowsInstance): Promise<string | undefined>;
  /** Keeps a note about a host that was removed without being cleaned. */
  noteRemoved(host: Omit<RemovedHost, 'removed'>, signal: AbortSignal): Promise<void>;
  /** The host was cleaned: a note from an earlier removal by force is over. */
  forgetNote(node: string, signal: AbortSignal): Promise<void>;
  /** Called when files could not be removed. */
  reportLeft(journey: RemoveJourney): void;
  deleteNode(node: Pick<NodeView, 'name' | 'uid'>, signal: AbortSignal): Promise<void>;
  /** Called before the instance is deleted. */
  report(journey: RemoveJourney): void;
  deleteInstance(instance: WindowsInstance, signal: AbortSignal): Promise<void>;
}

/** `object`: there is nothing on the host that belongs to this instance alone. */
export type RemovalMode = 'host' | 'force' | 'object';

/** A host that leaves the cluster. */
export class RemoveJourney extends AgentJourney {
  readonly cluster: RemovalCluster;
  /** Decided before the first act: another instance of the host that appears later changes nothing. */
  mode: RemovalMode = 'object';
  /** Settings were removed that only a reboot makes effective. */
  needsReboot = false;
  /** Files that could not be removed. */
  left: readonly string[] = [];
  /** Addresses of the Node, for the event at the end. */
  addresses: readonly string[];

  constructor(instance: WindowsInstance, deps: LifecycleDeps, record: JourneyRecord, cluster: RemovalCluster) {
    super(instance, deps, record);
    this.cluster = cluster;
    this.addresses = this.node?.addresses.map(({ address }) => address) ?? record.known.host?.addresses ?? [];
  }
}

export async function removalMode({
  instance,
  cluster,
}: Pick<RemoveJourney, 'instance' | 'cluster'>): Promise<RemovalMode> {
  // A Direct instance without a record may have been created to remove an orphan Node.
  const isOfHost = hasTouchedHost(instance) || isDirect(instance);
  if (!isOfHost || (await cluster.sharedWith(instance)) !== undefined) return 'object';
  return isForced(instance) ? 'force' : 'host';
}

function isDirect({ spec }: WindowsInstance): boolean {
  return (spec.source?.kind ?? 'Direct') === 'Direct';
}
