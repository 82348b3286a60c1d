import { isRecord } from '#base/fields.ts';
import type { StoredObject } from './ports.ts';

/** The value at a dotted path; undefined if a part is missing. */
export function memberAt(object: unknown, path: string): unknown {
  let value = object;
  for (const name of path.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value ?? undefined;
}

/** The value as a string; '' for missing values and objects. */
export function textAt(object: unknown, path: string): string {
  const value = memberAt(object, path);
  return value === undefined || typeof value === 'object' ? '' : `${value as string | number | boolean}`;
}

export function numberAt(object: unknown, path: string): number {
  const value = memberAt(object, path);
  return typeof value === 'number' ? value : 0;
}

export function listAt(object: unknown, path: string): unknown[] {
  const value = memberAt(object, path);
  return Array.isArray(value) ? value : [];
}

export function recordAt(object: unknown, path: string): Record<string, unknown> {
  const value = memberAt(object, path);
  return isRecord(value) ? value : {};
}

export function textsAt(object: unknown, path: string): Record<string, string> {
  return recordAt(object, path) as Record<string, string>;
}

/** Whether the status has a condition of that type, and with that status if one is given. */
export function hasCondition(object: unknown, type: string, status?: string): boolean {
  return listAt(object, 'status.conditions').some(
    condition => textAt(condition, 'type') === type && (status === undefined || textAt(condition, 'status') === status),
  );
}

/** Sets a member; removes it if the value is undefined. */
export function withMember(object: StoredObject, name: string, value: unknown): StoredObject {
  if (value !== undefined) return { ...object, [name]: value };
  const rest = { ...object };
  delete rest[name];
  return rest;
}

/** Sets the value at a dotted path; creates missing objects. */
export function withValueAt(object: StoredObject, path: string, value: unknown): StoredObject {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) return withMember(object, name, value);
  const inner = isRecord(object[name]) ? object[name] : {};
  return { ...object, [name]: withValueAt(inner as StoredObject, rest.join('.'), value) };
}

/** Merges metadata; undefined removes a member. */
export function withMetadata(object: StoredObject, metadata: Record<string, unknown>): StoredObject {
  const merged = Object.entries({ ...object.metadata, ...metadata }).filter(([, value]) => value !== undefined);
  return { ...object, metadata: Object.fromEntries(merged) };
}
