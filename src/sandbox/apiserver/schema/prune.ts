import { isRecord } from '#base/fields.ts';
import { readMetadata } from '../metadata.ts';
import { headMembers, isEmbedded, isSet, memberSchema, preserves, type Schema, schemaAt } from './schema.ts';

/**
 * Drops fields that the schema does not have, and nulls that are not allowed. Values of the
 * wrong type stay for validation to report.
 */
export function prune(schema: Schema | undefined, value: unknown): unknown {
  return pruneValue(schema, value, preserves(schema));
}

function pruneValue(schema: Schema | undefined, value: unknown, keepsUnknown: boolean): unknown {
  if (keepsUnknown && schema === undefined) return value;
  if (Array.isArray(value)) {
    const items = schemaAt(schema, 'items');
    return value.map(item => pruneValue(items, item, keepsUnknown || preserves(items)));
  }
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).flatMap(([name, member]) => {
    if (isEmbedded(schema) && headMembers.includes(name)) return [[name, pruneHead(name, member)] as const];
    const found = memberSchema(schema, name);
    if (found === undefined) return keepsUnknown ? [[name, member] as const] : [];
    return member === null && refusesNull(found.schema) ? [] : [[name, prune(found.schema, member)] as const];
  });
  return Object.fromEntries(entries);
}

/** A null stays if a default replaces it later. */
function refusesNull(schema: Schema | undefined): boolean {
  return schema !== undefined && !isSet(schema, 'nullable') && schema['default'] === undefined;
}

function pruneHead(name: string, value: unknown): unknown {
  return name === 'metadata' ? (readMetadata(value) ?? value) : value;
}
