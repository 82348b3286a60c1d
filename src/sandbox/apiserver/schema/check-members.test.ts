import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { memberTypeCauses } from './check-members.ts';

function found(schema: Record<string, unknown>): string[] {
  return memberTypeCauses(schema, 'S').map(({ field, message }) => `${field}: ${message}`);
}

const texts = ['type', 'format', 'title', 'description', 'pattern', 'x-kubernetes-list-type', 'x-kubernetes-map-type'];
const numbers = [
  'maximum',
  'minimum',
  'multipleOf',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'maxProperties',
  'minProperties',
];
const flags = [
  'exclusiveMaximum',
  'exclusiveMinimum',
  'nullable',
  'uniqueItems',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
  'x-kubernetes-preserve-unknown-fields',
];
const lists = ['required', 'x-kubernetes-list-map-keys'];

test.each(texts)('wants a text for %s', name => {
  expect(found({ [name]: 'x' })).toEqual([]);
  expect(found({ [name]: 5 })).toEqual([`S.${name}: Invalid value: 5: must be a text`]);
  expect(found({ [name]: ['x'] })).toHaveLength(1);
});

test.each(numbers)('wants a number for %s', name => {
  expect(found({ [name]: 5 })).toEqual([]);
  expect(found({ [name]: '5' })).toEqual([`S.${name}: Invalid value: "5": must be a number`]);
});

test.each(flags)('wants true or false for %s', name => {
  expect([found({ [name]: true }), found({ [name]: false })]).toEqual([[], []]);
  expect(found({ [name]: 'true' })).toEqual([`S.${name}: Invalid value: "true": must be true or false`]);
});

test.each(lists)('wants a list of texts for %s', name => {
  expect(found({ [name]: ['a', 'b'] })).toEqual([]);
  expect(found({ [name]: [] })).toEqual([]);
  expect(found({ [name]: 'a' })).toEqual([`S.${name}: Invalid value: "a": must be a list of texts`]);
  expect(found({ [name]: ['a', 5] })).toHaveLength(1);
});

test('wants a list for the values of an enum', () => {
  expect(found({ enum: ['a', 5, null] })).toEqual([]);
  expect(found({ enum: 'a' })).toEqual(['S.enum: Invalid value: "a": must be a list']);
});

const parts: [string, Record<string, unknown>, string[]][] = [
  ['a schema for items', { items: 5 }, ['S.items: Invalid value: 5: must be an object']],
  [
    'a list of schemas for items, which is refused elsewhere',
    { items: [{ type: 5 }] },
    ['S.items[0].type: Invalid value: 5: must be a text'],
  ],
  ['a schema for not', { not: [] }, ['S.not: Invalid value: []: must be an object']],
  [
    'lists of schemas for alternatives',
    { anyOf: {}, oneOf: [5] },
    ['S.anyOf: Invalid value: {}: must be a list', 'S.oneOf[0]: Invalid value: 5: must be an object'],
  ],
  ['a list of schemas for allOf', { allOf: 'x' }, ['S.allOf: Invalid value: "x": must be a list']],
  ['an object for properties', { properties: [] }, ['S.properties: Invalid value: []: must be an object']],
  ['schemas in properties', { properties: { a: 'x' } }, ['S.properties[a]: Invalid value: "x": must be an object']],
  [
    'a schema or a truth value for other members',
    { additionalProperties: 'x' },
    ['S.additionalProperties: Invalid value: "x": must be an object'],
  ],
  [
    'the right types at every depth',
    { properties: { a: { items: { not: { type: 5 } } } } },
    ['S.properties[a].items.not.type: Invalid value: 5: must be a text'],
  ],
];

test.each(parts)('wants %s', (_name, schema, want) => {
  expect(found(schema)).toEqual(want);
});

test.each([{ additionalProperties: true }, { additionalProperties: {} }, { items: {} }, { properties: { a: {} } }])(
  'takes %j',
  schema => {
    expect(found(schema)).toEqual([]);
  },
);

test('takes null for absent', () => {
  expect(found({ type: null, items: null, properties: null, enum: null })).toEqual([]);
});

test('takes anything for members nobody knows', () => {
  expect(found({ frob: 5, example: [], default: { any: 'thing' }, toString: 5 })).toEqual([]);
});

test('judges anything', () => {
  fc.assert(
    fc.property(
      fc.dictionary(fc.constantFrom(...texts, ...numbers, ...flags, 'items', 'properties', 'anyOf'), fc.jsonValue()),
      schema => {
        found(schema);
      },
    ),
    { numRuns: 1000 },
  );
});
