import type { Waiting } from '#base/waiting/poll.ts';
import { activationFile } from '#contract/paths.ts';
import { removeActivator } from './activator.ts';
import { reportedFile } from './report-file.ts';
import type { SwapPorts } from './swap.ts';

/**
 * Ends a swap where it is, for a host that is configured anew or removed. The record of the current set is always whole, so
 * that later steps know which files belong to it.
 */
export async function cancelSwap(ports: SwapPorts, waiting: Waiting): Promise<void> {
  await removeActivator(ports, waiting);
  for (const path of [activationFile, reportedFile]) await ports.files.remove(path);
}
