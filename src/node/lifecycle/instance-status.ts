import { timestamp } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import type { InstanceObject } from '#cluster/windows-instance-resource.ts';
import type { NodeView } from '#contract/node.ts';
import { nodeAnnotation } from '#contract/names.ts';
import {
  type InstanceCondition,
  type InstancePhase,
  type InstanceReboot,
  type InstanceRecord,
  instanceCondition,
  type WindowsInstanceStatus,
} from '#contract/windows-instance/resource.ts';
import { setCondition } from '#kube/conditions.ts';
import { mergeRecord } from '../record.ts';
import type { Journal } from './journal.ts';

/** What is said of an instance, from whatever was said before. Conditions of others stay. */
export type StatusChange = (before: WindowsInstanceStatus) => WindowsInstanceStatus;

/** What a journey has come to. */
export interface JourneyView {
  journal: Pick<Journal, 'step' | 'timeline' | 'progress' | 'waitsFor'>;
  reboot: InstanceReboot | undefined;
  ipv4: string | undefined;
  node: string | undefined;
  /** What the journey has recorded of the host. */
  record: InstanceRecord;
}

/** Words of conditions that are no error code. */
export const conditionReason = {
  joined: 'Joined',
  configuring: 'Configuring',
  paused: 'Paused',
  nodeNotReady: 'NodeNotReady',
  otherVersion: 'OtherVersion',
} as const;

export interface Told {
  generation: number | undefined;
  nowMs: number;
  /** When a host that has failed is tried again, at the latest. */
  nextAttemptMs?: number;
}

/** Never an empty text: some API servers take that for no text at all, which a condition must not have. */
const onItsWay = 'The host is on its way.';

/** On the way. A failure stays to be read until the step that failed is behind. */
export function onTheWay(view: JourneyView, told: Told, phase: InstancePhase = 'Configuring'): StatusChange {
  const { journal } = view;
  const { step, waitsFor } = journal;
  const doing = `${step ?? 'between two steps'}${waitsFor === undefined ? '' : `: ${waitsFor}`}`;
  const hasFailed = journal.timeline().some(({ lastError }) => lastError !== undefined);
  const news = { status: 'False', reason: conditionReason.configuring, message: doing } as const;
  return before => {
    const conditions: News[] = [
      ...(hasFailed && before.conditions ? [] : [{ ...news, type: instanceCondition.configured, message: onItsWay }]),
      { ...news, type: instanceCondition.ready },
    ];
    return said({ ...withJourney(before, view), phase }, conditions, told);
  };
}

/** Stopped by a failure, until it is tried again. It need not be one yet: a host may take its time to boot. */
export function failed(
  view: JourneyView,
  { code, message, remedy }: AppError,
  isPatient: boolean,
  told: Told,
): StatusChange {
  const news = { status: isPatient ? 'Unknown' : 'False', reason: code, message: `${message}. ${remedy}` } as const;
  const conditions = [
    { ...news, type: instanceCondition.configured },
    { ...news, type: instanceCondition.ready, status: 'False' } as const,
  ];
  const { nextAttemptMs } = told;
  const next = nextAttemptMs === undefined ? {} : { nextAttempt: timestamp(Math.ceil(nextAttemptMs / 1000) * 1000) };
  return before => said({ ...withJourney(before, view), phase: 'Failed', ...next }, conditions, told);
}

/** Nothing is done to the instance, and this is why. */
export function atRest(node: NodeView | undefined, version: string, told: Told): StatusChange {
  return before => {
    const { step: _step, progress: _progress, reboot: _reboot, nextAttempt: _next, ...rest } = before;
    const running = node?.annotations[nodeAnnotation.version];
    const recorded = running === version ? version : (before.version ?? (isAdopted(before) ? running : undefined));
    const status = {
      ...rest,
      phase: 'Ready' as const,
      ...(node && { node: node.name }),
      ...(recorded !== undefined && { version: recorded }),
    };
    return said(status, restConditions(node, version), told);
  };
}

/** Another version than this one is read from the Node, whose own word it is, once: of a host that was never given a token. */
function isAdopted({ tokens, agent }: WindowsInstanceStatus): boolean {
  return tokens === undefined && agent === undefined;
}

/** At the end of the way. */
export function joined(view: JourneyView, node: NodeView, version: string, told: Told): StatusChange {
  return before => atRest(node, version, told)(withJourney(before, view));
}

export function paused(told: Told): StatusChange {
  const news = { reason: conditionReason.paused, message: 'spec.paused is true: nothing is done to the host' };
  return before => {
    const { step: _step, progress: _progress, nextAttempt: _next, ...rest } = before;
    const ready = { ...news, type: instanceCondition.ready, status: 'Unknown' } as const;
    return said({ ...rest, phase: 'Paused' }, [ready], told);
  };
}

/** Whether the journey of the status is over, so that the next one begins with an empty page. */
export function isNewJourney({ metadata, status = {} }: InstanceObject): boolean {
  const isOther = status.observedGeneration !== metadata.generation;
  return (
    isOther || status.phase === undefined || !['Configuring', 'Reconnecting', 'Failed', 'Paused'].includes(status.phase)
  );
}

function restConditions(node: NodeView | undefined, version: string): News[] {
  const running = node?.annotations[nodeAnnotation.version] ?? '';
  const isCurrent = running === version;
  const runs = `Node ${node?.name} runs version ${running}`;
  const configured: Omit<News, 'type'> = {
    status: 'True',
    reason: isCurrent ? conditionReason.joined : conditionReason.otherVersion,
    message: isCurrent ? runs : `${runs}, and this operator is ${version}`,
  };
  const notReady: Omit<News, 'type'> = {
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
  const { step: _step, progress: _progress, reboot: _reboot, nextAttempt: _next, ...rest } = before;
  const { journal, reboot, ipv4, node, record } = view;
  const { step, progress } = journal;
  return {
    ...rest,
    ...mergeRecord(before, record),
    timeline: journal.timeline(),
    ...(step !== undefined && { step }),
    ...(progress !== undefined && { progress }),
    ...(reboot !== undefined && { reboot }),
    ...(ipv4 !== undefined && { ipv4 }),
    ...(node !== undefined && { node }),
  };
}

type News = Omit<InstanceCondition, 'lastTransitionTime' | 'observedGeneration'>;

/** Conditions are not read further than this by anybody. */
const maxMessageLength = 1500;

function said(status: WindowsInstanceStatus, news: readonly News[], told: Told): WindowsInstanceStatus {
  const { generation, nowMs } = told;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  let conditions: readonly InstanceCondition[] = status.conditions ?? [];
  for (const condition of news) {
    const message = condition.message.slice(0, maxMessageLength);
    conditions = setCondition(conditions, { ...condition, message, ...observed }, nowMs);
  }
  return { ...status, ...observed, conditions: [...conditions] };
}
