import { isRecord } from '#base/fields.ts';
import { objectMetadata } from './built-in-types.ts';
import { type FreeType, leaf, type MergeType, type ObjectType } from './merge-type.ts';

/** What the schema leaves open: objects are maps whose keys somebody chose. */
const free: FreeType = { is: 'free', named: false };

const envelope: Readonly<Record<string, MergeType>> = { apiVersion: leaf, kind: leaf, metadata: objectMetadata };

/** How a custom resource is merged, as the OpenAPI schema of its version says. */
export function customType(schema: unknown): ObjectType {
  const root = typeOf(schema);
  if (root.is !== 'object') return { is: 'object', fields: envelope, others: free };
  return { ...root, fields: { ...root.fields, ...envelope } };
}

function typeOf(schema: unknown): MergeType {
  if (!isRecord(schema)) return free;
  if (schema['x-kubernetes-int-or-string'] === true) return leaf;
  if (schema['type'] === 'array') return listType(schema);
  if (schema['type'] === 'object' || schema['type'] === undefined) return objectType(schema);
  return leaf;
}

function objectType(schema: Record<string, unknown>): MergeType {
  if (schema['x-kubernetes-map-type'] === 'atomic') return leaf;
  const { properties, additionalProperties } = schema;
  const embedded = schema['x-kubernetes-embedded-resource'] === true ? envelope : {};
  const fields = { ...(isRecord(properties) ? mapValues(properties, typeOf) : {}), ...embedded };
  if (schema['x-kubernetes-preserve-unknown-fields'] === true) return { is: 'object', fields, others: free };
  if (isRecord(additionalProperties)) return { is: 'object', fields, others: typeOf(additionalProperties) };
  if (additionalProperties === true || Object.keys(fields).length === 0) return free;
  return { is: 'object', fields, others: undefined };
}

function listType(schema: Record<string, unknown>): MergeType {
  const item = isRecord(schema['items']) ? schema['items'] : {};
  if (schema['x-kubernetes-list-type'] === 'set') return { is: 'list', item: leaf, keys: [] };
  if (schema['x-kubernetes-list-type'] !== 'map') return leaf;
  const names = schema['x-kubernetes-list-map-keys'];
  const keys = (Array.isArray(names) ? names : []).filter(name => typeof name === 'string');
  return { is: 'list', item: typeOf(item), keys, defaults: defaultsOf(item['properties'], keys) };
}

function defaultsOf(properties: unknown, keys: readonly string[]): Record<string, unknown> {
  if (!isRecord(properties)) return {};
  const withDefault = keys.flatMap(key => {
    const property = properties[key];
    return isRecord(property) && property['default'] !== undefined ? [[key, property['default']] as const] : [];
  });
  return Object.fromEntries(withDefault);
}

function mapValues<T>(record: Record<string, unknown>, make: (value: unknown) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, make(value)]));
}
