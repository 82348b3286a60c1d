import { AppError } from '#base/errors.ts';
import { awaitsReboot } from '#contract/node-marks.ts';
import { askForInventory, loadAgent } from '../configure/agent-program.ts';
import { connect } from '../configure/connect.ts';
import { rebootTimeout } from '../configure/prepare-windows.ts';
import { rebootWithinLimit, wasRebooted } from '../configure/reboot.ts';
import { checkAgent, checkCluster, checkPods, checkReboot } from '../configure/remedies.ts';
import { identifyHost } from '../identify-host.ts';
import { hasLostLead } from '../lost-lead.ts';
import { untilNode } from '../node-watch.ts';
import { backInService, budgetRefusal, evictPods, takeGrant } from '../out-of-service.ts';
import { runSteps, type Step, type StepRun } from '../step.ts';
import { openRequest } from './due.ts';
import type { RebootJourney } from './journey.ts';

const shortMs = 2 * 60_000;

const cordonNode: Step<RebootJourney> = {
  name: 'cordon',
  description: 'cordons the Node; the cordon of an administrator stays as it is',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  isDone: isOver,
  run: ({ deps, joinedNode }, { signal }) => deps.nodes.cordonAndLabel(joinedNode.name, {}, [], signal),
};

const drainNode: Step<RebootJourney> = {
  name: 'drain',
  description: 'evicts the pods of the Node; goes on without them only by the setting drainTimeout',
  usualMs: 5 * 60_000,
  // More than the longest setting.
  limitMs: 5 * 3_600_000,
  remedy: checkPods,
  isDone: isOver,
  run: (journey, turn) => evictPods(journey, turn),
};

const rebootHost: Step<RebootJourney> = {
  name: 'reboot',
  description: 'reboots the host once; the reboot is counted before it is ordered',
  usualMs: 3 * 60_000,
  limitMs: 45 * 60_000,
  remedy: checkReboot,
  timeout: rebootTimeout,
  isDone: ({ reason }) => reason === undefined,
  async run(journey, turn) {
    const { reason = '', record, deps, joinedNode, instance } = journey;
    // The drain may have taken hours.
    journey.inventory = await askForInventory(journey, turn.signal);
    journey.hasRebooted = true;
    await rebootWithinLimit(journey, reason, turn);
    await deps.nodes.clearReport(joinedNode.name, 'rebootRequired', turn.signal);
    const request = openRequest(instance, record.known);
    await record.saveReboot(undefined, request === undefined ? {} : { rebootRequest: request });
  },
};

const awaitAgent: Step<RebootJourney> = {
  name: 'wait for agent',
  description: 'waits until the agent confirms in the new boot that all services run, and the Node is ready',
  usualMs: 60_000,
  limitMs: 20 * 60_000,
  remedy: checkAgent,
  timeout: {
    code: 'NODE_NOT_READY',
    message: journey =>
      `${journey.address}: Node ${journey.nodeName} was not ready after the reboot (${lastEvent(journey)})`,
  },
  async run(journey, { signal, note }) {
    const { host, deps, inventory, record } = journey;
    // The agent changes the network of the host, which breaks connections.
    await host.close();
    const { bootId } = inventory;
    const look = (): true | undefined => {
      const { node } = journey;
      if (node === undefined) return undefined;
      // An agent of the Go operator writes no report.
      const report = record.known.agent === undefined ? 'confirmed' : deps.nodes.bootReport(node, bootId);
      if (report === 'requires reboot') throw rebootAgain(journey);
      if (report === 'confirmed' && node.ready && !awaitsReboot(node)) return true;
      note(deps.nodes.lastEvent(node, { bootId }) ?? 'the agent starts the services of the host');
      return undefined;
    };
    await untilNode(deps.nodes, journey.joinedNode.name, look, signal);
  },
};

/** The next journey reboots the host again, within the limit. */
function rebootAgain(journey: RebootJourney): AppError {
  const { address, nodeName } = journey;
  const message = `${address}: after the reboot the agent requires another one (${lastEvent(journey)})`;
  return new AppError('NODE_NOT_READY', message, {
    remedy: `Run \`kubectl describe node ${nodeName}\` and follow the events of the agent.`,
  });
}

function lastEvent({ node, deps, inventory }: RebootJourney): string {
  const event = node && deps.nodes.lastEvent(node, { bootId: inventory.bootId });
  return event === undefined ? 'its agent reported no event' : `last event of its agent: ${event}`;
}

const releaseNode: Step<RebootJourney> = {
  name: 'uncordon',
  description: 'uncordons the Node, unless an administrator cordoned it, and ends its grant',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  run: (journey, { signal }) => backInService(journey, signal),
};

const untilTurn: readonly Step<RebootJourney>[] = [connect, loadAgent, identifyHost, takeGrant('reboot', isOver)];
const outOfService: readonly Step<RebootJourney>[] = [cordonNode, drainNode, rebootHost, awaitAgent, releaseNode];

/** @public for docs */
export const rebootSteps: readonly Step<RebootJourney>[] = [...untilTurn, ...outOfService];

/** A reboot between two times in service. */
export async function reboot(journey: RebootJourney, run: StepRun): Promise<void> {
  // Before the connection: a host that waits for the budget is not connected to.
  if (journey.reason !== undefined) journey.refusal = await budgetRefusal(journey, 'reboot', run.signal);
  if (journey.refusal !== undefined) return;
  try {
    await runSteps(untilTurn, journey, run);
    if (journey.refusal === undefined) await runSteps(outOfService, journey, run);
  } catch (error) {
    const mayWrite = !run.signal.aborted && !(await hasLostLead(error, journey.deps, run.signal));
    // If this fails, the grant stays, and the next attempt has it.
    if (mayWrite && isUntouched(journey)) await backInService(journey, run.signal).catch(() => undefined);
    throw error;
  }
}

/** A host that was not ordered to reboot works as before, so that its Node need not stay out of service. */
function isUntouched({ record, hasRebooted, reason }: RebootJourney): boolean {
  return record.reboot === undefined && !hasRebooted && reason !== undefined;
}

/** The host was rebooted, or need not be any more. */
function isOver(journey: RebootJourney): boolean {
  const { reason } = journey;
  return reason === undefined || wasRebooted(journey, reason);
}
