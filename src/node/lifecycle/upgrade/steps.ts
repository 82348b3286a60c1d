import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { askForInventory, secureFolders, takeInventory, uploadAgent } from '../configure/agent-program.ts';
import { awaitSettings, awaitVersion, installAgent, rebootForSettings } from '../configure/agent-service.ts';
import { bootstrap } from '../configure/bootstrap.ts';
import { cleanUp } from '../configure/cleanup.ts';
import { acquireSlot, acquireSlotAgain, connect } from '../configure/connect.ts';
import { claimName, recordHost } from '../configure/identify.ts';
import { cordonAndLabelNode, desireVersion, findNode } from '../configure/node.ts';
import { packPrograms, prepareAgent, prepareFiles } from '../configure/prepare-files.ts';
import { enableContainers, reboot } from '../configure/prepare-windows.ts';
import { stageFiles, stagePrograms } from '../configure/stage.ts';
import { hasLostLead } from '../lost-lead.ts';
import { asAppError, runSteps, type Step, type StepRun } from '../step.ts';
import { activate, askForActivation } from './activate.ts';
import { awaitAgent, awaitTarget } from './await-version.ts';
import type { UpgradeJourney } from './journey.ts';
import { cordonNode, drainNode, takeGrant, uncordonNode } from './node-steps.ts';
import { checkUpgrade, recordStaged, stageNext } from './stage-next.ts';
import type { RollbackJourney } from './rollback-journey.ts';
import type { SwapJourney } from './swap-journey.ts';

type Steps = readonly Step<UpgradeJourney>[];

const identify: Steps = [uploadAgent, takeInventory, claimName];

/** The node stays in service. */
const stage: Steps = [
  connect,
  acquireSlot,
  prepareFiles,
  ...identify,
  packPrograms,
  checkUpgrade,
  recordHost,
  stageNext,
  recordStaged,
];

/** For a host that was staged before: no token is created, and nothing is uploaded unless it was lost. */
const findStaged: Steps = [connect, prepareAgent, ...identify];

/** For an attempt that found its host staged, and needs the files nevertheless. */
const prepare: Steps = [acquireSlot, prepareFiles, packPrograms];

const stageAgain: Steps = [recordHost, stageNext, recordStaged];

const takeOut: readonly Step<SwapJourney>[] = [cordonNode, drainNode];

/** From the order to a Node in service. */
const swapSteps: readonly Step<SwapJourney>[] = [
  ...takeOut,
  activate,
  awaitAgent,
  rebootForSettings,
  awaitTarget,
  uncordonNode,
];

const order: Step<UpgradeJourney> = {
  ...recordStaged,
  name: 'record order',
  description: 'records that the host is changed from now on',
  isDone: ({ isOrdered }) => isOrdered,
  run: (journey, { signal }) => journey.recordOrder(signal),
};

/** For hosts whose files are no set of a former version: they are configured again, and cannot be rolled back. */
const configureAgain: Steps = [
  order,
  secureFolders,
  cleanUp,
  enableContainers,
  reboot,
  acquireSlotAgain,
  recordHost,
  stagePrograms,
  stageFiles,
  bootstrap,
  findNode,
  cordonAndLabelNode,
  desireVersion,
  installAgent,
];

const joinAgain: Steps = [awaitSettings, rebootForSettings, awaitVersion, uncordonNode];

/**
 * All steps of `upgrade` for a host of an earlier version of this operator.
 * @public for docs
 */
export const upgradeSteps: Steps = [...stage, takeGrant, ...swapSteps];

/** From one version to another; ends at the step `budget` when it has to wait. */
export async function upgrade(journey: UpgradeJourney, run: StepRun): Promise<void> {
  try {
    await runUpgrade(journey, run);
  } catch (error) {
    if (!run.signal.aborted) await afterFailure(journey, asAppError(error), run);
    throw error;
  } finally {
    journey.releaseSlot();
  }
}

