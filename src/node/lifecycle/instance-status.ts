import { timestamp } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import { shortDuration } from '#base/short-duration.ts';
import { sentence } from '#base/trim-end.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { NodeView } from '#contract/node.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { isUpToDate } from '#contract/node-marks.ts';
import { isVersionText, unknownVersion } from '#contract/version.ts';
import { upgradeState } from '#contract/windows-instance/upgrade-state.ts';
import {
  type InstanceJourney,
  type InstancePhase,
  type InstanceReboot,
  type InstanceRecord,
  instanceCondition,
  isSettingPhase,
  type JourneyName,
  type SettingPhase,
  type WindowsInstanceStatus,
} from '#contract/windows-instance/resource.ts';
import { type Condition, findCondition, type NewCondition, setCondition } from '#base/condition.ts';
import { mergeRecord } from '../record.ts';
import type { Journal } from './journal.ts';

/** Computes the next status from the current one. Conditions of other writers are kept. */
export type StatusChange = (before: WindowsInstanceStatus) => WindowsInstanceStatus;

/** The state of a journey. */
export interface JourneyView {
  journal: Pick<Journal, 'step' | 'timeline' | 'progress' | 'activity'>;
  reboot: InstanceReboot | undefined;
  ipv4: string | undefined;
  node: string | undefined;
  /** What the journey found out about the host. */
  record: InstanceRecord;
  journey?: InstanceJourney | undefined;
  /** The services of the host are being removed. */
  isUninstalled?: boolean;
  /** The Node is ready and takes pods. */
  isInService?: boolean;
  isReady?: boolean;
}

/** Reasons of conditions that are not error codes. */
export const conditionReason = {
  joined: 'Joined',
  configuring: 'Configuring',
  removing: 'Removing',
  upgrading: 'Upgrading',
  rollingBack: 'RollingBack',
  /** A later upgrade succeeded after one was rolled back. */
  upgraded: 'Upgraded',
  /** The host is in service with its former version, because its upgrade failed. */
  rolledBack: 'RolledBack',
  rebooting: 'Rebooting',
  waitsForBudget: 'WaitsForBudget',
  /** The current step takes more than twice the usual time. */
  slowStep: 'SlowStep',
  paused: 'Paused',
  nodeNotReady: 'NodeNotReady',
  otherVersion: 'OtherVersion',
  /** An upgraded node has to stay healthy for a while. */
  soaking: 'Soaking',
  /** The node is in service, and a journey that is due waits. */
  waits: 'Waits',
  refreshing: 'Refreshing',
  restarting: 'Restarting',
  rekeying: 'Rekeying',
  /** The host accepts the current SSH key. */
  keyAccepted: 'Accepted',
  /** The host has the settings of the cluster again. */
  applied: 'Applied',
} as const;

/** Of a host that failed or waited before. */
export const appliedSettingsCondition = {
  type: instanceCondition.settingsApplied,
  status: 'True',
  reason: conditionReason.applied,
  message: 'The host has the settings of the cluster.',
} as const;

/** Of a host that rejected the current key before; another one needs no condition. */
export function keyAccepted({ status }: WindowsInstance): NewCondition[] {
  const { keyCurrent: type } = instanceCondition;
  if (findCondition(status?.conditions, type)?.status !== 'False') return [];
  const message = 'The host accepts the current SSH key of the operator.';
  return [{ type, status: 'True', reason: conditionReason.keyAccepted, message }];
}

/** What a host in service lacks while a journey of this phase fails. */
const lacking = {
  Refreshing: { type: instanceCondition.settingsApplied, reason: conditionReason.refreshing, what: 'its new settings' },
  Restarting: { type: instanceCondition.settingsApplied, reason: conditionReason.restarting, what: 'its new settings' },
  Rekeying: { type: instanceCondition.keyCurrent, reason: conditionReason.rekeying, what: 'the current SSH key' },
} as const;

export interface StatusStamp {
  generation: number | undefined;
  nowMs: number;
  /** When a failed host is retried at the latest. */
  nextAttemptMs?: number;
}

/** Not empty: some API servers drop an empty message, and a condition must have one. */
const runningMessage = {
  configuring: 'The host is being configured.',
  removing: 'The host is being removed.',
  rebooting: 'The host is being rebooted.',
} as const;

