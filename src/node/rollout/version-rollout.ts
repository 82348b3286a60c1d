import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import {
  isRollbackAccepted,
  stoppedVersion,
  type UpgradeState,
  upgradeState,
} from '#contract/windows-instance/upgrade-state.ts';
import type { RolloutSettings } from '#contract/rollout.ts';
import type { Grant } from '#contract/rollout-grants.ts';

/** The last upgrade of a host as far as the roll-out is concerned. */
export interface HostUpgrade {
  /** Version of the operator. */
  to: string;
  state: UpgradeState;
  /** It was set up again with its own version, which proves nothing. */
  isRepeated?: boolean;
  /** It failed, and the roll-out of its version waits for an administrator. */
  isStopping: boolean;
  /** It failed, and an administrator goes on nevertheless. */
  isAccepted: boolean;
  /** When the host was ordered to swap its files. */
  activatedMs?: number;
  /** When the host had soaked or was rolled back. */
  endedMs?: number;
}

export function hostUpgrade(instance: WindowsInstance): HostUpgrade | undefined {
  const { upgrade } = instance.status ?? {};
  if (upgrade === undefined) return undefined;
  const activatedMs = Date.parse(upgrade.activated ?? '');
  const endedMs = Date.parse(upgrade.rolledBack ?? upgrade.soaked ?? '');
  return {
    to: upgrade.to,
    state: upgradeState(upgrade),
    ...(upgrade.from === upgrade.to && { isRepeated: true }),
    isStopping: stoppedVersion(instance) !== undefined,
    isAccepted: isRollbackAccepted(instance),
    ...(!Number.isNaN(activatedMs) && { activatedMs }),
    ...(!Number.isNaN(endedMs) && { endedMs }),
  };
}

/** From the order to swap files until the node has soaked or is back: its grant stays so long. */
export function isUpgradeOpen(upgrade: HostUpgrade | undefined): boolean {
  if (upgrade === undefined) return false;
  const { state, isAccepted } = upgrade;
  return state === 'swapping' || state === 'soaking' || (state === 'failed' && !isAccepted);
}

interface UpgradedHost {
  instance: string;
  uid: string;
  node: string;
  upgrade?: HostUpgrade;
}

export interface RolloutFacts {
  hosts: readonly UpgradedHost[];
  grants: readonly Pick<Grant, 'uid' | 'node' | 'journey'>[];
  settings: Pick<RolloutSettings, 'first'>;
  /** Of this operator: the version that hosts are upgraded to. */
  version: string;
}

/** How far the roll-out of a version is. */
export interface VersionRollout {
  /** Names of instances that stop it. */
  stoppedBy: string[];
  /** Nodes that are being upgraded or soak. */
  running: { uid: string; node: string }[];
  /** How many may run at once until the first hosts have soaked; undefined afterwards. */
  limit: number | undefined;
}

export function versionRollout({ hosts, grants, settings, version }: RolloutFacts): VersionRollout {
  const own = hosts.filter(({ upgrade }) => upgrade?.to === version);
  const open = new Set(hosts.filter(({ upgrade }) => isUpgradeOpen(upgrade)).map(({ uid }) => uid));
  // An administrator goes on without them: one that is dead would never make room for the next.
  const left = new Set(
    hosts.filter(({ upgrade }) => upgrade?.state === 'failed' && upgrade.isAccepted).map(({ uid }) => uid),
  );
  const soaked = own.filter(({ upgrade }) => upgrade?.state === 'soaked' && !upgrade.isRepeated).length;
  const isUpgrade = ({ journey, uid }: RolloutFacts['grants'][number]) =>
    !left.has(uid) && (journey === 'upgrade' || journey === 'rollback' || open.has(uid));
  return {
    stoppedBy: own.filter(({ upgrade }) => upgrade?.isStopping === true).map(({ instance }) => instance),
    running: grants.filter(isUpgrade).map(({ uid, node }) => ({ uid, node })),
    limit: soaked < settings.first ? settings.first - soaked : undefined,
  };
}

/** Why no upgrade of another host starts now; undefined if one may. */
export function rolloutRefusal({ stoppedBy, running, limit }: VersionRollout, version: string): string | undefined {
  if (stoppedBy.length > 0) return `the roll-out of ${version} is stopped: it failed on ${names(stoppedBy)}`;
  if (limit === undefined || running.length < limit) return undefined;
  return `the first hosts must have soaked before others follow; it waits for ${names(running.map(({ node }) => node))}`;
}

/** More names would not fit into a status. */
const maxNames = 3;

export function names(all: readonly string[]): string {
  const shown = all.slice(0, maxNames).join(', ');
  return all.length > maxNames ? `${shown} and ${all.length - maxNames} more` : shown;
}
