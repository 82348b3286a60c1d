import type { Inventory } from '#contract/inventory.ts';
import type { NodeView } from '#contract/node.ts';
import { callAgent } from '../agent-call.ts';
import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';

const cleanupMs = 15 * 60_000;

export interface Remains {
  inventory: Pick<Inventory, 'services' | 'stagedVersion'>;
  node: NodeView | undefined;
  version: string;
  /** The services are of this journey, and the Node may be on its way. */
  awaitsNode: boolean;
}

/**
 * Whether services of ours on the host have to go before they are set up. Those of another version have to, and so have
 * those of a host whose Node is gone, for a kubelet that runs does not register again. What an earlier attempt of this
 * journey has set up stays.
 */
export function needsCleanup({ inventory, node, version, awaitsNode }: Remains): boolean {
  if (!inventory.services.some(service => service.isManaged)) return false;
  return inventory.stagedVersion !== version || (node === undefined && !awaitsNode);
}

export const cleanUpFormer: Step<ConfigureJourney> = {
  name: 'clean-up',
  description:
    'stops and removes services of an earlier configuration; variables and certificates stay for the new one',
  limitMs: 20 * 60_000,
  isDone(journey) {
    const { inventory, node, prepared, record } = journey;
    const { version } = prepared.inputs;
    return !needsCleanup({ inventory, node, version, awaitsNode: record.awaitsNode });
  },
  async run(journey, { signal }) {
    const { host, address, inventory } = journey;
    const command = journey.commands.cleanup(journey.prepared.inputs.namespace, 'keep settings');
    await callAgent({ host, address, command, signal, timeoutMs: cleanupMs });
    await clearVersion(journey, signal);
    journey.inventory = { ...inventory, services: inventory.services.filter(service => !service.isManaged) };
  },
};

/** The former agent has reported it, and the next one is waited for by it. */
async function clearVersion({ nodeName, world }: ConfigureJourney, signal: AbortSignal): Promise<void> {
  if (nodeName !== undefined) await world.nodes.clearReport(nodeName, 'version', signal);
}
