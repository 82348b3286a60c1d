import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { builtInType } from './built-in-types.ts';
import { FieldSet } from './field-set.ts';
import { leaf, type ListType, type MergeType } from './merge-type.ts';
import { fieldsOf, fittedFields, withNamedFields } from './owned-fields.ts';

const free: MergeType = { is: 'free', named: false };
const set: ListType = { is: 'list', item: leaf, keys: [] };
const items: ListType = {
  is: 'list',
  item: { is: 'object', fields: { k: leaf, v: leaf }, others: undefined },
  keys: ['k'],
};
const struct: MergeType = { is: 'object', fields: { x: leaf, y: leaf }, others: undefined };
const type: MergeType = {
  is: 'object',
  fields: {
    text: leaf,
    atomic: leaf,
    set,
    items,
    struct,
    map: { is: 'object', fields: {}, others: leaf },
    structs: { is: 'object', fields: {}, others: struct },
    free,
  },
  others: undefined,
};

const claims: [string, unknown, unknown][] = [
  ['a text', { text: 'x' }, { 'f:text': {} }],
  ['a null', { text: null }, { 'f:text': {} }],
  ['a list that belongs together', { atomic: [1, { a: 2 }] }, { 'f:atomic': {} }],
  ['each scalar of a set', { set: ['a', 'b'] }, { 'f:set': { 'v:"a"': {}, 'v:"b"': {} } }],
  ['each item and its fields', { items: [{ k: '1' }] }, { 'f:items': { 'k:{"k":"1"}': { '.': {}, 'f:k': {} } } }],
  ['the fields of an object, not the object', { struct: { x: '1' } }, { 'f:struct': { 'f:x': {} } }],
  ['the keys of a map, not the map', { map: { a: '1' } }, { 'f:map': { 'f:a': {} } }],
  ['keys that hold objects', { structs: { a: { x: '1' } } }, { 'f:structs': { 'f:a': { '.': {}, 'f:x': {} } } }],
  ['keys at every depth', { free: { a: { b: 1 } } }, { 'f:free': { 'f:a': { '.': {}, 'f:b': {} } } }],
  ['a free list as a whole', { free: { a: [1] } }, { 'f:free': { 'f:a': {} } }],
  ['an object without members', { struct: {} }, { 'f:struct': {} }],
  ['an object that is null', { struct: null }, { 'f:struct': {} }],
  ['no empty list', { items: [] }, {}],
  ['a value of the wrong type as a whole', { struct: 'x' }, { 'f:struct': {} }],
  ['nothing of nothing', {}, {}],
];

test.each(claims)('claims %s', (_name, value, want) => {
  expect(fieldsOf(type, value).print()).toEqual(want);
});

test('claims the parts of a Pod as the API server has them', () => {
  const pod = {
    metadata: { labels: { a: 'b' }, finalizers: ['x/y'] },
    spec: {
      containers: [{ name: 'c', image: 'i', ports: [{ containerPort: 80 }], env: [{ name: 'E', value: '1' }] }],
      tolerations: [{ key: 'a' }],
      nodeSelector: { os: 'windows' },
    },
  };
  expect(fieldsOf(builtInType('', 'Pod'), pod).print()).toEqual({
    'f:metadata': { 'f:finalizers': { 'v:"x/y"': {} }, 'f:labels': { 'f:a': {} } },
    'f:spec': {
      'f:containers': {
        'k:{"name":"c"}': {
          '.': {},
          'f:env': { 'k:{"name":"E"}': { '.': {}, 'f:name': {}, 'f:value': {} } },
          'f:image': {},
          'f:name': {},
          'f:ports': { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } },
        },
      },
      'f:nodeSelector': { 'f:os': {} },
      'f:tolerations': {},
    },
  });
});

const named: [string, unknown, unknown][] = [
  ['a field with something below it', { 'f:struct': { 'f:x': {} } }, { 'f:struct': { '.': {}, 'f:x': {} } }],
  [
    'fields of items',
    { 'f:items': { 'k:{"k":"1"}': { 'f:k': {} } } },
    { 'f:items': { '.': {}, 'k:{"k":"1"}': { 'f:k': {} } } },
  ],
  [
    'a map but not its keys',
    { 'f:structs': { 'f:a': { 'f:x': {} } } },
    { 'f:structs': { '.': {}, 'f:a': { 'f:x': {} } } },
  ],
  ['nothing of a field alone', { 'f:text': {} }, { 'f:text': {} }],
];

test.each(named)('adds %s', (_name, before, want) => {
  expect(withNamedFields(type, parsed(before)).print()).toEqual(want);
});

const object = {
  text: 'x',
  atomic: { a: 1 },
  struct: { x: '1', y: '2' },
  items: [{ k: '1' }],
  map: { a: '1' },
  free: { a: 1 },
};

const fitted: [string, unknown, unknown][] = [
  ['a part of what belongs together becomes the whole', { 'f:atomic': { 'f:a': {} } }, { 'f:atomic': {} }],
  ['the whole of an object becomes its parts', { 'f:struct': {} }, { 'f:struct': { '.': {}, 'f:x': {}, 'f:y': {} } }],
  ['the whole of a map becomes its keys', { 'f:map': {} }, { 'f:map': { '.': {}, 'f:a': {} } }],
  [
    'the whole of a list becomes its items',
    { 'f:items': {} },
    { 'f:items': { '.': {}, 'k:{"k":"1"}': { '.': {}, 'f:k': {} } } },
  ],
  ['parts stay parts', { 'f:struct': { '.': {}, 'f:x': {} } }, { 'f:struct': { '.': {}, 'f:x': {} } }],
  ['what is not there stays alone', { 'f:set': {} }, { 'f:set': {} }],
  ['free values stay as they are', { 'f:free': {} }, { 'f:free': {} }],
  ['deep parts are fitted too', { 'f:struct': { 'f:x': { 'f:deep': {} } } }, { 'f:struct': { 'f:x': {} } }],
];

test.each(fitted)('fits a set to its type: %s', (_name, before, want) => {
  expect(fittedFields(type, object, parsed(before)).print()).toEqual(want);
});

const value = fc.record(
  {
    text: fc.string(),
    set: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
    items: fc.uniqueArray(fc.record({ k: fc.constantFrom('1', '2'), v: fc.string() }), { selector: ({ k }) => k }),
    struct: fc.record({ x: fc.string(), y: fc.string() }, { requiredKeys: [] }),
    map: fc.dictionary(fc.constantFrom('a', 'b'), fc.string()),
    free: fc.dictionary(fc.constantFrom('a', 'b'), fc.jsonValue({ maxDepth: 2 })),
  },
  { requiredKeys: [] },
);

test('claims of a value fit its type already', () => {
  fc.assert(
    fc.property(value, object => {
      const claims = fieldsOf(type, object);
      const again = fittedFields(type, object, claims);
      expect(again.print()).toEqual(claims.print());
    }),
    { numRuns: 1000 },
  );
});

test('adding named fields twice is adding them once', () => {
  fc.assert(
    fc.property(value, object => {
      const once = withNamedFields(type, fieldsOf(type, object));
      expect(withNamedFields(type, once).print()).toEqual(once.print());
    }),
    { numRuns: 1000 },
  );
});

function parsed(fieldsV1: unknown): FieldSet {
  return FieldSet.parse(fieldsV1) ?? FieldSet.empty;
}