async function runUpgrade(journey: UpgradeJourney, run: StepRun): Promise<void> {
  if (journey.upgrade?.staged === undefined) await runSteps(stage, journey, run);
  journey.releaseSlot();
  await runSteps([takeGrant], journey, run);
  if (journey.wait !== undefined) return;
  if (journey.knownInventory === undefined) await runSteps(findStaged, journey, run);
  if (!journey.isSwap) return configureOnce(journey, run);
  if (!journey.isOrdered && !journey.isSet('next')) {
    await journey.forgetStaged();
    if (!journey.isPrepared) await runSteps(prepare, journey, run);
    await runSteps(stageAgain, journey, run);
    journey.releaseSlot();
  }
  await runSteps(swapSteps, journey, run);
}

async function configureOnce(journey: UpgradeJourney, run: StepRun): Promise<void> {
  await runSteps(takeOut, journey, run);
  if (!journey.isPrepared) await runSteps(prepare, journey, run);
  await runSteps(configureAgain, journey, run);
  journey.releaseSlot();
  await runSteps(joinAgain, journey, run);
}

/** After these the former version is better than another attempt. */
const rollbackCodes: readonly ErrorCode[] = [
  'ACTIVATION_FAILED',
  'ACTIVATION_REVERTED',
  'NODE_VERSION_TIMEOUT',
  'UPGRADE_UNHEALTHY',
  'HOST_REBOOT_TIMEOUT',
];

/** So long after the order, any failure is one of the version: the administrator can decide, and others need not wait. */
const patienceMs = 30 * 60_000;

async function afterFailure(journey: UpgradeJourney, error: AppError, { signal, log }: StepRun): Promise<void> {
  try {
    if (await hasLostLead(error, journey.deps, signal)) return;
    if (!journey.isOrdered) await giveBack(journey, signal);
    else if (isFinal(journey, error)) await journey.recordFailure(error);
  } catch (thrown) {
    // The next attempt finds the Node as it is.
    log.warn('Ending a failed upgrade failed', { error: thrown });
  }
}

function isFinal({ isSwap, upgrade: begun, deps }: UpgradeJourney, { code }: AppError): boolean {
  if (isSwap && rollbackCodes.includes(code)) return true;
  const elapsedMs = deps.clock.now() - Date.parse(begun?.activated ?? '');
  return !(elapsedMs < patienceMs);
}

/** Nothing was changed on the host: others need not wait for it, and pods can come back. */
async function giveBack({ node, deps, instance, from, target }: UpgradeJourney, signal: AbortSignal): Promise<void> {
  if (node !== undefined) {
    const isDesired = node.annotations[nodeAnnotation.desiredVersion] === target;
    const annotations = { [nodeAnnotation.desiredVersion]: from };
    if (isDesired && from !== '') await deps.nodes.annotate(node.name, annotations, signal);
    await deps.nodes.release(node.name, signal);
  }
  await deps.grants.end(instance, signal);
}

const findPrevious: Step<RollbackJourney> = {
  ...takeInventory,
  description:
    'has the agent of the former version report everything about the host; its name must be the recorded one',
  async run(journey, { signal }) {
    journey.inventory = await askForInventory(journey, signal);
    journey.lastSwap = await askForActivation(journey, signal);
    const { record, inventory, address } = journey;
    const recorded = record.known.host?.name;
    if (inventory.nodeName === recorded) return;
    throw new AppError(
      'NODE_NAME_CHANGED',
      `${address}: the host name is ${inventory.nodeName}, but it joined as ${recorded}`,
      { remedy: `Rename the host back to ${recorded}.` },
    );
  },
};

/**
 * All steps of `rollback`.
 * @public for docs
 */
export const rollbackSteps: readonly Step<RollbackJourney>[] = [takeGrant, connect, findPrevious, ...swapSteps];

/** Back to the version before a failed upgrade. */
export async function rollback(journey: RollbackJourney, run: StepRun): Promise<void> {
  const [first = takeGrant, ...others] = rollbackSteps;
  await runSteps([first], journey, run);
  if (journey.wait === undefined) await runSteps(others, journey, run);
}
