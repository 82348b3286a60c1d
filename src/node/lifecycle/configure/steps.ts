import type { Step, StepRun } from '../step.ts';
import { runSteps } from '../step.ts';
import { uploadAgent, secureFolders, takeInventory } from './agent-program.ts';
import {
  awaitSettings,
  awaitVersion,
  installAgent,
  rebootForSettings,
  reinstallAgent,
  rekeyAgent,
} from './agent-service.ts';
import { bootstrap } from './bootstrap.ts';
import { checkHost } from './check-host.ts';
import { cleanUp } from './cleanup.ts';
import { acquireSlot, acquireSlotAgain, connect } from './connect.ts';
import { packPrograms, prepareAgent, prepareFiles } from './prepare-files.ts';
import { claimName, recordHost } from './identify.ts';
import type { ConfigureJourney } from './journey.ts';
import { desireVersion, findNode, releaseNode, cordonAndLabelNode } from './node.ts';
import { awaitImages } from './pre-pull.ts';
import { enableContainers, reboot, rename } from './prepare-windows.ts';
import { reachKubelet } from './reach-kubelet.ts';
import { stageFiles, stagePrograms, stageToken, stageWithoutRestart } from './stage.ts';

type Steps = readonly Step<ConfigureJourney>[];

/** Before taking a slot: a host that does not answer takes no slot from others. */
const reach: Steps = [connect, acquireSlot];

const identify: Steps = [prepareFiles, uploadAgent, takeInventory, claimName];

const setUp: Steps = [
  packPrograms,
  checkHost,
  secureFolders,
  cleanUp,
  rename,
  enableContainers,
  reboot,
  acquireSlotAgain,
  recordHost,
  stagePrograms,
  stageFiles,
  bootstrap,
];

/** Mostly waiting, so the slot is free for others. */
const join: Steps = [
  findNode,
  cordonAndLabelNode,
  desireVersion,
  installAgent,
  awaitSettings,
  rebootForSettings,
  awaitVersion,
  awaitImages,
  releaseNode,
  reachKubelet,
];

/** From a Windows host to a Node that takes pods. */
export const configureSteps: Steps = [...reach, ...identify, ...setUp, ...join];

export async function configure(journey: ConfigureJourney, run: StepRun): Promise<void> {
  await runSteps(reach, journey, run);
  try {
    await runSteps(identify, journey, run);
    if (journey.adoption !== undefined) return;
    await runSteps(setUp, journey, run);
  } finally {
    journey.releaseSlot();
  }
  await runSteps(join, journey, run);
}

/** Nothing on the host changes: no token, no restart, no drain. */
const identifyOnly: Steps = [prepareAgent, uploadAgent, takeInventory, claimName];

/**
 * Records the Node of a host that an operator configured before.
 * @public for docs
 */
export const adoptSteps: Steps = [...reach, ...identifyOnly];

/** A host without such a Node is configured. */
export async function adopt(journey: ConfigureJourney, run: StepRun): Promise<void> {
  await runSteps(reach, journey, run);
  try {
    await runSteps(identifyOnly, journey, run);
    if (journey.adoption !== undefined) return;
    journey.record.continueAs('configure', 'Configuring');
    await runSteps([prepareFiles, ...setUp], journey, run);
  } finally {
    journey.releaseSlot();
  }
  await runSteps(join, journey, run);
}

const renew: Steps = [secureFolders, recordHost, stageWithoutRestart, reinstallAgent];

/** Installs nothing: an upgrade changes programs and configuration, and drains the Node first. */
const renewOther: Steps = [recordHost, stageToken, rekeyAgent];

/**
 * Gives an agent new credentials without drain or reboot.
 * @public for docs
 */
export const reconnectSteps: Steps = [...reach, ...identify, ...renew];

/**
 * The same for a host that another version of the operator configured.
 * @public for docs
 */
export const reconnectOtherSteps: Steps = [...reach, ...identify, ...renewOther];

export async function reconnect(journey: ConfigureJourney, run: StepRun): Promise<void> {
  await runSteps(reach, journey, run);
  await runSteps(identify, journey, run);
  await runSteps(journey.isOfOtherVersion ? renewOther : renew, journey, run);
}
