import type { Processes } from '../ports.ts';

const shimProcess = 'containerd-shim-runhcs-v1';

/** Containers that survive a drain, such as those of DaemonSets, keep the executable of the shim open. */
export async function endShims(processes: Pick<Processes, 'killByName'>): Promise<void> {
  await processes.killByName(shimProcess).catch(() => undefined);
}
