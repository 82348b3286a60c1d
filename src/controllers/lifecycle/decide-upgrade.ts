import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation, nodeAnnotation, nodeLabel } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { isUpToDate, needsUpgrade } from '#contract/node-marks.ts';
import type { RolloutSettings } from '#contract/rollout.ts';
import { isVersionText } from '#contract/version.ts';
import {
  isHeldByPin,
  isRetryRequested,
  pinnedVersionOf,
  upgradeState,
} from '#contract/windows-instance/upgrade-state.ts';
import type { JourneyName } from '#contract/windows-instance/resource.ts';
import { rebootLimit } from '#node/lifecycle/reboot/due.ts';
import { choicesText, retryText } from '#node/lifecycle/upgrade/choices-text.ts';
import { pausedText } from '#node/rollout/budget.ts';
import { claimLimit } from './version-claim.ts';

/** When a host is upgraded or rolled back, and what holds it back. */

export interface ChangeFacts {
  instance: WindowsInstance;
  node: NodeView | undefined;
  /** Of this operator. */
  version: string;
  nowMs: number;
}

/** What the cluster says about upgrades and reboots. */
export interface RolloutView {
  settings: Pick<RolloutSettings, 'isPaused'>;
  /** Instances on which the upgrade to this version failed. */
  stoppedBy: readonly FailedHost[];
}

interface FailedHost {
  name: string;
  /** Its former version. */
  from: string;
  /** It is kept at its version, also if it is retried. */
  isPinned: boolean;
}

/**
 * In the middle of an upgrade or rollback the Node has no version for a while; it must not be configured again. One that registered
 * again is another Node.
 */
export function isBetweenVersions({ instance, node }: Pick<ChangeFacts, 'instance' | 'node'>): boolean {
  const { version, upgrade, nodeUID } = instance.status ?? {};
  if (version === undefined || node === undefined || (nodeUID ?? node.uid) !== node.uid) return false;
  return ['staging', 'swapping', 'failed', 'given up'].includes(upgradeState(upgrade));
}

/** Its host has swapped its files, so that the upgrade must come to its end before anything else. */
export function whyFinishUpgrade({ instance, node, version }: ChangeFacts): string | undefined {
  const { upgrade } = instance.status ?? {};
  const isInMiddle = node !== undefined && upgradeState(upgrade) === 'swapping';
  return isInMiddle ? `upgrade ${upgrade?.from} -> ${version}` : undefined;
}

/** A Node of another version is upgraded once its host is recorded; an unfinished one is configured. */
export function whyUpgrade(facts: ChangeFacts): string | undefined {
  const { instance, node, version } = facts;
  const { host, upgrade } = instance.status ?? {};
  if (host === undefined || node === undefined) return undefined;
  if (whyFinishUpgrade(facts) !== undefined || whyRollback(facts) !== undefined) return undefined;
  const isCleared = node.annotations[nodeAnnotation.version] === undefined && isBetweenVersions(facts);
  const isDue = isCleared || isHalfDone(facts) || needsUpgrade(node, version) || isUnproved(facts);
  if (!isDue) return undefined;
  return `upgrade ${formerVersion(facts) ?? upgrade?.from ?? 'of an unknown version'} -> ${version}`;
}

/**
 * Its Node claims the version, and no journey has brought it there: it lies, or its host swapped its files while it was adopted. The
 * journey looks at the host.
 */
function isUnproved({ instance, node, version }: ChangeFacts): boolean {
  const { version: recorded = '', upgrade } = instance.status ?? {};
  return (
    recorded !== '' &&
    recorded !== version &&
    ['none', 'staging'].includes(upgradeState(upgrade)) &&
    isUpToDate(node, version)
  );
}

/** Its upgrade failed after its files were changed; what its Node reports may be older. */
export function isHalfDone({ instance }: Pick<ChangeFacts, 'instance'>): boolean {
  return ['failed', 'given up'].includes(upgradeState(instance.status?.upgrade));
}

/**
 * The record counts; a Node can claim anything, which is shown only without a record, and if it looks like a version. A host that has
 * this version by the record is set up with it again, unless its Node lost its version in the middle of an upgrade.
 */
function formerVersion({ instance, node, version }: ChangeFacts): string | undefined {
  const recorded = instance.status?.version || undefined;
  const claimed = node?.annotations[nodeAnnotation.version];
  if (recorded !== undefined) return recorded !== version || claimed !== undefined ? recorded : undefined;
  return isVersionText(claimed) ? claimed : undefined;
}

