import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import type { InstanceUpgrade } from '#contract/windows-instance/resource.ts';
import {
  isHeldByPin,
  isRetryRequested,
  isRollbackAccepted,
  upgradeState,
} from '#contract/windows-instance/upgrade-state.ts';
import { valueText } from './amounts.ts';
import type { HostProblem } from './host-view.ts';

/** How far an upgrade is, in words. */
export type UpgradeState = 'staging' | 'staged' | 'upgrading' | 'soaking' | 'upgraded' | 'rolling back' | 'rolled back';

/** The last upgrade of a host, ready to print. */
export interface UpgradeView extends InstanceUpgrade {
  state: UpgradeState;
  /** An administrator lets the others go on, although it was rolled back. */
  isAccepted: boolean;
  /** An administrator wants it to be tried again, and no pin holds it. */
  isRetried: boolean;
  /** The version in `accepted-rollback`, when it is not the one that failed: it is ignored. */
  otherAccepted: string | undefined;
}

export function upgradeOf(instance: WindowsInstance): UpgradeView | undefined {
  const { upgrade } = instance.status ?? {};
  if (upgrade === undefined) return undefined;
  const state = stateOf(upgrade);
  const hasFailed = state === 'rolling back' || state === 'rolled back';
  return {
    ...upgrade,
    state,
    isAccepted: hasFailed && isRollbackAccepted(instance),
    isRetried: hasFailed && isRetryRequested(instance) && !isHeldByPin(instance, upgrade.to),
    otherAccepted: hasFailed && !isRollbackAccepted(instance) ? acceptedVersion(instance) : undefined,
  };
}

function acceptedVersion({ metadata }: WindowsInstance): string | undefined {
  return metadata.annotations?.[instanceAnnotation.acceptedRollback] || undefined;
}

/** Says why the annotation has no effect. */
export function ignoredText({ otherAccepted, to }: Pick<UpgradeView, 'otherAccepted' | 'to'>): string | undefined {
  if (otherAccepted === undefined) return undefined;
  return `accepted-rollback is ${valueText(otherAccepted)}, not ${to}, and is ignored`;
}

function stateOf(upgrade: InstanceUpgrade): UpgradeState {
  const state = upgradeState(upgrade);
  if (state === 'none' || state === 'staging') return upgrade.staged === undefined ? 'staging' : 'staged';
  return stateNames[state];
}

const stateNames = {
  swapping: 'upgrading',
  soaking: 'soaking',
  soaked: 'upgraded',
  failed: 'rolling back',
  'rolled back': 'rolled back',
  'given up': 'upgrading',
} as const;

/** `upgrade 11.0.0 -> 11.1.0`. */
export function upgradeText({ from, to }: Pick<InstanceUpgrade, 'from' | 'to'>): string {
  return `upgrade ${from} -> ${to}`;
}

/** A rollback stops the roll-out of this version until an administrator decides. Later versions are not concerned. */
export function rollbackProblem(
  upgrade: UpgradeView | undefined,
  { name, operatorVersion, isPinned }: { name: string; operatorVersion: string; isPinned: boolean },
): HostProblem | undefined {
  if (upgrade?.failed === undefined || upgrade.state !== 'rolled back') return undefined;
  const { failed, from, to, isAccepted, isRetried } = upgrade;
  const isOver = operatorVersion !== '' && operatorVersion !== to;
  if (isAccepted || isRetried || isOver) return undefined;
  return {
    code: failed.code,
    message: `${upgradeText(upgrade)} failed, and the host runs ${from} again: ${failed.message}`,
    remedy:
      `To try it again, run \`${isPinned ? `wmco rollout unpin ${name} && ` : ''}wmco rollout retry ${name}\`; to upgrade ` +
      `the other hosts nevertheless, run \`wmco rollout continue\`` +
      `${isPinned ? '' : `; to keep the host at ${from}, run \`wmco rollout pin ${name}\``}.`,
  };
}
