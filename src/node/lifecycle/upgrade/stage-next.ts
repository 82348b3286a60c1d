import type { BundleFile } from '../../bundle.ts';
import { preflight } from '../configure/preflight.ts';
import { checkCluster, checkUpload } from '../configure/remedies.ts';
import { sendBundle } from '../configure/send-bundle.ts';
import { missingFiles } from '../configure/stage.ts';
import type { Step, StepTurn } from '../step.ts';
import type { UpgradeJourney } from './journey.ts';

/** Files of which the host has no copy, whatever their path was. */
export function missingContents(wanted: readonly BundleFile[], copies: readonly string[]): BundleFile[] {
  const known = new Set(copies);
  return wanted.filter(({ sha256 }) => !known.has(sha256));
}

export const checkUpgrade: Step<UpgradeJourney> = {
  name: 'preflight',
  description: 'checks the host for problems before anything on it is changed',
  usualMs: 5_000,
  limitMs: 30_000,
  remedy: checkCluster,
  async run({ address, ipv4, username, inventory, programs, prepared, isSwap }) {
    const missing = isSwap ? missingContents(programs, inventory.copies) : missingFiles(programs, inventory);
    preflight({ address, ipv4, username, inventory, missing, vxlanPort: prepared.inputs.vxlanPort });
  },
};

export const stageNext: Step<UpgradeJourney> = {
  name: 'stage next',
  description: 'uploads what the host has no copy of, as its next set of files; nothing that runs is touched',
  usualMs: 3 * 60_000,
  limitMs: 2 * 3_600_000,
  remedy: checkUpload,
  isDone: ({ isSwap }) => !isSwap,
  async run(journey, turn) {
    const { programs, prepared, inventory } = journey;
    // Separate from the files with tokens, which differ in every attempt: a complete upload is used again.
    if (missingContents(programs, inventory.copies).length > 0) await sendSet(journey, programs, turn);
    await sendSet(journey, [...programs, ...prepared.texts], turn);
  },
};

/** Before the journey may have to wait. */
export const recordStaged: Step<UpgradeJourney> = {
  name: 'record upgrade',
  description: 'records that the host is prepared, so that it waits for its turn without a connection',
  usualMs: 15_000,
  limitMs: 2 * 60_000,
  remedy: checkCluster,
  run: journey => journey.recordStaged(),
};

async function sendSet(journey: UpgradeJourney, files: readonly BundleFile[], turn: StepTurn): Promise<void> {
  const { agent, inventory, target: version } = journey;
  const missing = missingContents(files, inventory.copies);
  const next = { agent: agent.sha256, files: files.map(setFile) };
  const bundle = await sendBundle(journey, { version, files: missing, next }, inventory.bundles, turn);
  const copies = [...inventory.copies, ...missing.map(({ sha256 }) => sha256)];
  const sets = { ...inventory.sets, next: { version, agent: agent.sha256, bundle } };
  journey.inventory = { ...inventory, copies, sets };
}

function setFile({ path, sha256, bytes, secret }: BundleFile) {
  return { path, sha256, bytes, secret };
}
