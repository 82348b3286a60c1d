import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { extensionCauses } from './check-extensions.ts';
import type { Schema } from './schema.ts';

function found(schema: Schema): string[] {
  return extensionCauses(schema, 'S').map(
    ({ reason, field, message }) => `${reason?.replace('FieldValue', '')} ${field}: ${message}`,
  );
}

const text = { type: 'string' };
const listType = (type: string, more: Schema = {}): Schema => ({
  type: 'array',
  'x-kubernetes-list-type': type,
  ...more,
});
const keyed = (keys: string[], items: unknown): Schema =>
  listType('map', { 'x-kubernetes-list-map-keys': keys, items });
const item = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });

const good: [string, Schema][] = [
  ['no extension', { type: 'array', items: text }],
  ['an atomic list', listType('atomic', { items: text })],
  ['a set of texts', listType('set', { items: text })],
  ['a set of atomic lists', listType('set', { items: listType('atomic', { items: text }) })],
  ['a set of lists, which are atomic by themselves', listType('set', { items: { type: 'array', items: text } })],
  ['a set of atomic objects', listType('set', { items: { type: 'object', 'x-kubernetes-map-type': 'atomic' } })],
  ['keys that are required', keyed(['a', 'b'], item({ a: text, b: { type: 'integer' } }, { required: ['a', 'b'] }))],
  ['keys with a default', keyed(['a'], item({ a: { ...text, default: 'x' } }))],
  ['an atomic object', { type: 'object', 'x-kubernetes-map-type': 'atomic' }],
  ['a granular object', { type: 'object', 'x-kubernetes-map-type': 'granular' }],
  ['unknown fields', { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }],
];

test.each(good)('takes %s', (_name, schema) => {
  expect(found(schema)).toEqual([]);
});

/** Fields, reasons and words are those of kube-apiserver. */
const bad: [string, Schema, string[]][] = [
  [
    'unknown fields in so many words',
    { type: 'object', 'x-kubernetes-preserve-unknown-fields': false },
    ['Invalid S.x-kubernetes-preserve-unknown-fields: Invalid value: false: must be true or undefined'],
  ],
  [
    'a list type of a text',
    { type: 'string', 'x-kubernetes-list-type': 'set' },
    ['Invalid S.type: Invalid value: "string": must be array if x-kubernetes-list-type is specified'],
  ],
  [
    'a list type without a type',
    { 'x-kubernetes-list-type': 'set' },
    ['Required S.type: Required value: must be array if x-kubernetes-list-type is specified'],
  ],
  [
    'an unknown list type',
    listType('frob', { items: text }),
    ['NotSupported S.x-kubernetes-list-type: Unsupported value: "frob": supported values: "atomic", "set", "map"'],
  ],
  [
    'a map type of a text',
    { type: 'string', 'x-kubernetes-map-type': 'atomic' },
    ['Invalid S.type: Invalid value: "string": must be object if x-kubernetes-map-type is specified'],
  ],
  [
    'a map type without a type',
    { 'x-kubernetes-map-type': 'atomic' },
    ['Required S.type: Required value: must be object if x-kubernetes-map-type is specified'],
  ],
  [
    'an unknown map type',
    { type: 'object', 'x-kubernetes-map-type': 'frob' },
    ['NotSupported S.x-kubernetes-map-type: Unsupported value: "frob": supported values: "atomic", "granular"'],
  ],
  [
    'a set of objects with parts',
    listType('set', { items: { type: 'object' } }),
    [
      'Invalid S.items.x-kubernetes-map-type: Invalid value: null: must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
  ],
  [
    'a set of sets',
    listType('set', { items: listType('set', { items: text }) }),
    [
      'Invalid S.items.x-kubernetes-list-type: Invalid value: "set": must be atomic as item of a list with x-kubernetes-list-type=set',
    ],
  ],
  [
    'a set with nulls',
    listType('set', { items: { ...text, nullable: true } }),
    ['Forbidden S.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is set'],
  ],
  [
    'no keys',
    listType('map', { items: item({}) }),
    ['Required S.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map'],
  ],
  [
    'keys without items',
    listType('map', { 'x-kubernetes-list-map-keys': ['a'] }),
    ['Required S.items: Required value: must have a schema if x-kubernetes-list-type is map'],
  ],
  [
    'keys of texts',
    keyed(['a'], text),
    ['Invalid S.items.type: Invalid value: "string": must be object if parent array\'s x-kubernetes-list-type is map'],
  ],
  [
    'keys that are no fields',
    keyed(['a'], item({ b: text })),
    ['Invalid S.x-kubernetes-list-map-keys: Invalid value: ["a"]: entries must all be names of item properties'],
  ],
  [
    'a key that all objects inherit',
    keyed(['toString'], item({ b: text })),
    ['Invalid S.x-kubernetes-list-map-keys: Invalid value: ["toString"]: entries must all be names of item properties'],
  ],
  [
    'a key twice',
    keyed(['a', 'a'], item({ a: text }, { required: ['a'] })),
    ['Invalid S.x-kubernetes-list-map-keys: Invalid value: ["a","a"]: must not contain duplicate entries'],
  ],
  [
    'a key that is an object',
    keyed(['a'], item({ a: { type: 'object' } }, { required: ['a'] })),
    [
      'Invalid S.items.properties[a].type: Invalid value: "object": must be a scalar type if parent array\'s x-kubernetes-list-type is map',
    ],
  ],
  [
    'a key that may be absent',
    keyed(['a'], item({ a: text })),
    [
      'Required S.items.properties[a].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property',
    ],
  ],
  [
    'a key that may be null, in items that may be null',
    keyed(['a'], item({ a: { ...text, nullable: true } }, { required: ['a'], nullable: true })),
    [
      'Forbidden S.items.nullable: Forbidden: cannot be nullable when x-kubernetes-list-type is map',
      'Forbidden S.items.properties[a].nullable: Forbidden: this property is in x-kubernetes-list-map-keys, so it cannot be nullable',
    ],
  ],
  [
    'keys without a list type',
    { type: 'array', items: text, 'x-kubernetes-list-map-keys': ['a'] },
    ['Required S.x-kubernetes-list-type: Required value: must be map if x-kubernetes-list-map-keys is non-empty'],
  ],
  [
    'keys of a set',
    listType('set', { items: text, 'x-kubernetes-list-map-keys': ['a'] }),
    ['Invalid S.x-kubernetes-list-type: Invalid value: "set": must be map if x-kubernetes-list-map-keys is non-empty'],
  ],
];

test.each(bad)('refuses %s', (_name, schema, want) => {
  expect(found(schema)).toEqual(want);
});

test('judges anything', () => {
  const extension = fc.constantFrom(
    'type',
    'items',
    'x-kubernetes-list-type',
    'x-kubernetes-map-type',
    'x-kubernetes-list-map-keys',
  );
  const value = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom<unknown>('array', 'map', 'set', ['a'], { type: 'object', properties: { a: 5 } }),
  );
  fc.assert(
    fc.property(fc.dictionary(extension, value), schema => {
      found(schema);
    }),
    { numRuns: 2000 },
  );
});
