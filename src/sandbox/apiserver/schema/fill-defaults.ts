import { isRecord } from '#base/fields.ts';
import { isSet, memberSchema, propertiesOf, type Schema, schemaAt } from './schema.ts';

/** Sets defaults for missing members and for nulls that are not allowed. */
export function fillDefaults(schema: Schema | undefined, value: unknown): unknown {
  if (schema === undefined) return value;
  if (Array.isArray(value)) {
    const items = schemaAt(schema, 'items');
    return value.map(item => fillMember(items, item));
  }
  if (!isRecord(value)) return value;
  const members = new Map(Object.entries(value));
  for (const name of Object.keys(propertiesOf(schema))) {
    const byDefault = memberSchema(schema, name)?.schema?.['default'];
    if (!members.has(name) && byDefault !== undefined) members.set(name, byDefault);
  }
  const entries = [...members].map(
    ([name, member]) => [name, fillMember(memberSchema(schema, name)?.schema, member)] as const,
  );
  return Object.fromEntries(entries);
}

function fillMember(schema: Schema | undefined, value: unknown): unknown {
  const replaced = value === null && schema !== undefined && !isSet(schema, 'nullable');
  return fillDefaults(schema, replaced ? (schema['default'] ?? null) : value);
}
