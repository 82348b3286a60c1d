import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { listTypeCauses } from './list-types.ts';
import type { Schema } from './schema.ts';

const set: Schema = { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } };
const byKeys = (...keys: string[]): Schema => ({
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': keys,
  items: { type: 'object', properties: { inner: set } },
});

function found(schema: Schema | undefined, value: unknown): string[] {
  return listTypeCauses(schema, value, 'l').map(({ field, message }) => `${field}: ${message}`);
}

const cases: [string, Schema, unknown, string[]][] = [
  ['different scalars', set, ['a', 'b'], []],
  ['a scalar twice', set, ['a', 'a'], ['l[1]: Duplicate value: "a"']],
  ['a scalar often, but once', set, ['a', 'b', 'a', 'a'], ['l[2]: Duplicate value: "a"']],
  ['two scalars twice', set, ['a', 'b', 'a', 'b'], ['l[2]: Duplicate value: "a"', 'l[3]: Duplicate value: "b"']],
  ['a text and a number', set, ['1', 1], []],
  ['null and its name', set, [null, 'null'], []],
  ['an object twice', set, [{ a: 1 }, { a: 1 }], ['l[1]: Duplicate value: {"a":1}']],
  ['an empty set', set, [], []],
  ['items with different keys', byKeys('k'), [{ k: 'a' }, { k: 'b' }], []],
  [
    'items with the same key',
    byKeys('k'),
    [
      { k: 'a', v: 1 },
      { k: 'a', v: 2 },
    ],
    ['l[1]: Duplicate value: {"k":"a"}'],
  ],
  ['two items without the key', byKeys('k'), [{}, {}], ['l[1]: Duplicate value: {}']],
  ['one item without the key', byKeys('k'), [{}, { k: 'a' }], []],
  [
    'keys of which one differs',
    byKeys('k', 'p'),
    [
      { k: 'a', p: 1 },
      { k: 'a', p: 2 },
    ],
    [],
  ],
  [
    'keys that are all the same',
    byKeys('k', 'p'),
    [
      { k: 'a', p: 1 },
      { k: 'b', p: 1 },
      { p: 1, k: 'a' },
    ],
    ['l[2]: Duplicate value: {"k":"a","p":1}'],
  ],
  [
    'an item that is no object',
    byKeys('k'),
    [{ k: 'a' }, 1],
    ['l[1]: Invalid value: 1: must be an object for an array of list-type map'],
  ],
  ['a null item', byKeys('k'), [null, { k: 'a' }], []],
  ['a set inside an item', byKeys('k'), [{ k: 'a', inner: ['x', 'x'] }], ['l[0].inner[1]: Duplicate value: "x"']],
  ['a list of another type', { type: 'array', 'x-kubernetes-list-type': 'atomic' }, ['a', 'a'], []],
  ['a list of no type', { type: 'array' }, ['a', 'a'], []],
  ['a set in an object', { properties: { s: set } }, { s: ['a', 'a'] }, ['l.s[1]: Duplicate value: "a"']],
  ['a set in a map', { additionalProperties: set }, { any: ['a', 'a'] }, ['l.any[1]: Duplicate value: "a"']],
  ['a set in a set of lists', { type: 'array', items: set }, [['a', 'a']], ['l[0][1]: Duplicate value: "a"']],
  ['something else than a list', set, 'a', []],
];

test.each(cases)('judges %s', (_name, schema, value, want) => {
  expect(found(schema, value)).toEqual(want);
});

test('checks nothing without a schema', () => {
  expect(found(undefined, ['a', 'a'])).toEqual([]);
});

test('uses the reasons of the API server', () => {
  expect(listTypeCauses(set, ['a', 'a'], 'l')).toEqual([
    { reason: 'FieldValueDuplicate', field: 'l[1]', message: 'Duplicate value: "a"' },
  ]);
});

test('finds a duplicate exactly when there is one', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c', 'd')), items => {
      const repeated = new Set(items.filter((item, index) => items.indexOf(item) !== index));
      expect(found(set, items)).toHaveLength(repeated.size);
    }),
    { numRuns: 1000 },
  );
});
