import { isRecord } from '#base/fields.ts';
import type { StoredObject } from './ports.ts';

/** The member at a dotted path; undefined as soon as one on the way is missing. */
export function memberAt(object: unknown, path: string): unknown {
  let value = object;
  for (const name of path.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value ?? undefined;
}

/** The same as a text; everything that is none becomes one, and nothing becomes the empty one. */
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

/** The object with one member set, or without it when the value is undefined. */
export function withMember(object: StoredObject, name: string, value: unknown): StoredObject {
  if (value !== undefined) return { ...object, [name]: value };
  const rest = { ...object };
  delete rest[name];
  return rest;
}

/** The object with the value at a path of names; whatever is no object on the way is replaced by one. */
export function withValueAt(object: StoredObject, path: string, value: unknown): StoredObject {
  const [name = '', ...rest] = path.split('.');
  if (rest.length === 0) return withMember(object, name, value);
  const inner = isRecord(object[name]) ? object[name] : {};
  return { ...object, [name]: withValueAt(inner as StoredObject, rest.join('.'), value) };
}

/** The object with more metadata; members given as undefined go away. */
export function withMetadata(object: StoredObject, metadata: Record<string, unknown>): StoredObject {
  const merged = Object.entries({ ...object.metadata, ...metadata }).filter(([, value]) => value !== undefined);
  return { ...object, metadata: Object.fromEntries(merged) };
}