/**
 * A host that failed comes back first, whatever version is wanted. One whose former files are gone is upgraded to a fixed version of
 * the operator. An administrator who retries can have it upgraded instead, unless it would go to the version that failed.
 */
export function whyRollback({ instance, node, version }: ChangeFacts): string | undefined {
  const { upgrade } = instance.status ?? {};
  if (upgrade === undefined || node === undefined || upgradeState(upgrade) !== 'failed') return undefined;
  const [hasWayBack, isSame] = [upgrade.fromAgent !== undefined, upgrade.to === version];
  const isDue = isRetryRequested(instance) ? hasWayBack && isSame : hasWayBack || isSame;
  return isDue ? `rollback ${upgrade.to} -> ${upgrade.from}: ${upgrade.failed?.code}` : undefined;
}

/** The operator has taken its node out of service for this journey, and brings it back although the roll-out is paused. */
export function isUnfinished({ instance, node }: Pick<ChangeFacts, 'instance' | 'node'>, name: JourneyName): boolean {
  const { journey, upgrade } = instance.status ?? {};
  if (name === 'upgrade' && upgradeState(upgrade) === 'swapping') return true;
  // A failed upgrade goes on as a rollback.
  const isOwn = journey?.name === name || (name === 'rollback' && journey?.name === 'upgrade');
  return isOwn && finished.has(name) && node !== undefined && isTakenOut(node);
}

/** Journeys that bring a node back which they have taken out of service. */
const finished: ReadonlySet<JourneyName> = new Set(['upgrade', 'rollback', 'reboot']);

/** The operator has taken the Node out of service; one that an administrator had cordoned has only the label. */
export function isTakenOut({ annotations, labels }: NodeView): boolean {
  return Object.hasOwn(annotations, nodeAnnotation.cordoned) || Object.hasOwn(labels, nodeLabel.upgrading);
}

/** Also an instance that is paused: its host has been changed, and would stay out of service. A drain is stopped. */
export function isChanged(facts: Pick<ChangeFacts, 'instance' | 'node'>, name: JourneyName): boolean {
  const { upgrade, reboot } = facts.instance.status ?? {};
  if (name === 'upgrade') return upgradeState(upgrade) === 'swapping';
  return isUnfinished(facts, name) && (name === 'rollback' || reboot !== undefined);
}

/** Why an upgrade or reboot that is due has to wait, beside the budget. */
export function changeGates(facts: ChangeFacts, view: RolloutView): Partial<Record<JourneyName, string>> {
  const upgrade = isUnfinished(facts, 'upgrade') ? undefined : upgradeGate(facts, view);
  const reboot = rebootGate(facts, view);
  return { ...(upgrade !== undefined && { upgrade }), ...(reboot !== undefined && { reboot }) };
}

function upgradeGate(facts: ChangeFacts, { settings, stoppedBy }: RolloutView): string | undefined {
  const { instance, version } = facts;
  const { metadata, status } = instance;
  const { name = '', namespace = '' } = metadata;
  if (isHeldByPin(instance, version)) return pinText(instance);
  const isBack = status?.upgrade?.to === version && upgradeState(status.upgrade) === 'rolled back';
  if (isBack && !isRetryRequested(instance)) {
    const { code, message } = status.upgrade?.failed ?? {};
    return `its upgrade failed (${code}: ${message}). ${retryText({ name, namespace })}`;
  }
  const limit = claimLimit(facts);
  if (limit !== undefined) return limit;
  const first = stoppedBy.find(other => other.name !== name);
  if (first !== undefined)
    return `the roll-out of ${version} is stopped, because it failed on ${first.name}. ${choicesText({ ...first, namespace, to: version })}`;
  return settings.isPaused ? pausedText : undefined;
}

function pinText(instance: WindowsInstance): string {
  const { name, namespace } = instance.metadata;
  const free = `kubectl annotate windowsinstance ${name} -n ${namespace} ${instanceAnnotation.pinnedVersion}-`;
  const pin = pinnedVersionOf(instance);
  const other = isVersionText(pin) ? pin : 'another version';
  return `it is pinned to ${pin === instance.status?.version ? 'its version' : other}; to upgrade it, run \`${free}\``;
}

/** Names the alarm that a host reports while it waits. */
function rebootGate(facts: ChangeFacts, { settings }: RolloutView): string | undefined {
  if (settings.isPaused && !isUnfinished(facts, 'reboot')) return pausedText;
  const problem = rebootLimit(facts.instance, facts.nowMs)?.problem;
  return problem === undefined ? undefined : `${problem.code}: ${problem.message}. ${problem.remedy}`;
}
