import type { Waiting } from '#base/waiting/poll.ts';
import { activationFile } from '#contract/paths.ts';
import type { Files } from '../ports.ts';
import type { ServicePorts } from '../services/ensure.ts';
import { removeActivator } from './activator.ts';
import { rejectWhileSwapping } from './order.ts';
import { reportedFile } from './report-file.ts';
import { activationStatus } from './status.ts';

interface CancelPorts extends ServicePorts {
  files: Files;
}

/**
 * Ends a swap where it is, for a host that is configured anew or removed. The record of the current set is always whole, so
 * that later steps know which files belong to it.
 */
export async function cancelSwap(ports: CancelPorts, waiting: Waiting): Promise<void> {
  await removeActivator(ports, waiting);
  for (const path of [activationFile, reportedFile]) await ports.files.remove(path);
}

/** For a host that is configured anew: a swap that cannot go on is ended, and one that is under way is waited for. */
export async function endFailedSwap(ports: CancelPorts, waiting: Waiting): Promise<void> {
  const { state } = await activationStatus(ports.files);
  if (state === 'failed') await cancelSwap(ports, waiting);
  else await rejectWhileSwapping(ports.files);
}
