import { connect } from '../configure/connect.ts';
import { runSteps, type Step, type StepRun } from '../step.ts';
import { confirmRemoval, cordonNode, deleteInstance, deleteNode, drainNode, noteHost } from './cluster-steps.ts';
import {
  cleanUpHost,
  identifyHost,
  loadAgent,
  rebootHost,
  removeAgent,
  removeFiles,
  removeNetworks,
} from './host-steps.ts';
import type { RemovalMode, RemoveJourney } from './journey.ts';

type Steps = readonly Step<RemoveJourney>[];

const cleanHost: Steps = [cleanUpHost, rebootHost, removeNetworks, removeFiles, removeAgent];
const deleteObjects: Steps = [deleteNode, deleteInstance];

const untilCordon: Steps = [connect, loadAgent, identifyHost, cordonNode];
const afterCordon: Steps = [drainNode, ...cleanHost];

/** After the steps on the host. */
const byMode: Readonly<Record<RemovalMode, Steps>> = {
  host: deleteObjects,
  force: [cordonNode, drainNode, noteHost, ...deleteObjects],
  object: [deleteInstance],
};

/**
 * All steps of `remove`; which of them run depends on the mode.
 * @public for docs
 */
export const removeSteps: Steps = [confirmRemoval, ...untilCordon, ...afterCordon, noteHost, ...deleteObjects];

/** From a Node to a host without anything of the operator. */
export async function remove(journey: RemoveJourney, run: StepRun): Promise<void> {
  await runSteps([confirmRemoval], journey, run);
  if (journey.refusal !== undefined) return;
  const { mode, record } = journey;
  // After its last step the host has nothing left, not even the agent.
  if (mode === 'host' && !record.hasFinished(removeAgent.name)) {
    await runSteps(untilCordon, journey, run);
    // The Node is in service, and the budget does not allow to change that now.
    if (journey.refusal !== undefined) return;
    await runSteps(afterCordon, journey, run);
    await record.saveTimeline();
  }
  await runSteps(byMode[mode], journey, run);
}
