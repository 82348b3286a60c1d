import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { objectMetadata } from './built-in-types.ts';
import { leaf, type MergeType } from './merge-type.ts';
import { customType } from './schema-type.ts';

const free: MergeType = { is: 'free', named: false };
const head = { apiVersion: leaf, kind: leaf, metadata: objectMetadata };

/** The type that the schema of a member called spec leads to. */
function specType(spec: unknown): MergeType | undefined {
  return customType({ type: 'object', properties: { spec } }).fields['spec'];
}

const cases: [string, unknown, MergeType][] = [
  ['a text', { type: 'string' }, leaf],
  ['a number', { type: 'integer' }, leaf],
  ['a truth value', { type: 'boolean' }, leaf],
  ['a number or text', { 'x-kubernetes-int-or-string': true }, leaf],
  ['a list', { type: 'array', items: { type: 'string' } }, leaf],
  ['an atomic list', { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'string' } }, leaf],
  ['a list type nobody knows', { type: 'array', 'x-kubernetes-list-type': 'frob', items: {} }, leaf],
  [
    'a set',
    { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    { is: 'list', item: leaf, keys: [] },
  ],
  [
    'a list with keys',
    {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name', 'port'],
      items: { type: 'object', properties: { name: { type: 'string' }, port: { type: 'integer', default: 80 } } },
    },
    {
      is: 'list',
      item: { is: 'object', fields: { name: leaf, port: leaf }, others: undefined },
      keys: ['name', 'port'],
      defaults: { port: 80 },
    },
  ],
  [
    'a list whose keys are no texts',
    { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [5, 'a'] },
    { is: 'list', item: free, keys: ['a'], defaults: {} },
  ],
  [
    'an object',
    { type: 'object', properties: { a: { type: 'string' } } },
    { is: 'object', fields: { a: leaf }, others: undefined },
  ],
  ['an atomic object', { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: {} } }, leaf],
  [
    'a granular object',
    { type: 'object', 'x-kubernetes-map-type': 'granular', properties: { a: { type: 'string' } } },
    { is: 'object', fields: { a: leaf }, others: undefined },
  ],
  [
    'a map of texts',
    { type: 'object', additionalProperties: { type: 'string' } },
    { is: 'object', fields: {}, others: leaf },
  ],
  ['a map of anything', { type: 'object', additionalProperties: true }, free],
  ['an object without fields', { type: 'object' }, free],
  [
    'an object that keeps unknown fields',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
    { is: 'object', fields: { a: leaf }, others: free },
  ],
  ['anything', { 'x-kubernetes-preserve-unknown-fields': true }, { is: 'object', fields: {}, others: free }],
  [
    'an embedded object',
    {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: { spec: { type: 'object', additionalProperties: { type: 'integer' } } },
    },
    { is: 'object', fields: { spec: { is: 'object', fields: {}, others: leaf }, ...head }, others: undefined },
  ],
  ['no schema at all', 'nonsense', free],
];

test.each(cases)('reads the schema of %s', (_name, schema, want) => {
  expect(specType(schema)).toEqual(want);
});

test('knows the members every object has', () => {
  const type = customType({ type: 'object', properties: { metadata: { type: 'object' }, spec: { type: 'string' } } });
  expect(type).toEqual({ is: 'object', fields: { spec: leaf, ...head }, others: undefined });
});

test.each([
  ['nothing', undefined],
  ['a text', 'x'],
  ['an empty schema', {}],
  ['a schema of something else', { type: 'array' }],
])('merges freely by %s', (_name, schema) => {
  expect(customType(schema)).toMatchObject({ is: 'object', fields: head, others: free });
});

test('is not led astray by members that objects inherit', () => {
  const schema = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['toString'],
    items: { type: 'object', properties: { a: { type: 'string' } } },
  };
  expect(specType(schema)).toMatchObject({ keys: ['toString'], defaults: {} });
});

test('makes a type of every schema', () => {
  const members = fc.constantFrom('type', 'items', 'properties', 'additionalProperties', 'x-kubernetes-list-type');
  const values = fc.oneof(fc.jsonValue(), fc.constantFrom('object', 'array', 'set', 'map'));
  fc.assert(
    fc.property(fc.dictionary(members, values), schema => {
      expect(customType(schema).is).toBe('object');
      specType(schema);
    }),
    { numRuns: 2000 },
  );
});
