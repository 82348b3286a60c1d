import { type Condition, findCondition } from '#base/condition.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import { instanceCondition, type TimelineStep } from '#contract/windows-instance/resource.ts';
import { conditionReason } from '#node/lifecycle/instance-status.ts';
import type { HostProblem, HostView, Removal } from './host-view.ts';

/** Undefined when the host is to stay. */
export function removalOf({ metadata, status }: WindowsInstance): Removal | undefined {
  const { annotations = {}, deletionTimestamp } = metadata;
  const requested = annotations[instanceAnnotation.removal] ?? deletionTimestamp;
  const { journey } = status ?? {};
  const isRunning = journey?.name === 'remove';
  if (requested === undefined && !isRunning) return undefined;
  return {
    requested: requested ?? '',
    isForced: Object.hasOwn(annotations, instanceAnnotation.forceRemoval),
    cause: isRunning ? journey.cause : undefined,
  };
}

/** The operator wants to take the Node out of service, and other Nodes are out of service already. */
export function waitsForBudget(conditions: readonly Condition[] = []): Condition | undefined {
  return conditions.find(({ reason }) => reason === conditionReason.waitsForBudget);
}

/** The same, or the operator wants to change a host in service, and others come first. */
export function waitOf(conditions: readonly Condition[]): Condition | undefined {
  const ready = findCondition(conditions, instanceCondition.ready);
  return waitsForBudget(conditions) ?? (ready?.reason === conditionReason.waits ? ready : undefined);
}

/** A host that does not answer is a failure here: it is not about to boot for the first time. */
export function removalPhase(
  { spec, status }: WindowsInstance,
  problem: HostProblem | undefined,
): Pick<HostView, 'phase' | 'tone'> {
  if (spec.paused === true) return { phase: 'Paused', tone: 'idle' };
  if (problem === undefined) return { phase: 'Removing', tone: 'busy' };
  return { phase: status?.phase === 'Failed' ? 'Failed' : 'Retrying', tone: 'bad' };
}

/** Only failures of the removal itself: what kept the host from joining is of no interest any more. */
export function removalProblem(
  { metadata, status = {} }: WindowsInstance,
  failing: TimelineStep | undefined,
  { isForced }: Removal,
): HostProblem | undefined {
  if (status.journey?.name !== 'remove') return undefined;
  const found = failing?.lastError ?? (status.phase === 'Failed' ? conditionProblem(status.conditions) : undefined);
  if (found === undefined || isForced) return found;
  const force = `To remove it without its host, run \`wmco remove ${metadata.name} --force\`.`;
  return { ...found, remedy: `${found.remedy} ${force}`.trim() };
}

/** What the removal waits for; undefined while it runs. */
export function removalNote({ spec, status = {} }: WindowsInstance): string | undefined {
  if (spec.paused === true) return 'spec.paused is true; the removal waits';
  const waiting = waitsForBudget(status.conditions);
  if (waiting !== undefined) return waiting.message ?? 'waits for the disruption budget';
  return status.journey?.name === 'remove' ? undefined : 'removal requested; waiting for the operator';
}

/** The message of a condition contains the remedy. */
function conditionProblem(conditions: readonly Condition[] | undefined): HostProblem | undefined {
  const { reason = '', message = '' } = findCondition(conditions, instanceCondition.ready) ?? {};
  return /^[A-Z][A-Z0-9_]+$/.test(reason) ? { code: reason, message, remedy: '' } : undefined;
}
