import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareValues } from './compare-values.ts';
import { FieldSet } from './field-set.ts';
import { leaf, type ListType, type MergeType } from './merge-type.ts';
import { mergeValues, removeFields } from './merge-values.ts';
import { fieldsOf } from './owned-fields.ts';

const free: MergeType = { is: 'free', named: false };
const set: ListType = { is: 'list', item: leaf, keys: [] };
const items: ListType = { is: 'list', item: free, keys: ['k'] };
const struct: MergeType = { is: 'object', fields: { x: leaf, y: leaf }, others: undefined };
const type: MergeType = { is: 'object', fields: { set, items, atomic: leaf, struct }, others: free };

const merges: [string, unknown, unknown, unknown][] = [
  ['adds what is new', { a: 1 }, { b: 2 }, { a: 1, b: 2 }],
  ['replaces leaves', { a: 1 }, { a: 2 }, { a: 2 }],
  ['replaces a leaf by null', { a: 1 }, { a: null }, { a: null }],
  ['merges objects', { struct: { x: 1 } }, { struct: { y: 2 } }, { struct: { x: 1, y: 2 } }],
  ['leaves an object alone that is applied as null', { struct: { x: 1 } }, { struct: null }, { struct: { x: 1 } }],
  ['leaves a list alone that is applied as null', { set: ['a'] }, { set: null }, { set: ['a'] }],
  ['keeps a null where nothing was', {}, { struct: null }, { struct: null }],
  ['leaves an object alone that is applied empty', { struct: { x: 1 } }, { struct: {} }, { struct: { x: 1 } }],
  ['replaces lists that belong together', { atomic: [1, 2] }, { atomic: [3] }, { atomic: [3] }],
  ['replaces objects that belong together', { atomic: { a: 1 } }, { atomic: { b: 2 } }, { atomic: { b: 2 } }],
  ['adds scalars behind those that are there', { set: ['a'] }, { set: ['c', 'a'] }, { set: ['a', 'c'] }],
  [
    'merges items by keys, new ones behind',
    { items: [{ k: 1, v: 1 }, { k: 2 }] },
    { items: [{ k: 3 }, { k: 1, w: 2 }] },
    { items: [{ k: 1, v: 1, w: 2 }, { k: 2 }, { k: 3 }] },
  ],
  ['fills a list that was null', { set: null }, { set: ['a'] }, { set: ['a'] }],
  ['fills an object that was null', { struct: null }, { struct: { x: 1 } }, { struct: { x: 1 } }],
  ['lets the applied value win over one of another type', { struct: 'x' }, { struct: { x: 1 } }, { struct: { x: 1 } }],
  ['lets an applied text win over an object', { struct: { x: 1 } }, { struct: 'x' }, { struct: 'x' }],
  ['makes an object out of nothing', undefined, { a: 1 }, { a: 1 }],
];

test.each(merges)('%s', (_name, live, applied, want) => {
  expect(mergeValues(type, live, applied)).toEqual(want);
});

test('keeps the order of members', () => {
  expect(Object.keys(mergeValues(type, { b: 1, a: 1 }, { c: 1, a: 2 }) as object)).toEqual(['b', 'a', 'c']);
});

test('treats a member named __proto__ like any other', () => {
  const merged = mergeValues(type, {}, JSON.parse('{"__proto__":{"x":1}}'));
  expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
});

