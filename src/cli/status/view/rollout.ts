import { timestamp } from '#base/clock.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { parseRollout, soakTimeMs } from '#contract/rollout.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { isHeldByPin, pinnedVersionOf, provedVersion } from '#contract/windows-instance/upgrade-state.ts';
import type { ClusterView, HostProblem } from './host-view.ts';
import { removalOf } from './removal.ts';
import { type UpgradeState, upgradeOf, type UpgradeView } from './upgrade.ts';

/** Each host of a roll-out is in one group, in the order in which they are printed. */
export const rolloutGroups = [
  'upgraded',
  'soaking',
  'upgrading',
  'staging',
  'staged',
  'waiting',
  'failing',
  'rolling back',
  'rolled back',
  'pinned',
  'paused',
] as const;
export type RolloutGroup = (typeof rolloutGroups)[number];

/** A host whose upgrade failed. */
export interface Rollback {
  host: string;
  from: string;
  code: string;
  message: string;
  /** When the failure was noticed. */
  at: string;
  isBack: boolean;
  /** The rollback fails, too: the host still has the version that failed, or parts of it. */
  isStuck: boolean;
  isAccepted: boolean;
  /** It is tried again, and stops nothing meanwhile. */
  isRetried: boolean;
  /** A pin keeps it from being tried again. */
  isPinned: boolean;
  /** The version in `accepted-rollback`, when it is not the one that failed. */
  otherAccepted: string | undefined;
}

/** How far the hosts are on the way to the version of the operator. */
export interface RolloutView {
  version: string;
  /** Configured hosts that are to stay. */
  hosts: number;
  counts: Readonly<Record<RolloutGroup, number>>;
  /** No further node is taken out of service, and no upgrade starts. */
  isPaused: boolean;
  /** A host was rolled back, and no administrator has accepted it or tries it again. */
  isStopped: boolean;
  /** Hosts that still have to soak before others follow; undefined while the setting is invalid. */
  firstLeft: number | undefined;
  /** `until` is empty when it is not known. */
  soaking: readonly { host: string; until: string }[];
  upgrading: readonly string[];
  failing: readonly string[];
  rollbacks: readonly Rollback[];
  /** Also those that the roll-out does not concern; `runs` is the version of the host. */
  pinned: readonly { host: string; version: string; runs: string | undefined }[];
  /** The operator keeps the last valid values, which only it knows. */
  invalidSettings: readonly (HostProblem & { key: string })[];
  /** Keys of the settings that mean nothing. */
  unknownSettings: readonly HostProblem[];
}

/** Undefined when no version is known. */
export function rolloutOf(view: ClusterView): RolloutView | undefined {
  const version = rolloutVersion(view);
  if (version === undefined) return undefined;
  const upgradeGrants = new Set(view.grants.flatMap(each => (each.journey === 'upgrade' ? [each.instance] : [])));
  const members = view.instances.flatMap(instance => memberOf(instance, version, upgradeGrants));
  const inGroup = (group: RolloutGroup) => members.filter(member => member.group === group);
  const namesIn = (group: RolloutGroup) => inGroup(group).map(({ host }) => host);
  const counts = Object.fromEntries(rolloutGroups.map(group => [group, 0])) as Record<RolloutGroup, number>;
  for (const { group } of members) counts[group] += 1;
  const { settings, invalid, problems } = parseRollout(view.rollout, view);
  const unknown = problems.filter(({ code }) => code === 'ROLLOUT_SETTING_UNKNOWN');
  const soaked = members.filter(({ upgrade }) => provedVersion(upgrade) !== undefined).length;
  const firstLeft = invalid.has('first') ? undefined : Math.max(0, settings.first - soaked);
  const isSoakKnown = !invalid.has('soak') && (settings.soakMs !== undefined || !invalid.has('first'));
  const soakMs = isSoakKnown ? soakTimeMs(settings, soaked) : Number.NaN;
  const rollbacks = members.flatMap(rollbackOf);
  return {
    version,
    hosts: members.length,
    counts,
    isPaused: settings.isPaused,
    isStopped: rollbacks.some(stopsRollout),
    firstLeft,
    soaking: inGroup('soaking').map(({ host, upgrade }) => ({ host, until: later(upgrade?.ready ?? '', soakMs) })),
    upgrading: namesIn('upgrading'),
    failing: namesIn('failing'),
    rollbacks,
    pinned: view.instances.flatMap(pinOf),
    invalidSettings: [...invalid].map(([key, { code, message, remedy }]) => ({ key, code, message, remedy })),
    unknownSettings: unknown.map(({ code, message, remedy }) => ({ code, message, remedy })),
  };
}

