import { isRecord } from '#base/fields.ts';
import type { FieldSet } from './field-set.ts';
import { formOf, leaf, type MergeType, memberType } from './merge-type.ts';
import { childrenOf } from './value-steps.ts';

/** The live value with everything the applied one says; nothing goes away. */
export function mergeValues(type: MergeType, live: unknown, applied: unknown): unknown {
  const form = formOf(type, applied ?? live);
  if (live === undefined || form === 'leaf' || formOf(type, live) !== form) return applied;
  // An applied null says nothing about what is in a container.
  if (applied === null || applied === undefined) return live;
  return form === 'object' ? mergeObjects(type, live, applied) : mergeLists(type, live, applied);
}

function mergeObjects(type: MergeType, live: unknown, applied: unknown): unknown {
  const members = new Map(isRecord(live) ? Object.entries(live) : []);
  for (const [name, value] of Object.entries(applied as Record<string, unknown>)) {
    members.set(name, mergeValues(memberType(type, name)?.type ?? leaf, members.get(name), value));
  }
  return Object.fromEntries(members);
}

/** Items that were there keep their places, new ones follow. */
function mergeLists(type: MergeType, live: unknown, applied: unknown): unknown {
  const items = new Map(childrenOf(type, 'list', live).map(child => [child.step, child.value]));
  for (const child of childrenOf(type, 'list', applied)) {
    items.set(child.step, mergeValues(child.type, items.get(child.step), child.value));
  }
  return [...items.values()];
}

/** The value without the paths of the set; a container that loses all it had stays, unless the set has it too. */
export function removeFields(type: MergeType, value: unknown, set: FieldSet): unknown {
  const form = formOf(type, value);
  if (set.isEmpty || form === 'leaf' || value === null) return value;
  const kept = childrenOf(type, form, value)
    .filter(child => !set.has([child.step]))
    .map(child => ({ ...child, value: removeFields(child.type, child.value, set.below(child.step)) }));
  if (form === 'list') return kept.map(child => child.value);
  return Object.fromEntries(kept.map(child => [child.step.slice(2), child.value]));
}
