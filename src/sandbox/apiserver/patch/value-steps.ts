import { byteOrder } from '#base/compare.ts';
import { isRecord } from '#base/fields.ts';
import { type Form, type ListType, leaf, type MergeType, memberType } from './merge-type.ts';

/** A value inside another one: how a path names it, what it is, and whether the path names a field of a type. */
export interface Child {
  step: string;
  value: unknown;
  type: MergeType;
  named: boolean;
}

/** The members of an object or the items of a list; none for anything else. */
export function childrenOf(type: MergeType, form: Form, value: unknown): Child[] {
  if (form === 'object' && isRecord(value)) {
    return Object.entries(value).map(([name, member]) => {
      const known = memberType(type, name) ?? { type: leaf, named: true };
      return { step: `f:${name}`, value: member, ...known };
    });
  }
  if (form !== 'list' || !Array.isArray(value) || type.is !== 'list') return [];
  return value.map((item: unknown, index) => {
    const step = itemStep(type, item);
    return { step: step.ok ? step.step : `i:${index}`, value: item, type: type.item, named: false };
  });
}

/** The type of what lies below a step. */
export function typeBelow(type: MergeType, step: string): { type: MergeType; named: boolean } {
  if (step.startsWith('f:')) return memberType(type, step.slice(2)) ?? { type: leaf, named: true };
  return { type: type.is === 'list' ? type.item : leaf, named: false };
}

/** How a path names an item of a list, or what is wrong with the item. */
export function itemStep(type: ListType, item: unknown): { ok: true; step: string } | { ok: false; problem: string } {
  if (type.keys.length === 0) return scalarStep(item);
  if (!isRecord(item)) {
    const what = item === null ? 'a null element' : 'non-map elements';
    return { ok: false, problem: `associative list with keys may not have ${what}` };
  }
  const values: [string, unknown][] = [];
  for (const key of [...type.keys].sort(byteOrder)) {
    const value = Object.hasOwn(item, key) ? item[key] : type.defaults?.[key];
    if (value === undefined) {
      const problem = `associative list with keys has an element that omits key field "${key}" (and doesn't have default value)`;
      return { ok: false, problem };
    }
    values.push([key, value]);
  }
  return { ok: true, step: `k:${JSON.stringify(Object.fromEntries(values))}` };
}

function scalarStep(item: unknown): { ok: true; step: string } | { ok: false; problem: string } {
  if (typeof item !== 'object') return { ok: true, step: `v:${JSON.stringify(item)}` };
  const what = item === null ? "that's an explicit null" : "that's no scalar";
  return { ok: false, problem: `associative list without keys has an element ${what}` };
}
