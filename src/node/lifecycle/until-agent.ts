import { AppError } from '#base/errors.ts';
import { agentEvent } from '#contract/agent-report.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { maxSkewMs } from './configure/preflight.ts';
import type { EventLimits } from './deps.ts';
import type { HostJourney } from './host-journey.ts';
import { untilNode } from './node-watch.ts';
import type { StepTurn } from './step.ts';

export interface AgentWait {
  isEnough: (node: NodeView) => boolean;
  /** Called at every look at the Node with the failure of the agent that has not been followed by a success. */
  onFailure?: (failure: string | undefined) => void;
}

/** Waits for the agent until its Node is as wanted, and says meanwhile what the agent reports. */
export async function untilAgent(
  journey: HostJourney,
  { signal, note, hint }: StepTurn,
  { isEnough, onFailure }: AgentWait,
): Promise<void> {
  // The agent changes the network of the host, which breaks connections.
  await journey.host.close();
  const { nodes, clock } = journey.deps;
  // Events have the time of the host.
  const sinceMs = clock.now() - maxSkewMs;
  const look = (): true | undefined => {
    const { node } = journey;
    if (node === undefined) return undefined;
    const { nodeUID = node.uid } = journey.record.known;
    if (nodeUID !== node.uid) throw registeredAgain(node.name);
    if (isEnough(node)) return true;
    const limits = { sinceMs, ...bootOf(journey) };
    const event = nodes.lastEvent(node, limits);
    note([lastEvent(node, event), readinessNote(node)].filter(text => text !== '').join('; '));
    // An agent that waits for the pod network is past the failure before it.
    const failure = isWaiting(event) ? undefined : nodes.agentFailure(node, limits);
    if (failure !== undefined) hint();
    onFailure?.(failure);
    return undefined;
  };
  await untilNode(nodes, journey.joinedNode.name, look, signal);
}

/** The boot of the host, if it is known. */
export function bootOf({ knownInventory }: HostJourney): Pick<EventLimits, 'bootId'> {
  return knownInventory === undefined ? {} : { bootId: knownInventory.bootId };
}

function isWaiting(event = ''): boolean {
  return event.startsWith(`${agentEvent.serviceWaiting}: `);
}

/** An event about the pod subnet is over when the Node has one. */
function lastEvent({ annotations }: NodeView, event: string | undefined): string {
  const hasSubnet = Object.hasOwn(annotations, nodeAnnotation.hybridOverlaySubnet);
  return event === undefined || (hasSubnet && isWaiting(event)) ? 'the agent configures the host' : event;
}

function readinessNote({ name, ready, readyMessage = '' }: NodeView): string {
  return ready || readyMessage === '' ? '' : `Node ${name} is not ready: ${readyMessage}`;
}

/** The new Node lacks labels and annotations, so the journey has to start over. */
function registeredAgain(node: string): AppError {
  return new AppError('NODE_NOT_FOUND', `Node ${node} was deleted and registered again`, {
    remedy: 'Find out who deleted it (audit log of the API server).',
  });
}
