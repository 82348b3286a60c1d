import { pathKey } from '#contract/host-path.ts';
import type { Inventory } from '#contract/inventory.ts';
import { bundlePath, file } from '#contract/paths.ts';
import type { BundleFile } from '../../bundle.ts';
import type { PackedFile } from '../../pack-files.ts';
import type { Step } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';
import { sendBundle } from './send-bundle.ts';
import { checkUpload } from './remedies.ts';

/** Files that are missing or different on the host. */
export function missingFiles(wanted: readonly BundleFile[], { files }: Pick<Inventory, 'files'>): BundleFile[] {
  return wanted.filter(({ path, sha256 }) => files[pathKey(path)] !== sha256);
}

/** Files to remove: unlisted ones in directories that the operator owns. */
export function staleFiles(
  wanted: readonly BundleFile[],
  ownedDirectories: readonly string[],
  { files }: Pick<Inventory, 'files'>,
): string[] {
  const kept = new Set(wanted.map(({ path }) => pathKey(path)));
  const owned = ownedDirectories.map(directory => pathKey(`${directory}\\`));
  return Object.keys(files).filter(path => !kept.has(path) && owned.some(directory => path.startsWith(directory)));
}

export const stagePrograms: Step<ConfigureJourney> = {
  name: 'stage programs',
  description: 'uploads missing or different programs as one bundle, which the agent unpacks and checks',
  usualMs: 3 * 60_000,
  limitMs: 2 * 3_600_000,
  remedy: checkUpload,
  isDone: ({ programs, inventory }) => missingFiles(programs, inventory).length === 0,
  async run(journey, turn) {
    const { version } = journey.prepared.inputs;
    const { bundles } = journey.inventory;
    // The same files give the same bundle, so that a complete upload is found again.
    const files = missingFiles(journey.programs, journey.inventory);
    await sendBundle(journey, { version, files }, bundles, turn);
    markStaged(journey, files);
  },
};

export const stageFiles = filesStep(
  'writes kubeconfigs, certificates, configuration and registry settings, and removes outdated ones',
  () => true,
);

/** On a node in service: services would have to be restarted for the others, which is done within the disruption budget. */
export const stageWithoutRestart = filesStep(
  'writes kubeconfigs, certificates and registry settings, and removes outdated ones; no service has to restart',
  ({ use }) => use !== 'start',
);

function filesStep(description: string, isWanted: (file: PackedFile) => boolean): Step<ConfigureJourney> {
  return {
    name: 'write files',
    description,
    usualMs: 20_000,
    limitMs: 20 * 60_000,
    remedy: checkUpload,
    isDone: journey => wantedChanges(journey, isWanted).isNone,
    async run(journey, turn) {
      const { files, remove } = wantedChanges(journey, isWanted);
      const { bundles } = journey.inventory;
      // Bundles of earlier attempts are no longer needed.
      const leftovers = Object.keys(bundles).map(bundlePath);
      const { version } = journey.prepared.inputs;
      await sendBundle(journey, { version, files, remove: [...remove, ...leftovers] }, {}, turn);
      markStaged(journey, files);
    },
  };
}

/** On a host of another version: its files and its staged version stay. */
export const stageToken: Step<ConfigureJourney> = {
  name: 'write token',
  description: 'writes the kubeconfig of the agent with a new token, and no other file',
  usualMs: 20_000,
  limitMs: 20 * 60_000,
  remedy: checkUpload,
  async run(journey, turn) {
    const { prepared, inventory, instance } = journey;
    const version = inventory.stagedVersion || (instance.status?.version ?? prepared.inputs.version);
    const files = prepared.texts.filter(({ path }) => pathKey(path) === pathKey(file.agentKubeconfig));
    const remove = Object.keys(inventory.bundles).map(bundlePath);
    await sendBundle(journey, { version, files, remove }, {}, turn);
  },
};

function wantedChanges({ prepared, inventory }: ConfigureJourney, isWanted: (file: PackedFile) => boolean) {
  const { texts, inputs } = prepared;
  const files = missingFiles(texts.filter(isWanted), inventory);
  const remove = staleFiles(texts, inputs.files.ownedDirectories, inventory);
  return { files, remove, isNone: files.length === 0 && remove.length === 0 };
}

function markStaged(journey: ConfigureJourney, files: readonly BundleFile[]): void {
  const { inventory, prepared } = journey;
  const staged = Object.fromEntries(files.map(({ path, sha256 }) => [pathKey(path), sha256]));
  const { version: stagedVersion } = prepared.inputs;
  journey.inventory = { ...inventory, files: { ...inventory.files, ...staged }, stagedVersion };
}
