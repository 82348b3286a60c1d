import type { Inventory } from '#contract/inventory.ts';
import type { NodeView } from '#contract/node.ts';
import { callAgent } from '../agent-call.ts';
import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';
import { checkCommand } from './remedies.ts';

const cleanupMs = 15 * 60_000;

export interface CleanupFacts {
  inventory: Pick<Inventory, 'services' | 'stagedVersion'>;
  node: NodeView | undefined;
  version: string;
  /** The services are from this journey, and the Node may still register. */
  awaitsNode: boolean;
}

/**
 * Whether to remove managed services before they are installed: those of another version, and those of a host whose Node is gone,
 * because a running kubelet does not register again. Services from an earlier attempt of this journey stay.
 */
export function needsCleanup({ inventory, node, version, awaitsNode }: CleanupFacts): boolean {
  if (!inventory.services.some(service => service.isManaged)) return false;
  return inventory.stagedVersion !== version || (node === undefined && !awaitsNode);
}

export const cleanUp: Step<ConfigureJourney> = {
  name: 'clean-up',
  description: 'stops and removes services of an earlier configuration; variables and certificates stay',
  usualMs: 60_000,
  limitMs: 20 * 60_000,
  remedy: checkCommand,
  isDone(journey) {
    const { inventory, node, prepared, record } = journey;
    const { version } = prepared.inputs;
    return !needsCleanup({ inventory, node, version, awaitsNode: record.awaitsNode });
  },
  async run(journey, { signal, note }) {
    const { host, address, inventory } = journey;
    const command = journey.commands.cleanup(journey.prepared.inputs.namespace, 'keep settings');
    await callAgent({ host, address, command, signal, note, timeoutMs: cleanupMs });
    await clearVersion(journey, signal);
    journey.inventory = { ...inventory, services: inventory.services.filter(service => !service.isManaged) };
  },
};

/** The former agent reported it; otherwise the step that waits for the new agent would take it for done. */
async function clearVersion({ nodeName, deps }: ConfigureJourney, signal: AbortSignal): Promise<void> {
  if (nodeName !== undefined) await deps.nodes.clearReport(nodeName, 'version', signal);
}