function runningKind(phase: InstancePhase): keyof typeof runningMessage {
  if (phase === 'Removing') return 'removing';
  return phase === 'Rebooting' ? 'rebooting' : 'configuring';
}

/** A failure stays visible until the failed step has succeeded. */
export function configuringStatus(
  view: JourneyView,
  stamp: StatusStamp,
  phase: InstancePhase = 'Configuring',
): StatusChange {
  if (phase === 'Upgrading' || phase === 'RollingBack') return upgradingStatus(view, stamp, phase);
  if (isSettingPhase(phase)) return settingStatus(view, stamp, phase);
  const { journal } = view;
  const hasFailed = hasFailedStep(journal);
  const kind = runningKind(phase);
  const running = { status: 'False', reason: conditionReason[kind] } as const;
  return before => {
    const conditions: NewCondition[] = [
      ...(hasFailed && before.conditions
        ? []
        : [{ ...running, type: instanceCondition.configured, message: runningMessage[kind] }]),
      { ...running, type: instanceCondition.ready, ...activityCondition(journal, running.reason) },
    ];
    return withConditions({ ...withJourney(before, view), phase }, conditions, stamp);
  };
}

/** The host stays configured: with its former version, or with the new one. Its Node is in service until it is cordoned. */
function upgradingStatus(view: JourneyView, stamp: StatusStamp, phase: 'Upgrading' | 'RollingBack'): StatusChange {
  const { journal, isInService = false } = view;
  const reason = conditionReason[phase === 'Upgrading' ? 'upgrading' : 'rollingBack'];
  const ready = { type: instanceCondition.ready, status: isInService ? 'True' : 'False' } as const;
  const conditions = [{ ...ready, ...activityCondition(journal, reason) }];
  return before => withConditions({ ...withJourney(before, view), phase }, conditions, stamp);
}

/** Pods go on, and new ones may come. A failure stays visible until the settings are applied. */
function settingStatus(view: JourneyView, stamp: StatusStamp, phase: SettingPhase): StatusChange {
  const { journal, isReady = false } = view;
  const { reason } = lacking[phase];
  const ready = { type: instanceCondition.ready, status: isReady ? 'True' : 'False' } as const;
  const conditions = [{ ...ready, ...activityCondition(journal, reason) }];
  return before => withConditions({ ...withJourney(before, view), phase }, conditions, stamp);
}

/** The node works with its former settings, unless the new ones broke it; it is retried. */
export function unsettledStatus(
  view: JourneyView,
  { code, message, remedy }: AppError,
  phase: SettingPhase,
  stamp: StatusStamp,
): StatusChange {
  const { isReady = false, node } = view;
  const { type, what } = lacking[phase];
  const text = `${sentence(message)} ${remedy}`;
  const state = isReady ? `is in service, without ${what}` : 'is not ready';
  const conditions = [
    { type, status: 'False', reason: code, message: text },
    {
      type: instanceCondition.ready,
      status: isReady ? 'True' : 'False',
      reason: code,
      message: `Node ${node} ${state}: ${text}`,
    },
  ] as const;
  return before => withConditions({ ...withJourney(before, view), phase, ...nextAttemptOf(stamp) }, conditions, stamp);
}

function nextAttemptOf({ nextAttemptMs }: StatusStamp): Pick<WindowsInstanceStatus, 'nextAttempt'> {
  return nextAttemptMs === undefined ? {} : { nextAttempt: timestamp(Math.ceil(nextAttemptMs / 1000) * 1000) };
}

function hasFailedStep(journal: JourneyView['journal']): boolean {
  return journal.timeline().some(({ lastError }) => lastError !== undefined);
}

function activityCondition(journal: JourneyView['journal'], reason: string): Pick<NewCondition, 'reason' | 'message'> {
  const isSlow = journal.activity?.remedy !== undefined;
  return { reason: isSlow ? conditionReason.slowStep : reason, message: activityMessage(journal) };
}

