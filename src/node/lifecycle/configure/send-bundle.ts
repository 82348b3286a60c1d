import { isAppError } from '#base/errors.ts';
import type { Inventory } from '#contract/inventory.ts';
import { bundlePath } from '#contract/paths.ts';
import type { BundleContent } from '../../bundle.ts';
import type { PreparedBundle } from '../../bundle-hash-cache.ts';
import { askAgent } from '../agent-call.ts';
import type { HostJourney } from '../host-journey.ts';
import type { StepTurn } from '../step.ts';

/** For a few hundred megabytes on a slow disk. */
const stageMs = 15 * 60_000;

/** Smaller bundles do not wait for an upload slot. Text files are smaller, programs are not. */
const smallBytes = 1024 * 1024;

/**
 * Brings files to the host: one upload named by the hash of its content, one command that unpacks it. A complete upload of an earlier
 * attempt is used again. Returns its hash.
 */
export async function sendBundle(
  journey: HostJourney,
  content: BundleContent,
  uploaded: Inventory['bundles'],
  turn: StepTurn,
): Promise<string> {
  const bundle = await journey.deps.bundleHashes.prepare(content);
  const mode = content.next === undefined ? 'stage' : 'stageNext';
  const isUploaded = uploaded[bundle.sha256] === bundle.bytes;
  if (!isUploaded) await upload(journey, bundle, turn);
  try {
    await stage(journey, bundle, mode, turn);
  } catch (error) {
    // It changed on the host. A bundle with a damaged header cannot be read at all.
    const isChanged = isAppError(error, 'BUNDLE_DAMAGED') || isAppError(error, 'BUNDLE_MALFORMED');
    if (!isChanged) throw error;
    // Rejects if it changed in the payload cache; the next attempt packs the file again.
    await bundle.check();
    if (!isUploaded) throw error;
    await upload(journey, bundle, turn);
    await stage(journey, bundle, mode, turn);
  }
  return bundle.sha256;
}

async function upload({ host, deps }: HostJourney, bundle: PreparedBundle, turn: StepTurn): Promise<void> {
  const { signal, note, report, queued } = turn;
  const { bytes: totalBytes } = bundle;
  const isSmall = totalBytes <= smallBytes;
  if (!isSmall) note(`waiting for uploads of ${deps.slots.uploads.taken} other hosts`);
  using _slot = isSmall ? undefined : await queued(() => deps.slots.uploads.take(signal));
  note(undefined);
  report({ bytes: 0, totalBytes });
  await host.upload(bundlePath(bundle.sha256), bundle, {
    signal,
    onProgress: bytes => report({ bytes, totalBytes }),
  });
}

async function stage(
  { host, address, commands }: HostJourney,
  bundle: PreparedBundle,
  mode: 'stage' | 'stageNext',
  turn: StepTurn,
): Promise<void> {
  turn.note('the agent unpacks and checks the files');
  const command = commands[mode](bundlePath(bundle.sha256), bundle.sha256);
  const { signal, note } = turn;
  await askAgent({ host, address, command, signal, note, timeoutMs: stageMs });
}
