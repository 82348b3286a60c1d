import { expect, test } from 'vitest';
import {
  child,
  isEmbedded,
  isIntOrString,
  isSet,
  listAt,
  memberSchema,
  numberAt,
  preserves,
  propertiesOf,
  type Schema,
  schemaAt,
  schemasAt,
  textAt,
} from './schema.ts';

const text = { type: 'string' };

const members: [string, Schema | undefined, string, unknown][] = [
  ['a property', { properties: { a: text } }, 'a', { schema: text }],
  ['a property that is no schema', { properties: { a: 5 } }, 'a', { schema: undefined }],
  ['a key of a map', { additionalProperties: text }, 'a', { schema: text }],
  ['a property before a key', { properties: { a: text }, additionalProperties: {} }, 'a', { schema: text }],
  ['a key of a map of anything', { additionalProperties: true }, 'a', { schema: undefined }],
  ['a key where none may be', { additionalProperties: false }, 'a', { schema: undefined }],
  ['nothing for an unknown member', { properties: { a: text } }, 'b', undefined],
  ['nothing for an inherited member', { properties: {} }, 'toString', undefined],
  ['nothing without properties', { type: 'object' }, 'a', undefined],
  ['nothing without a schema', undefined, 'a', undefined],
];

test.each(members)('knows %s', (_name, schema, name, want) => {
  expect(memberSchema(schema, name)).toEqual(want);
});

test('reads schemas inside a schema', () => {
  const schema = { items: text, not: 5, anyOf: [text, 'x', {}], properties: { a: text } };
  expect(schemaAt(schema, 'items')).toBe(text);
  expect(schemaAt(schema, 'not')).toBeUndefined();
  expect(schemaAt(undefined, 'items')).toBeUndefined();
  expect(schemasAt(schema, 'anyOf')).toEqual([text, {}]);
  expect(schemasAt(schema, 'oneOf')).toEqual([]);
  expect(propertiesOf(schema)).toEqual({ a: text });
  expect(propertiesOf({ properties: [] })).toEqual({});
});

test('takes members of the wrong type for absent', () => {
  const schema = { type: 5, minimum: 'x', required: 'a', nullable: 'yes' };
  expect(textAt(schema, 'type')).toBe('');
  expect(numberAt(schema, 'minimum')).toBeUndefined();
  expect(listAt(schema, 'required')).toEqual([]);
  expect(isSet(schema, 'nullable')).toBe(false);
});

test('reads members of the right type', () => {
  const schema = { type: 'object', minimum: 0, required: ['a'], nullable: true };
  expect(textAt(schema, 'type')).toBe('object');
  expect(numberAt(schema, 'minimum')).toBe(0);
  expect(listAt(schema, 'required')).toEqual(['a']);
  expect(isSet(schema, 'nullable')).toBe(true);
});

test('knows the extensions', () => {
  expect(preserves({ 'x-kubernetes-preserve-unknown-fields': true })).toBe(true);
  expect(isEmbedded({ 'x-kubernetes-embedded-resource': true })).toBe(true);
  expect(isIntOrString({ 'x-kubernetes-int-or-string': true })).toBe(true);
  expect([preserves({}), isEmbedded(undefined), isIntOrString({})]).toEqual([false, false, false]);
});

test('joins paths', () => {
  expect([child('', 'spec'), child('spec', 'a'), child('spec.l[0]', 'a')]).toEqual(['spec', 'spec.a', 'spec.l[0].a']);
});
