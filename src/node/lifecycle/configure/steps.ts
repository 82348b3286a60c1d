import type { Step, StepRun } from '../step.ts';
import { runSteps } from '../step.ts';
import { bringAgent, secureFolders, takeInventory } from './agent-program.ts';
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
import { cleanUpFormer } from './cleanup.ts';
import { acquireSlot, connect } from './connect.ts';
import { prepareFiles, packPrograms } from './prepare-files.ts';
import { claimName, recordHost } from './identify.ts';
import type { ConfigureJourney } from './journey.ts';
import { desireVersion, findNode, releaseNode, cordonAndLabelNode } from './node.ts';
import { enableContainers, reboot, rename } from './prepare-windows.ts';
import { stageFiles, stagePrograms, stageToken } from './stage.ts';

type Steps = readonly Step<ConfigureJourney>[];

/** Before the host has its turn: a host that does not answer takes no place from others. */
const reach: Steps = [connect, acquireSlot];

/** Finds out what and whose the host is. */
const identify: Steps = [prepareFiles, bringAgent, takeInventory, claimName];

/** Changes the host. */
const setUp: Steps = [
  packPrograms,
  checkHost,
  secureFolders,
  cleanUpFormer,
  rename,
  enableContainers,
  reboot,
  recordHost,
  stagePrograms,
  stageFiles,
  bootstrap,
];

/** Mostly waiting, so that others may have their turn. */
const join: Steps = [
  findNode,
  cordonAndLabelNode,
  desireVersion,
  installAgent,
  awaitSettings,
  rebootForSettings,
  awaitVersion,
  releaseNode,
];

/** From a Windows host to a Node that takes pods. */
export const configureSteps: Steps = [...reach, ...identify, ...setUp, ...join];

/** Runs the whole journey, leaving out what is done already. */
export async function configure(journey: ConfigureJourney, run: StepRun): Promise<void> {
  await runSteps(reach, journey, run);
  {
    using _turn = journey.turn;
    await runSteps(identify, journey, run);
    if (journey.isAdopted) return;
    await runSteps(setUp, journey, run);
  }
  await runSteps(join, journey, run);
}

const renew: Steps = [secureFolders, recordHost, stageFiles, reinstallAgent];

/** Installs nothing: to change programs and configuration is for an upgrade, which drains the Node first. */
const renewOther: Steps = [recordHost, stageToken, rekeyAgent];

/**
 * Gives an agent new credentials, without drain or reboot: the Node stays in service.
 * @public for the page about it
 */
export const reconnectSteps: Steps = [...reach, ...identify, ...renew];

/**
 * The same for a host that another version of the operator has set up.
 * @public for the page about it
 */
export const reconnectOtherSteps: Steps = [...reach, ...identify, ...renewOther];

export async function reconnect(journey: ConfigureJourney, run: StepRun): Promise<void> {
  await runSteps(reach, journey, run);
  using _turn = journey.turn;
  await runSteps(identify, journey, run);
  await runSteps(journey.isOfOtherVersion ? renewOther : renew, journey, run);
}
