import { isRecord } from '#base/fields.ts';
import { printPath } from './field-set.ts';
import { type ListType, type MergeType, memberType } from './merge-type.ts';
import { itemStep } from './value-steps.ts';

/** The first thing in an applied object that makes it impossible to tell what it lays claim to. */
export function problemOf(type: MergeType, value: unknown, path: readonly string[] = []): string | undefined {
  if (type.is === 'list' && Array.isArray(value)) return problemOfItems(type, value, path);
  if (type.is !== 'object' || !isRecord(value)) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const below = [...path, `f:${name}`];
    const known = memberType(type, name);
    if (known === undefined) return `${printPath(below)}: field not declared in schema`;
    const problem = problemOf(known.type, member, below);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function problemOfItems(type: ListType, items: readonly unknown[], path: readonly string[]): string | undefined {
  const seen = new Set<string>();
  for (const [index, item] of items.entries()) {
    const found = itemStep(type, item);
    if (!found.ok) return `${printPath(path)}: element ${index}: ${found.problem}`;
    if (seen.has(found.step)) return `${printPath(path)}: duplicate entries for key ${printPath([found.step])}`;
    seen.add(found.step);
    const problem = problemOf(type.item, item, [...path, found.step]);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