const removals: [string, unknown, unknown, unknown][] = [
  ['a leaf', { a: 1, b: 2 }, { 'f:a': {} }, { b: 2 }],
  ['a leaf inside', { struct: { x: 1, y: 2 } }, { 'f:struct': { 'f:x': {} } }, { struct: { y: 2 } }],
  ['the last member of an object', { a: 1, struct: { x: 1 } }, { 'f:struct': { 'f:x': {} } }, { a: 1, struct: {} }],
  ['a whole object', { a: 1, struct: { x: 1, y: 2 } }, { 'f:struct': {} }, { a: 1 }],
  ['a scalar', { set: ['a', 'b'] }, { 'f:set': { 'v:"a"': {} } }, { set: ['b'] }],
  ['the last scalar of a list', { a: 1, set: ['a'] }, { 'f:set': { 'v:"a"': {} } }, { a: 1, set: [] }],
  ['a list with its last scalar', { a: 1, set: ['a'] }, { 'f:set': { '.': {}, 'v:"a"': {} } }, { a: 1 }],
  ['nothing of null', { struct: null }, { 'f:struct': { 'f:x': {} } }, { struct: null }],
  ['an item', { items: [{ k: 1 }, { k: 2 }] }, { 'f:items': { 'k:{"k":1}': {} } }, { items: [{ k: 2 }] }],
  [
    'a member of an item',
    { items: [{ k: 1, v: 2 }] },
    { 'f:items': { 'k:{"k":1}': { 'f:v': {} } } },
    { items: [{ k: 1 }] },
  ],
  ['nothing that is not there', { a: 1 }, { 'f:z': {}, 'f:struct': { 'f:x': {} } }, { a: 1 }],
  ['nothing below a leaf', { atomic: { a: 1 } }, { 'f:atomic': { 'f:a': {} } }, { atomic: { a: 1 } }],
  ['everything', { a: 1 }, { 'f:a': {} }, {}],
  ['nothing by an empty set', { a: {}, set: [] }, {}, { a: {}, set: [] }],
];

test.each(removals)('takes away %s', (_name, value, fields, want) => {
  expect(removeFields(type, value, FieldSet.parse(fields) ?? FieldSet.empty)).toEqual(want);
});

const value = fc.record(
  {
    set: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1 }),
    items: fc.uniqueArray(fc.record({ k: fc.constantFrom(1, 2, 3), v: fc.integer({ max: 2, min: 0 }) }), {
      selector: ({ k }) => k,
      minLength: 1,
    }),
    atomic: fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 2 }),
    struct: fc.record({ x: fc.integer(), y: fc.integer() }, { requiredKeys: ['x'] }),
    other: fc.integer({ min: 0, max: 3 }),
  },
  { requiredKeys: ['other'] },
);

test('merging twice is merging once', () => {
  fc.assert(
    fc.property(value, value, (live, applied) => {
      const once = mergeValues(type, live, applied);
      expect(mergeValues(type, once, applied)).toEqual(once);
    }),
    { numRuns: 2000 },
  );
});

test('merging removes nothing, and everything applied is there', () => {
  fc.assert(
    fc.property(value, value, (live, applied) => {
      const merged = mergeValues(type, live, applied);
      expect(compareValues(type, live, merged).removed.print()).toEqual({});
      const { added, modified } = compareValues(type, merged, applied);
      expect([added.print(), modified.print()]).toEqual([{}, {}]);
    }),
    { numRuns: 2000 },
  );
});

test('nothing that was removed is left, and nothing else is gone', () => {
  fc.assert(
    fc.property(value, value, (live, other) => {
      const gone = fieldsOf(type, other);
      const rest = removeFields(type, live, gone);
      expect(fieldsOf(type, rest).intersection(gone).print()).toEqual({});
      const { added, modified } = compareValues(type, live, rest);
      expect([added.print(), modified.print()]).toEqual([{}, {}]);
    }),
    { numRuns: 2000 },
  );
});

test('what was added by a merge can be taken away again', () => {
  fc.assert(
    fc.property(value, value, (live, applied) => {
      const merged = mergeValues(type, live, applied);
      const { added } = compareValues(type, live, merged);
      const { modified } = compareValues(type, live, removeFields(type, merged, added));
      expect(compareValues(type, live, removeFields(type, merged, added)).removed.print()).toEqual({});
      expect(modified.print()).toEqual(compareValues(type, live, merged).modified.print());
    }),
    { numRuns: 1000 },
  );
});
