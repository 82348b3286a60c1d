import { instanceAnnotation } from '../names.ts';
import type { InstanceUpgrade } from './resource.ts';

/**
 * How far the last upgrade of a host is. `staging`: its files are prepared, or its node is drained. `swapping`: ordered to swap its
 * files, and not in service since. `failed`: it has to go back. `given up`: it failed while it was set up again with its own version,
 * so that there is nothing to go back to, and starts from the beginning.
 */
export type UpgradeState =
  | 'none'
  | 'staging'
  | 'swapping'
  | 'soaking'
  | 'soaked'
  | 'failed'
  | 'rolled back'
  | 'given up';

export function upgradeState(upgrade: InstanceUpgrade | undefined): UpgradeState {
  if (upgrade === undefined) return 'none';
  const { from, to, activated, ready, soaked, failed, rolledBack } = upgrade;
  if (failed !== undefined && from === to) return 'given up';
  if (failed !== undefined) return rolledBack === undefined ? 'failed' : 'rolled back';
  if (soaked !== undefined) return 'soaked';
  if (ready !== undefined) return 'soaking';
  return activated === undefined ? 'staging' : 'swapping';
}

interface Upgraded {
  metadata: { annotations?: Readonly<Record<string, string>> };
  status?: { upgrade?: InstanceUpgrade };
}

/** The version that this host has proved, as one of the first; setting up a host again with its own version proves nothing. */
export function provedVersion(upgrade: InstanceUpgrade | undefined): string | undefined {
  return upgradeState(upgrade) === 'soaked' && upgrade?.from !== upgrade?.to ? upgrade?.to : undefined;
}

/** The administrator has set another value of `retry` since the upgrade failed; to remove it requests nothing. */
export function isRetryRequested({ metadata, status }: Upgraded): boolean {
  const { [instanceAnnotation.retry]: retry = '' } = metadata.annotations ?? {};
  return retry !== '' && retry !== status?.upgrade?.retry;
}

/** The version that an administrator keeps the host at; undefined when it is upgraded like the others. */
export function pinnedVersionOf({ metadata }: Pick<Upgraded, 'metadata'>): string | undefined {
  return metadata.annotations?.[instanceAnnotation.pinnedVersion] || undefined;
}

/** A pin to another version keeps the host from being upgraded to this one. */
export function isHeldByPin(instance: Pick<Upgraded, 'metadata'>, version: string): boolean {
  return (pinnedVersionOf(instance) ?? version) !== version;
}

/** The administrator goes on with the roll-out, although it failed on this host. */
export function isRollbackAccepted({ metadata, status }: Upgraded): boolean {
  const accepted = metadata.annotations?.[instanceAnnotation.acceptedRollback];
  return accepted !== undefined && accepted === status?.upgrade?.to;
}

/** It has to go back, and the administrator goes on without it. */
export function isLeftBehind(instance: Upgraded): boolean {
  return upgradeState(instance.status?.upgrade) === 'failed' && isRollbackAccepted(instance);
}

/** The version whose roll-out this host stops. */
export function stoppedVersion(instance: Upgraded): string | undefined {
  const { upgrade } = instance.status ?? {};
  if (upgrade === undefined || !['failed', 'rolled back'].includes(upgradeState(upgrade))) return undefined;
  // A retry of a pinned host proves nothing: it is not tried before the pin is removed.
  const isTried = isRetryRequested(instance) && !isHeldByPin(instance, upgrade.to);
  return isRollbackAccepted(instance) || isTried ? undefined : upgrade.to;
}