/** `find node: the kubelet registers its Node; usually 30 s, limit 10 min. Check …` */
function activityMessage({ step = 'between steps', activity }: JourneyView['journal']): string {
  const { waitsFor, usualSeconds, limitSeconds = 0, remedy } = activity ?? {};
  const doing = waitsFor === undefined ? step : `${step}: ${waitsFor}`;
  if (remedy === undefined || usualSeconds === undefined) return doing;
  const [usual, limit] = [usualSeconds, limitSeconds].map(seconds => shortDuration(seconds * 1000));
  return `${doing}; usually ${usual}, limit ${limit}. ${remedy}`;
}

/** Failed until the next attempt. A transient failure is not reported as one yet: a host may need time to boot. */
export function failedStatus(
  view: JourneyView,
  { code, message, remedy }: AppError,
  isTransient: boolean,
  stamp: StatusStamp,
): StatusChange {
  const condition = {
    status: isTransient ? 'Unknown' : 'False',
    reason: code,
    message: `${sentence(message)} ${remedy}`,
  } as const;
  const conditions = [
    { ...condition, type: instanceCondition.configured },
    { ...condition, type: instanceCondition.ready, status: 'False' } as const,
  ];
  return before =>
    withConditions({ ...withJourney(before, view), phase: 'Failed', ...nextAttemptOf(stamp) }, conditions, stamp);
}

/** The Node is in service and no journey runs. */
export function readyStatus(node: NodeView | undefined, version: string, stamp: StatusStamp): StatusChange {
  return before => {
    const { step: _s, progress: _p, activity: _a, reboot: _r, nextAttempt: _n, journey: _j, ...rest } = before;
    const running = node?.annotations[nodeAnnotation.version];
    const claimed = isAdopted(before) && isVersionText(running) ? running : undefined;
    const isTrusted = running === version && !isOfUnknownVersion(before);
    const recorded = isTrusted ? version : (before.version ?? claimed);
    const status = {
      ...rest,
      phase: 'Ready' as const,
      ...(node && { node: node.name }),
      ...(recorded !== undefined && { version: recorded }),
    };
    return withConditions(status, restConditions(node, version, recorded), stamp);
  };
}

/** No upgrade has set it up since it was adopted. */
function isOfUnknownVersion({ version, upgrade }: WindowsInstanceStatus): boolean {
  return version === unknownVersion && upgrade?.ready === undefined;
}

/** The version that a Node reports about itself is trusted once: for a host that was never given a token. */
function isAdopted({ tokens, agent }: WindowsInstanceStatus): boolean {
  return tokens === undefined && agent === undefined;
}

/** A journey has finished. */
export function joinedStatus(view: JourneyView, node: NodeView, version: string, stamp: StatusStamp): StatusChange {
  return before => {
    const { upgrade, ...rest } = readyStatus(node, version, stamp)(withJourney(before, view));
    // A host that joined with the version for which it was staged has no upgrade to end.
    const isReached = ['staging', 'given up'].includes(upgradeState(upgrade)) && isUpToDate(node, upgrade?.to ?? '');
    return upgrade === undefined || isReached ? rest : { ...rest, upgrade };
  };
}

/** `next` is what the operator would do. */
export function pausedStatus(stamp: StatusStamp, next = 'nothing is due'): StatusChange {
  const condition = {
    reason: conditionReason.paused,
    message: `spec.paused is true; the operator does not change the host. When it is resumed: ${next}`,
  };
  return before => {
    const { step: _s, progress: _p, activity: _a, nextAttempt: _n, ...rest } = before;
    const ready = { ...condition, type: instanceCondition.ready, status: 'Unknown' } as const;
    return withConditions({ ...rest, phase: 'Paused' }, [ready], stamp);
  };
}

/** A removal that waits for the disruption budget; the Node stays in service. */
export function waitingStatus(why: string, stamp: StatusStamp): StatusChange {
  const waiting = { status: 'False', reason: conditionReason.waitsForBudget, message: why } as const;
  const { configured, ready } = instanceCondition;
  return before => {
    const { step: _s, progress: _p, activity: _a, nextAttempt: _n, ...rest } = before;
    const conditions = [configured, ready].map(type => ({ ...waiting, type }));
    return withConditions({ ...rest, phase: 'Removing' }, conditions, stamp);
  };
}

