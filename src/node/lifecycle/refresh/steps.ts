import { asAppError, runSteps, type Step, type StepRun } from '../step.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { bundlePath } from '#contract/paths.ts';
import type { PackedFile } from '../../pack-files.ts';
import { loadAgent } from '../configure/agent-program.ts';
import { connect } from '../configure/connect.ts';
import { checkAgent, checkCluster, checkUpload } from '../configure/remedies.ts';
import { sendBundle } from '../configure/send-bundle.ts';
import { missingFiles, staleFiles } from '../configure/stage.ts';
import { identifyHost } from '../identify-host.ts';
import { hasLostLead } from '../lost-lead.ts';
import { untilAgent } from '../until-agent.ts';
import type { RefreshJourney, RestartJourney } from './journey.ts';

const shortMs = 2 * 60_000;

/** Writes the files that differ, and removes those that are not wanted any more. */
function writeStep<J extends RefreshJourney>(
  description: string,
  groups: readonly ('files' | 'services')[],
  isWanted: (file: PackedFile) => boolean,
): Step<J> {
  return {
    name: 'write settings',
    description,
    usualMs: 20_000,
    limitMs: 20 * 60_000,
    remedy: checkUpload,
    async run(journey, turn) {
      const { settings, inventory, version } = journey;
      const wanted = (await settings.texts()).filter(isWanted);
      const files = missingFiles(wanted, inventory);
      const remove = staleFiles(wanted, settings.ownedDirectories, inventory);
      journey.changedFiles = files.length + remove.length;
      // Bundles of earlier attempts are no longer needed.
      const leftovers = Object.keys(inventory.bundles).map(bundlePath);
      if (journey.changedFiles > 0) {
        await journey.recordChange(...groups);
        await sendBundle(journey, { version, files, remove: [...remove, ...leftovers] }, {}, turn);
      }
      journey.recordFiles();
    },
  };
}

const writeLive = writeStep<RefreshJourney>(
  'writes changed registry settings and certificates, and removes outdated ones; nothing is restarted',
  ['files'],
  ({ use }) => use === 'live',
);

const writeAll = writeStep<RestartJourney>(
  'writes changed files, also those that services read when they start',
  ['files', 'services'],
  () => true,
);

/**
 * All steps of `refresh`.
 * @public for docs
 */
export const refreshSteps: readonly Step<RefreshJourney>[] = [connect, loadAgent, identifyHost, writeLive];

/** Brings changed files to a host, while its services and pods go on. */
export async function refresh(journey: RefreshJourney, run: StepRun): Promise<void> {
  journey.recordDesired();
  await runSteps(refreshSteps, journey, run);
}

const releaseSettings: Step<RestartJourney> = {
  name: 'release settings',
  description: 'annotates the Node with the hash of the settings that its agent has to apply',
  usualMs: 15_000,
  limitMs: shortMs,
  remedy: checkCluster,
  async run(journey, { signal }) {
    const { deps, joinedNode, settings } = journey;
    await journey.recordChange('services');
    if (joinedNode.annotations[nodeAnnotation.desiredServices] !== settings.services) {
      const annotations = { [nodeAnnotation.desiredServices]: settings.services };
      await deps.nodes.annotate(joinedNode.name, annotations, signal);
    }
    journey.isReleased = true;
  },
};

const awaitSettings: Step<RestartJourney> = {
  name: 'wait for agent',
  description: 'waits until the agent has restarted the services that changed, and the Node is ready; pods go on',
  usualMs: 60_000,
  limitMs: 5 * 60_000,
  remedy: checkAgent,
  timeout: {
    code: 'SETTINGS_NOT_APPLIED',
    message: ({ address, node, deps }) => {
      const event = node && deps.nodes.lastEvent(node);
      const report = event === undefined ? 'its agent reported no event' : `last event of its agent: ${event}`;
      return `${address}: Node ${node?.name} does not work with the new settings of its services (${report})`;
    },
  },
  async run(journey, turn) {
    const { deps, settings } = journey;
    const isEnough = (node: RestartJourney['joinedNode']) =>
      node.ready && deps.nodes.appliedServices(node) === settings.services;
    using change = followSettings(journey);
    try {
      await untilAgent(journey, { ...turn, signal: AbortSignal.any([turn.signal, change.signal]) }, { isEnough });
      journey.recordServices();
    } catch (error) {
      if (turn.signal.aborted || !change.signal.aborted) throw error;
      // An administrator who corrects settings need not wait for the limit.
      journey.isOutdated = true;
    }
  },
};

/** Its signal is aborted when the host should have other settings than those of this attempt. */
function followSettings({ deps, instance, settings }: RestartJourney): Disposable & { signal: AbortSignal } {
  const change = new AbortController();
  const look = () => {
    const now = deps.inputs.desiredSettings?.(instance)?.services;
    if (now !== undefined && now !== settings.services) change.abort(new Error('the settings have changed again'));
  };
  const end = deps.inputs.onSettingsChange?.(look);
  look();
  return { signal: change.signal, [Symbol.dispose]: () => end?.() };
}

const writeFiles: readonly Step<RestartJourney>[] = [connect, loadAgent, identifyHost, writeAll];
const apply: readonly Step<RestartJourney>[] = [releaseSettings, awaitSettings];

/**
 * All steps of `restart`.
 * @public for docs
 */
export const restartSteps: readonly Step<RestartJourney>[] = [...writeFiles, ...apply];

/** Has the agent restart services with changed settings, by a grant of the disruption budget. Pods keep running. */
export async function restart(journey: RestartJourney, run: StepRun): Promise<void> {
  try {
    do {
      journey.useNewest();
      journey.recordDesired(true);
      // The agent reads services from the cluster itself.
      if (journey.hasNewFiles) await runSteps(writeFiles, journey, run);
      await runSteps(apply, journey, run);
    } while (journey.isOutdated);
  } catch (error) {
    const mayWrite = !run.signal.aborted && !(await hasLostLead(error, journey.deps, run.signal));
    if (mayWrite && journey.isReleased) journey.recordFailure(asAppError(error));
    throw error;
  }
  await journey.deps.grants.end(journey.instance, run.signal);
}
