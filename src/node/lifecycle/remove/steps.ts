import { loadAgent } from '../configure/agent-program.ts';
import { connect } from '../configure/connect.ts';
import { runSteps, type Step, type StepRun } from '../step.ts';
import {
  awaitTurn,
  confirmRemoval,
  cordonNode,
  deleteInstance,
  deleteNode,
  drainNode,
  noteHost,
} from './cluster-steps.ts';
import { cleanUpHost, identifyHost, rebootHost, removeAgent, removeFiles, removeNetworks } from './host-steps.ts';
import type { RemovalMode, RemoveJourney } from './journey.ts';

type Steps = readonly Step<RemoveJourney>[];

/** The Node goes before the keys of its kubelet: if the removal is canceled later, the host registers a new one. */
const cleanHost: Steps = [cleanUpHost, rebootHost, deleteNode, removeNetworks, removeFiles, removeAgent];

const findHost: Steps = [connect, loadAgent, identifyHost];

/** After the steps on the host, or the grant. */
const byMode: Readonly<Record<RemovalMode, Steps>> = {
  host: [deleteInstance],
  force: [cordonNode, drainNode, noteHost, deleteNode, deleteInstance],
  object: [deleteInstance],
};

/**
 * All steps of `remove`; which of them run depends on the mode.
 * @public for docs
 */
export const removeSteps: Steps = [
  confirmRemoval,
  ...findHost,
  awaitTurn,
  cordonNode,
  drainNode,
  ...cleanHost,
  noteHost,
  deleteInstance,
];

/** From a Node to a host without anything of the operator. */
export async function remove(journey: RemoveJourney, run: StepRun): Promise<void> {
  await runSteps([confirmRemoval], journey, run);
  if (journey.refusal !== undefined) return;
  if (journey.mode === 'host') await clean(journey, run);
  if (journey.mode === 'force') await runSteps([awaitTurn], journey, run);
  // The Node is in service, and the budget does not allow to change that now.
  if (journey.refusal !== undefined) return;
  await runSteps(byMode[journey.mode], journey, run);
}

async function clean(journey: RemoveJourney, run: StepRun): Promise<void> {
  const { record } = journey;
  // After the last step the host has nothing left, not even the agent.
  if (record.hasFinished(removeAgent.name)) return;
  if (record.hasFinished(removeFiles.name)) {
    await runSteps([connect, removeAgent], journey, run);
  } else {
    await runSteps(findHost, journey, run);
    if (journey.mode !== 'host') return;
    await runSteps([awaitTurn], journey, run);
    if (journey.refusal !== undefined) return;
    await runSteps([cordonNode, drainNode, ...cleanHost], journey, run);
  }
  await record.saveTimeline();
}
