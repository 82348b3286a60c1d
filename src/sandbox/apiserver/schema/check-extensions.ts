import { isRecord } from '#base/fields.ts';
import type { StatusCause } from '#kube/api-error.ts';
import { cause } from '../status.ts';
import { isSet, listAt, propertiesOf, type Schema, schemaAt, textAt } from './schema.ts';

const listType = 'x-kubernetes-list-type';
const mapType = 'x-kubernetes-map-type';
const mapKeys = 'x-kubernetes-list-map-keys';
const preserve = 'x-kubernetes-preserve-unknown-fields';

/** What is wrong with the way a schema describes lists and maps. */
export function extensionCauses(schema: Schema, path: string): StatusCause[] {
  return [
    ...(schema[preserve] === false ? [cause.invalid(`${path}.${preserve}`, false, 'must be true or undefined')] : []),
    ...typeCauses(schema, path, mapType, 'object'),
    ...choiceCauses(schema, path, mapType, ['atomic', 'granular']),
    ...typeCauses(schema, path, listType, 'array'),
    ...choiceCauses(schema, path, listType, ['atomic', 'set', 'map']),
    ...(schema['type'] === 'array' && textAt(schema, listType) === 'set' ? setCauses(schema, path) : []),
    ...keysCauses(schema, path),
    ...(textAt(schema, listType) === 'map' ? mapCauses(schema, path) : []),
  ];
}

/** The extension says something only about one type. */
function typeCauses(schema: Schema, path: string, extension: string, type: string): StatusCause[] {
  if (schema[extension] === undefined || schema['type'] === type) return [];
  const why = `must be ${type} if ${extension} is specified`;
  const field = `${path}.type`;
  return [schema['type'] === undefined ? cause.required(field, why) : cause.invalid(field, schema['type'], why)];
}

function choiceCauses(schema: Schema, path: string, extension: string, choices: readonly string[]): StatusCause[] {
  const value = schema[extension];
  if (value === undefined || choices.includes(textAt(schema, extension))) return [];
  return [cause.unsupported(`${path}.${extension}`, value, choices)];
}

/** Items of a set must be compared as a whole. */
function setCauses(schema: Schema, path: string): StatusCause[] {
  const items = schemaAt(schema, 'items');
  if (items === undefined) return [];
  const why = `must be atomic as item of a list with ${listType}=set`;
  const [type, list, map] = [textAt(items, 'type'), items[listType], items[mapType]];
  return [
    ...(type === 'array' && list !== undefined && list !== 'atomic'
      ? [cause.invalid(`${path}.items.${listType}`, list, why)]
      : []),
    ...(type === 'object' && map !== 'atomic' ? [cause.invalid(`${path}.items.${mapType}`, map, why)] : []),
    ...nullableItems(items, path, 'set'),
  ];
}

function nullableItems(items: Schema, path: string, type: string): StatusCause[] {
  if (!isSet(items, 'nullable')) return [];
  return [cause.forbidden(`${path}.items.nullable`, `cannot be nullable when ${listType} is ${type}`)];
}

function keysCauses(schema: Schema, path: string): StatusCause[] {
  const type = schema[listType];
  if (listAt(schema, mapKeys).length === 0 || type === 'map') return [];
  const [field, why] = [`${path}.${listType}`, `must be map if ${mapKeys} is non-empty`];
  return [type === undefined ? cause.required(field, why) : cause.invalid(field, type, why)];
}

function mapCauses(schema: Schema, path: string): StatusCause[] {
  const keys = listAt(schema, mapKeys).map(String);
  const items = schemaAt(schema, 'items');
  const needed = `must not be empty if ${listType} is map`;
  const missing = keys.length === 0 ? [cause.required(`${path}.${mapKeys}`, needed)] : [];
  if (items === undefined) {
    return [...missing, cause.required(`${path}.items`, `must have a schema if ${listType} is map`)];
  }
  if (items['type'] !== 'object') {
    const why = `must be object if parent array's ${listType} is map`;
    return [...missing, cause.invalid(`${path}.items.type`, textAt(items, 'type'), why)];
  }
  return [
    ...missing,
    ...(new Set(keys).size < keys.length
      ? [cause.invalid(`${path}.${mapKeys}`, keys, 'must not contain duplicate entries')]
      : []),
    ...nullableItems(items, path, 'map'),
    ...[...new Set(keys)].flatMap(key => keyCauses(items, key, keys, path)),
  ];
}

function keyCauses(items: Schema, key: string, keys: readonly string[], path: string): StatusCause[] {
  const properties = propertiesOf(items);
  const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
  if (!isRecord(property)) {
    return [cause.invalid(`${path}.${mapKeys}`, keys, 'entries must all be names of item properties')];
  }
  const field = `${path}.items.properties[${key}]`;
  const [type, isKey] = [textAt(property, 'type'), `this property is in ${mapKeys}, so it`];
  const optional = !listAt(items, 'required').includes(key) && property['default'] === undefined;
  return [
    ...(type === 'array' || type === 'object'
      ? [cause.invalid(`${field}.type`, type, `must be a scalar type if parent array's ${listType} is map`)]
      : []),
    ...(optional ? [cause.required(`${field}.default`, `${isKey} must have a default or be a required property`)] : []),
    ...(isSet(property, 'nullable') ? [cause.forbidden(`${field}.nullable`, `${isKey} cannot be nullable`)] : []),
  ];
}
