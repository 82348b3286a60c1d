import { timestamp } from '#base/clock.ts';
import type { Condition } from './resources.ts';

/** What is to be said; the time of the last transition follows from what was said before. */
export type ConditionUpdate<T extends Condition = Condition> = Omit<T, 'lastTransitionTime'>;

/** The first of a type decides. */
export function findCondition<T extends Condition>(conditions: readonly T[] | undefined, type: string): T | undefined {
  return conditions?.find(condition => condition.type === type);
}

export function hasConditionStatus(
  conditions: readonly Condition[] | undefined,
  type: string,
  status: string,
): boolean {
  return findCondition(conditions, type)?.status === status;
}

/**
 * The conditions with this one set: at its old place, or at the end. The time of transition moves only with the status.
 * Further conditions of the same type go. The very same list comes back when nothing changes, so that nothing is written.
 */
export function setCondition<T extends Condition>(
  conditions: readonly T[] | undefined,
  news: ConditionUpdate<T>,
  nowMs: number,
): readonly T[] {
  const all = conditions ?? [];
  const old = findCondition(all, news.type);
  const keepsTime = old?.status === news.status && old.lastTransitionTime !== undefined;
  const condition = { ...news, lastTransitionTime: keepsTime ? old.lastTransitionTime : timestamp(nowMs) } as T;
  if (old === undefined) return [...all, condition];
  const isOnlyOne = all.every(each => each === old || each.type !== news.type);
  if (isOnlyOne && isSame(old, condition)) return all;
  return all.filter(each => each === old || each.type !== news.type).map(each => (each === old ? condition : each));
}

/** Members that are absent or undefined are the same; their order does not matter. */
function isSame(one: Condition, other: Condition): boolean {
  const entriesOf = (condition: Condition) =>
    Object.entries(condition)
      .filter(([, value]) => value !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(entriesOf(one)) === JSON.stringify(entriesOf(other));
}