/** As the operator decides it. */
export function stopsRollout({ isAccepted, isRetried }: Rollback): boolean {
  return !isAccepted && !isRetried;
}

/** Others wait for a decision; a host that cannot go back keeps its grant until that is accepted, also if it is retried. */
export function needsAcceptance(rollback: Rollback): boolean {
  return stopsRollout(rollback) || (rollback.isStuck && !rollback.isAccepted);
}

/** True while there is something to see: a host that is not upgraded for good, and was not left behind on purpose. */
export function isRolloutOpen({ hosts, counts, isPaused, isStopped }: RolloutView): boolean {
  return isPaused || isStopped || counts.upgraded + counts.pinned + counts.paused < hosts;
}

/** That of the operator; before it has written it, that of the last upgrade, because versions have no order. */
function rolloutVersion({ operatorVersion, instances }: ClusterView): string | undefined {
  if (operatorVersion !== '') return operatorVersion;
  const upgrades = instances.flatMap(({ status }) => status?.upgrade ?? []);
  const lastMs = ({ staged, activated }: (typeof upgrades)[number]) => Date.parse(activated ?? staged ?? '') || 0;
  return upgrades.toSorted((one, other) => lastMs(other) - lastMs(one))[0]?.to;
}

interface Member {
  host: string;
  instance: WindowsInstance;
  group: RolloutGroup;
  /** To the version of the roll-out. */
  upgrade: UpgradeView | undefined;
}

function pinOf(instance: WindowsInstance): RolloutView['pinned'][number][] {
  const version = pinnedVersionOf(instance);
  if (version === undefined || removalOf(instance) !== undefined) return [];
  return [{ host: instance.metadata.name ?? '', version, runs: instance.status?.version }];
}

/** Hosts that are removed, or not configured yet, are not upgraded. */
function memberOf(instance: WindowsInstance, version: string, upgradeGrants: ReadonlySet<string>): Member[] {
  const { name: host = '' } = instance.metadata;
  if (instance.status?.version === undefined || removalOf(instance) !== undefined) return [];
  const last = upgradeOf(instance);
  const upgrade = last?.to === version ? last : undefined;
  const group = groupOf(instance, version, upgrade?.state, upgradeGrants.has(host));
  return [{ host, instance, upgrade, group }];
}

function groupOf(
  instance: WindowsInstance,
  version: string,
  state: UpgradeState | undefined,
  hasGrant: boolean,
): RolloutGroup {
  const { status = {}, spec } = instance;
  if (state === 'rolling back' || state === 'rolled back') return state;
  if (status.version === version) return state === 'soaking' ? state : 'upgraded';
  if (state === 'upgrading' || state === 'soaking') return 'upgrading';
  if (isHeldByPin(instance, version)) return 'pinned';
  return spec.paused === true ? 'paused' : groupInService(status, state, hasGrant);
}

/** Of a host that still runs the version before, and may be upgraded. */
function groupInService(
  { journey, phase }: WindowsInstanceStatus,
  state: UpgradeState | undefined,
  hasGrant: boolean,
): RolloutGroup {
  const isRunning = journey?.name === 'upgrade';
  if (isRunning && phase === 'Failed') return 'failing';
  if (hasGrant) return 'upgrading';
  if (state === 'staged') return state;
  return isRunning ? 'staging' : 'waiting';
}

function rollbackOf({ host, upgrade, instance }: Member): Rollback[] {
  if (upgrade?.failed === undefined || !['rolling back', 'rolled back'].includes(upgrade.state)) return [];
  const { from, failed, state, isAccepted, isRetried, otherAccepted } = upgrade;
  const isPinned = isHeldByPin(instance, upgrade.to);
  const { journey, phase } = instance.status ?? {};
  const isBack = state === 'rolled back';
  const isStuck = !isBack && journey?.name === 'rollback' && phase === 'Failed';
  return [{ host, from, ...failed, isBack, isStuck, isAccepted, isRetried, isPinned, otherAccepted }];
}

/** Empty when the time cannot be read. */
function later(time: string, ms: number): string {
  const endMs = new Date(Date.parse(time) + ms).getTime();
  return Number.isNaN(endMs) ? '' : timestamp(endMs);
}
