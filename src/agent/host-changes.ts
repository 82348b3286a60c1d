import { AppError, shown } from '#base/errors.ts';
import { orderedRebootFile } from '#contract/paths.ts';
import type { FeatureState, Files, System } from './ports.ts';

/** Changes of the whole host. All are idempotent. */

export type RebootOutcome = { rebooting: true; inSeconds: number } | { rebooting: false; why: string };

/** Reboots only in the boot that the caller names: a command that arrives twice must not reboot twice. */
export async function rebootHost(
  seenBootId: string,
  delaySeconds: number,
  { system, files }: { system: Pick<System, 'bootId' | 'reboot'>; files: Pick<Files, 'write'> },
): Promise<RebootOutcome> {
  if ((await system.bootId()) !== seenBootId) return { rebooting: false, why: 'already rebooted' };
  // Without it the agent only reports the reboot as an unplanned one.
  await files.write(orderedRebootFile, seenBootId).catch(() => undefined);
  await system.reboot(delaySeconds, 'Configured as a Kubernetes node');
  return { rebooting: true, inSeconds: delaySeconds };
}

export interface RenameOutcome {
  hostName: string;
  /** The first 15 characters of the host name, in upper case. */
  netbiosName: string;
  changed: boolean;
  rebootNeeded: boolean;
}

const netbiosLength = 15;

export async function renameHost(name: string, system: Pick<System, 'hostName' | 'rename'>): Promise<RenameOutcome> {
  checkHostName(name);
  const netbiosName = name.slice(0, netbiosLength).toUpperCase();
  const current = await system.hostName();
  if (current.toLowerCase() === name.toLowerCase()) {
    return { hostName: current, netbiosName, changed: false, rebootNeeded: false };
  }
  return { hostName: name, netbiosName, changed: true, rebootNeeded: await system.rename(name) };
}

/** One DNS label of at most 63 characters. The first 15 are the NetBIOS name, which must be valid, too. */
function checkHostName(name: string): void {
  const invalid = (what: string) =>
    new AppError('HOST_NAME_INVALID', `${shown(name)} is not a valid Windows host name: ${what}`, {
      remedy: 'Use at most 63 (ideally 15) letters, digits and hyphens, with a letter or digit at both ends.',
    });
  if (name === '' || name.length > 63) throw invalid(`it has ${name.length} characters`);
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/i.test(name)) throw invalid('it is not a DNS label');
  if (/^\d+$/.test(name)) throw invalid('it has only digits');
}

export interface ContainersOutcome {
  before: FeatureState;
  changed: boolean;
  rebootNeeded: boolean;
}

/** Enables the Windows feature Containers. */
export async function enableContainers(
  system: Pick<System, 'containersFeature' | 'enableContainers'>,
  signal: AbortSignal,
): Promise<ContainersOutcome> {
  const before = await system.containersFeature();
  if (before === 'enabled') return { before, changed: false, rebootNeeded: false };
  if (before === 'enable-pending') return { before, changed: false, rebootNeeded: true };
  const rebootNeeded = await system.enableContainers(signal);
  return { before, changed: true, rebootNeeded };
}