/** A journey that has to wait while its Node stays in service with the version that it runs. */
export function heldStatus(
  view: JourneyView,
  { node, version, why }: { node: NodeView | undefined; version: string; why: string },
  stamp: StatusStamp,
): StatusChange {
  const ready = { type: instanceCondition.ready, status: 'True', reason: conditionReason.waitsForBudget } as const;
  return before => {
    const rest = readyStatus(node, version, stamp)(withJourney(before, view));
    const message = `${versionOfNode(node, rest.version)}; ${why}`;
    return node?.ready === true ? withConditions(rest, [{ ...ready, message }], stamp) : rest;
  };
}

/** Phases of a journey that runs or is interrupted. */
const openPhases: readonly InstancePhase[] = [
  'Configuring',
  'Upgrading',
  'RollingBack',
  'Reconnecting',
  'Adopting',
  'Rebooting',
  'Refreshing',
  'Restarting',
  'Rekeying',
  'Removing',
  'Failed',
  'Paused',
];

/** True if the journey in the status is over or another one, so that the next one starts with an empty timeline. */
export function isNewJourney({ metadata, status = {} }: WindowsInstance, name?: JourneyName): boolean {
  const isChanged = status.observedGeneration !== metadata.generation;
  const known = status.journey?.name;
  // Earlier versions recorded no name, and had no removals.
  const isOther = known === undefined ? name === 'remove' : name !== undefined && known !== name;
  return isChanged || isOther || status.phase === undefined || !openPhases.includes(status.phase);
}

/** `Node win-1 runs version 11.1.0`. Where the record says otherwise, it is only what the Node says about itself. */
export function versionOfNode(node: NodeView | undefined, recorded: string | undefined): string {
  const { [nodeAnnotation.version]: claimed = '' } = node?.annotations ?? {};
  if (claimed === '') return `Node ${node?.name} has no version`;
  const does = recorded === undefined || recorded === claimed ? 'runs' : 'claims';
  return `Node ${node?.name} ${does} ${isVersionText(claimed) ? `version ${claimed}` : 'another version'}`;
}

function restConditions(node: NodeView | undefined, version: string, recorded: string | undefined): NewCondition[] {
  const isCurrent = node?.annotations[nodeAnnotation.version] === version;
  const runs = versionOfNode(node, recorded);
  const configured: Omit<NewCondition, 'type'> = {
    status: 'True',
    reason: isCurrent ? conditionReason.joined : conditionReason.otherVersion,
    message: isCurrent ? runs : `${runs}, and this operator is ${version}`,
  };
  const notReady: Omit<NewCondition, 'type'> = {
    status: 'False',
    reason: conditionReason.nodeNotReady,
    message: `Node ${node?.name} is not ready`,
  };
  return [
    { ...configured, type: instanceCondition.configured },
    { ...(node?.ready === true ? configured : notReady), type: instanceCondition.ready },
  ];
}

function withJourney(before: WindowsInstanceStatus, view: JourneyView): WindowsInstanceStatus {
  const { step: _s, progress: _p, activity: _a, reboot: _r, nextAttempt: _n, version, ...rest } = before;
  const { journal, reboot, ipv4, node, record, journey, isUninstalled = false } = view;
  const { step, progress, activity } = journal;
  return {
    ...rest,
    ...mergeRecord(before, record),
    ...(version !== undefined && !isUninstalled && { version: record.version ?? version }),
    ...(journey !== undefined && { journey }),
    timeline: journal.timeline(),
    ...(step !== undefined && { step }),
    ...(progress !== undefined && { progress }),
    ...(activity !== undefined && { activity }),
    ...(reboot !== undefined && { reboot }),
    ...(ipv4 !== undefined && { ipv4 }),
    ...(node !== undefined && { node }),
  };
}

/** Room for message and remedy in full; longer texts only fill the object. */
const maxMessageLength = 4000;

export function withConditions(
  status: WindowsInstanceStatus,
  added: readonly NewCondition[],
  stamp: StatusStamp,
): WindowsInstanceStatus {
  const { generation, nowMs } = stamp;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  let conditions: readonly Condition[] = status.conditions ?? [];
  for (const condition of added) {
    const message = condition.message.slice(0, maxMessageLength);
    conditions = setCondition(conditions, { ...condition, message, ...observed }, nowMs);
  }
  return { ...status, ...observed, conditions: [...conditions] };
}
