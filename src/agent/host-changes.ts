import { AppError, shown } from '#base/errors.ts';
import type { FeatureState, System } from './ports.ts';

/** Changes of the host as a whole, each of which can be asked for again without doing more than once was asked. */

export type RebootOutcome = { rebooting: true; inSeconds: number } | { rebooting: false; why: string };

/** Reboots only in the boot that the caller has seen: a command that arrives twice must not reboot twice. */
export async function rebootHost(
  seenBootId: string,
  delaySeconds: number,
  system: Pick<System, 'bootId' | 'reboot'>,
): Promise<RebootOutcome> {
  if ((await system.bootId()) !== seenBootId) return { rebooting: false, why: 'already rebooted' };
  await system.reboot(delaySeconds, 'Configured as a Kubernetes node');
  return { rebooting: true, inSeconds: delaySeconds };
}

export interface RenameOutcome {
  hostName: string;
  /** By which old protocols know the host: the beginning of its name. */
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

/** One DNS label. Windows takes up to 63 characters and knows the host by the first 15 besides, which must be a name too. */
function checkHostName(name: string): void {
  const refuse = (what: string) =>
    new AppError('HOST_NAME_INVALID', `${shown(name)} cannot be the name of a Windows host: ${what}`, {
      remedy: 'Use letters, digits and hyphens, at most 63 (best 15), beginning and ending with a letter or digit.',
    });
  if (name === '' || name.length > 63) throw refuse(`it has ${name.length} characters`);
  if (!/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/i.test(name)) throw refuse('it is no DNS label');
  if (/^\d+$/.test(name)) throw refuse('it has digits only');
}

export interface ContainersOutcome {
  /** As it was when it was looked at. */
  before: FeatureState;
  changed: boolean;
  rebootNeeded: boolean;
}

/** Switches on the Windows feature without which there are no containers. */
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
