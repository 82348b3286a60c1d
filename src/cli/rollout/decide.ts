import { findCondition } from '#base/condition.ts';
import { shown } from '#base/errors.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { isHeldByPin } from '#contract/windows-instance/upgrade-state.ts';
import { conditionReason } from '#node/lifecycle/instance-status.ts';
import { shellWord } from '../shell-quote.ts';
import { type InstanceTarget, requestRefused } from '../status/instance-target.ts';
import { valueText } from '../status/view/amounts.ts';
import { needsAcceptance, type Rollback, type RolloutView, stopsRollout } from '../status/view/rollout.ts';

/** The rollbacks that an administrator can accept now: those that have ended or failed. Fails if there are none, or if one runs. */
export function acceptableRollbacks(rollout: RolloutView | undefined): readonly Rollback[] {
  const open = (rollout?.rollbacks ?? []).filter(needsAcceptance);
  const [running] = open.filter(({ isBack, isStuck }) => !isBack && !isStuck);
  if (running !== undefined) {
    throw requestRefused(
      `host ${shown(running.host)} is still going back to ${running.from}`,
      `Wait until \`wmco status -w ${shellWord(running.host)}\` shows RolledBack, and run the command again.`,
    );
  }
  if (open.length > 0) return open;
  throw requestRefused(
    'no rollback stops the roll-out',
    rollout?.isPaused === true
      ? 'It is paused; to go on, run `wmco rollout resume`.'
      : 'Run `wmco rollout` to see what it waits for.',
  );
}

/** Fails unless the host waits for a new attempt. */
export function checkRetry({ host, instance }: InstanceTarget): void {
  const { name, upgrade } = host;
  if (upgrade?.state === 'rolled back' || instance.status?.phase === 'Failed' || isClaimHeld(instance)) return;
  if (upgrade?.state === 'rolling back') {
    throw requestRefused(
      `host ${shown(name)} is still going back to ${upgrade.from}`,
      `Wait until \`wmco status -w ${shellWord(name)}\` shows RolledBack, and run the command again.`,
    );
  }
  throw requestRefused(
    `host ${shown(name)} was not rolled back and has not failed: it is ${host.phase}`,
    'Run `wmco rollout` to see what the roll-out waits for.',
  );
}

/** Its Node claims another version, and it was set up again already: the operator waits for a day, or for a retry. */
function isClaimHeld({ status }: InstanceTarget['instance']): boolean {
  const ready = findCondition(status?.conditions, instanceCondition.ready);
  return status?.upgrade?.repeated !== undefined && ready?.reason === conditionReason.waits;
}

/** Says what happens to a host that is retried: a pin holds it, unless it is in the middle of its upgrade. */
export function retriedText({ host, instance }: InstanceTarget): string {
  const { name, upgrade, pinnedVersion: pin = '' } = host;
  const isDue = isClaimHeld(instance) || ['rolled back', 'staging', 'staged'].includes(upgrade?.state ?? '');
  if (upgrade !== undefined && isDue && isHeldByPin(instance, upgrade.to))
    return `Host ${name} is pinned to ${valueText(pin)}, and is tried again after \`wmco rollout unpin ${shellWord(name)}\`.`;
  return `Host ${name} is tried again; \`wmco status -w ${shellWord(name)}\` follows it.`;
}

/** The version that the host runs, which must be the wanted one if there is one. */
export function versionToPin({ host, instance }: InstanceTarget, wanted: string): string {
  const { version } = instance.status ?? {};
  const { name, upgrade } = host;
  if (version === undefined) {
    throw requestRefused(
      `host ${shown(name)} runs no version yet: it is ${host.phase}`,
      `Run the command again when \`wmco status ${shellWord(name)}\` shows Ready.`,
    );
  }
  if (upgrade?.to !== version && (upgrade?.state === 'upgrading' || upgrade?.state === 'rolling back')) {
    throw requestRefused(
      `host ${shown(name)} is ${upgrade.state}: from ${upgrade.from} to ${upgrade.to}`,
      `Run the command again when \`wmco status ${shellWord(name)}\` shows the end.`,
    );
  }
  if (wanted !== '' && wanted !== version) {
    throw requestRefused(
      `host ${shown(name)} runs ${version}, not ${shown(wanted)}`,
      `A host can only be kept at the version that it runs: run \`wmco rollout pin ${shellWord(name)}\`.`,
    );
  }
  return version;
}

/** The version that the host is pinned to. Fails if it is not pinned. */
export function pinnedVersion({ host }: InstanceTarget): string {
  if (host.pinnedVersion !== undefined) return host.pinnedVersion;
  throw requestRefused(`host ${shown(host.name)} is not pinned`, 'Run `wmco rollout` to see the pinned hosts.');
}

/** What still keeps a host waiting after it may be upgraded. */
export function remainingWaits(rollout: RolloutView | undefined, host?: string): string[] {
  const others = (rollout?.rollbacks ?? []).filter(each => stopsRollout(each) && each.host !== host);
  return [
    ...(rollout?.isPaused === true ? ['The roll-out is paused; to go on, run `wmco rollout resume`.'] : []),
    ...(others.length > 0
      ? [`The roll-out is stopped by the rollback of ${others[0]?.host}; \`wmco rollout\` shows what to do.`]
      : []),
  ];
}
