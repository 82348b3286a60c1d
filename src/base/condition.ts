import { timestamp } from './clock.ts';
import { sameData } from './compare.ts';

/** A condition in the status of any Kubernetes object. Those of Nodes and CSRs may lack reason and message. */
export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  /** Nodes only. */
  lastHeartbeatTime?: string;
  /** CSRs only. */
  lastUpdateTime?: string;
  observedGeneration?: number;
}

/** A condition to write; its time of transition follows from the condition it replaces. */
export type NewCondition = Omit<Condition, 'lastTransitionTime'> & {
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
};

/** The first condition of the type counts. */
export function findCondition(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find(condition => condition.type === type);
}

export function hasConditionStatus(
  conditions: readonly Condition[] | undefined,
  type: string,
  status: NewCondition['status'],
): boolean {
  return findCondition(conditions, type)?.status === status;
}

/**
 * Replaces the condition of this type, or appends it; duplicates of the type are removed. The time of transition
 * changes only with the status. Returns the same list when nothing changes, so that callers can skip the write.
 */
export function setCondition(
  conditions: readonly Condition[] | undefined,
  update: NewCondition,
  nowMs: number,
): readonly Condition[] {
  const all = conditions ?? [];
  const old = findCondition(all, update.type);
  const keptTime = old?.status === update.status ? old.lastTransitionTime : undefined;
  const condition = { ...update, lastTransitionTime: keptTime ?? timestamp(nowMs) };
  if (old === undefined) return [...all, condition];
  const kept = all.filter(each => each === old || each.type !== update.type);
  if (kept.length === all.length && sameData(old, condition)) return all;
  return kept.map(each => (each === old ? condition : each));
}
