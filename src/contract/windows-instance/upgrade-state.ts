import { instanceAnnotation } from '../names.ts';
import type { InstanceUpgrade } from './resource.ts';

/**
 * How far the last upgrade of a host is. `staging`: its files are prepared, or its node is drained. `swapping`: ordered to swap its
 * files, and not in service since. `failed`: it has to go back.
 */
export type UpgradeState = 'none' | 'staging' | 'swapping' | 'soaking' | 'soaked' | 'failed' | 'rolled back';

export function upgradeState(upgrade: InstanceUpgrade | undefined): UpgradeState {
  if (upgrade === undefined) return 'none';
  const { activated, ready, soaked, failed, rolledBack } = upgrade;
  if (failed !== undefined) return rolledBack === undefined ? 'failed' : 'rolled back';
  if (soaked !== undefined) return 'soaked';
  if (ready !== undefined) return 'soaking';
  return activated === undefined ? 'staging' : 'swapping';
}

interface Upgraded {
  metadata: { annotations?: Readonly<Record<string, string>> };
  status?: { upgrade?: InstanceUpgrade };
}

/** The administrator has set another value of `retry` since the upgrade failed. */
export function isRetryRequested({ metadata, status }: Upgraded): boolean {
  return (metadata.annotations?.[instanceAnnotation.retry] ?? '') !== (status?.upgrade?.retry ?? '');
}

/** The administrator goes on with the roll-out, although it failed on this host. */
export function isRollbackAccepted({ metadata, status }: Upgraded): boolean {
  const accepted = metadata.annotations?.[instanceAnnotation.acceptedRollback];
  return accepted !== undefined && accepted === status?.upgrade?.to;
}

/** The version whose roll-out this host stops. */
export function stoppedVersion(instance: Upgraded): string | undefined {
  const { upgrade } = instance.status ?? {};
  if (upgrade?.failed === undefined || isRollbackAccepted(instance) || isRetryRequested(instance)) return undefined;
  return upgrade.to;
}
