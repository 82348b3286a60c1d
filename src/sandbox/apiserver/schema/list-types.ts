import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { listAt, textAt } from '../object.ts';
import { cause } from '../status.ts';
import { child, memberSchema, type Schema, schemaAt } from './schema.ts';

/** Duplicates in lists of type set or map. */
export function listTypeCauses(schema: Schema | undefined, value: unknown, path: string): StatusCause[] {
  if (schema === undefined) return [];
  if (Array.isArray(value)) {
    const items = schemaAt(schema, 'items');
    return [
      ...ownCauses(schema, value, path),
      ...value.flatMap((item, index) => listTypeCauses(items, item, `${path}[${index}]`)),
    ];
  }
  if (!isRecord(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    listTypeCauses(memberSchema(schema, name)?.schema, member, child(path, name)),
  );
}

function ownCauses(schema: Schema, items: readonly unknown[], path: string): StatusCause[] {
  const type = textAt(schema, 'x-kubernetes-list-type');
  if (type === 'set') return duplicateCauses(items, path);
  if (type !== 'map') return [];
  const wrong = items.findIndex(item => item !== null && !isRecord(item));
  if (wrong >= 0) {
    return [cause.invalid(`${path}[${wrong}]`, items[wrong], 'must be an object for an array of list-type map')];
  }
  const keys = listAt(schema, 'x-kubernetes-list-map-keys').map(String);
  return duplicateCauses(
    items.map(item => keyOf(item, keys)),
    path,
  );
}

function keyOf(item: unknown, keys: readonly string[]): Record<string, unknown> {
  const present = keys.filter(key => isRecord(item) && Object.hasOwn(item, key));
  return Object.fromEntries(present.map(key => [key, (item as Record<string, unknown>)[key]]));
}

/** Reports the second occurrence of each value. */
function duplicateCauses(values: readonly unknown[], path: string): StatusCause[] {
  const seen = new Map<string, number>();
  return values.flatMap((value, index) => {
    const text = JSON.stringify(value);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    return times === 1 ? [cause.duplicate(`${path}[${index}]`, value)] : [];
  });
}
