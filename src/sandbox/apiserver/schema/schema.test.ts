import { expect, test } from 'vitest';
import {
  child,
  isEmbedded,
  isIntOrString,
  isSet,
  memberSchema,
  preserves,
  propertiesOf,
  type Schema,
  schemaAt,
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
  const schema = { items: text, not: 5, properties: { a: text } };
  expect(schemaAt(schema, 'items')).toBe(text);
  expect(schemaAt(schema, 'not')).toBeUndefined();
  expect(schemaAt(undefined, 'items')).toBeUndefined();
  expect(propertiesOf(schema)).toEqual({ a: text });
  expect(propertiesOf({ properties: [] })).toEqual({});
});

test('a flag is set only by true', () => {
  expect([isSet({ nullable: true }, 'nullable'), isSet({ nullable: 'yes' }, 'nullable')]).toEqual([true, false]);
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
