import { isAppError } from '#base/errors.ts';
import type { Inventory } from '#contract/inventory.ts';
import { bundlePath } from '#contract/paths.ts';
import type { BundleContent, PreparedBundle } from '../../bundle-hash-cache.ts';
import { askAgent } from '../agent-call.ts';
import type { StepTurn } from '../step.ts';
import type { ConfigureJourney } from './journey.ts';

/** Unpacking and checking a few hundred megabytes on a slow disk. */
const stageMs = 15 * 60_000;

/** Below this a bundle need not wait for others: texts are, programs are not. */
const smallBytes = 1024 * 1024;

/**
 * Brings files to the host: one upload under the hash of its content, one command that puts all in place. What an earlier
 * attempt has uploaded whole is not sent again.
 */
export async function sendBundle(
  journey: ConfigureJourney,
  content: BundleContent,
  waiting: Inventory['bundles'],
  turn: StepTurn,
): Promise<void> {
  const bundle = await journey.world.bundleHashes.prepare(content);
  const isThere = waiting[bundle.sha256] === bundle.bytes;
  if (!isThere) await upload(journey, bundle, turn);
  try {
    await stage(journey, bundle, turn);
  } catch (error) {
    // It was changed where it lay. One whose beginning is damaged cannot even be read.
    const isChanged = isAppError(error, 'BUNDLE_DAMAGED') || isAppError(error, 'BUNDLE_MALFORMED');
    if (!isChanged) throw error;
    // If it was changed on our side, this rejects, and the next attempt gets a file that is packed again.
    await bundle.check();
    if (!isThere) throw error;
    await upload(journey, bundle, turn);
    await stage(journey, bundle, turn);
  }
}

async function upload({ host, world }: ConfigureJourney, bundle: PreparedBundle, turn: StepTurn): Promise<void> {
  const { signal, note, report } = turn;
  const { bytes: totalBytes } = bundle;
  const isSmall = totalBytes <= smallBytes;
  if (!isSmall) note(`${world.slots.uploads.taken} other hosts upload`);
  using _slot = isSmall ? undefined : await world.slots.uploads.take(signal);
  note(undefined);
  report({ bytes: 0, totalBytes });
  await host.upload(bundlePath(bundle.sha256), bundle, {
    signal,
    onProgress: bytes => report({ bytes, totalBytes }),
  });
}

async function stage(
  { host, address, commands }: ConfigureJourney,
  bundle: PreparedBundle,
  turn: StepTurn,
): Promise<void> {
  turn.note('the host unpacks and checks the files');
  const command = commands.stage(bundlePath(bundle.sha256), bundle.sha256);
  await askAgent({ host, address, command, signal: turn.signal, timeoutMs: stageMs });
}
