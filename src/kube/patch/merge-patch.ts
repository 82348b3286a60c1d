import { isRecord } from '#base/fields.ts';

/**
 * The merge patch (RFC 7386) from one value to the other; undefined when they are equal. Lists are replaced as a whole.
 * A member that is null or undefined counts as missing: a merge patch cannot set one.
 */
export function mergePatch(before: unknown, after: unknown): unknown {
  if (!isRecord(before) || !isRecord(after)) return isSame(before, after) ? undefined : withoutNulls(after);
  const patch: Record<string, unknown> = {};
  for (const name of Object.keys(before)) {
    if (isPresent(before, name) && !isPresent(after, name)) set(patch, name, null);
  }
  for (const name of Object.keys(after)) {
    if (!isPresent(after, name)) continue;
    const difference = isPresent(before, name) ? mergePatch(before[name], after[name]) : withoutNulls(after[name]);
    if (difference !== undefined) set(patch, name, difference);
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function isPresent(object: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(object, name) && object[name] !== undefined && object[name] !== null;
}

/** null in a patch removes a member; in lists it is a value. */
function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value;
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(value)) if (isPresent(value, name)) set(result, name, withoutNulls(value[name]));
  return result;
}

/** Works for a member named __proto__, unlike an assignment. */
function set(object: Record<string, unknown>, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** Like sameData, but null and undefined count as missing. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((item, index) => isSame(item, other[index]));
  }
  if (isRecord(one) && isRecord(other)) {
    const names = new Set([...Object.keys(one), ...Object.keys(other)]);
    return [...names].every(name => isSame(one[name] ?? undefined, other[name] ?? undefined));
  }
  return one === other;
}
