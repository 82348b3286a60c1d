import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { compareValues } from './compare-values.ts';
import { leaf, type ListType, type MergeType } from './merge-type.ts';
import { fieldsOf } from './owned-fields.ts';

const free: MergeType = { is: 'free', named: false };
const set: ListType = { is: 'list', item: leaf, keys: [] };
const items: ListType = { is: 'list', item: free, keys: ['k'] };
const type: MergeType = { is: 'object', fields: { set, items, atomic: leaf, struct: free }, others: free };

interface Want {
  added?: unknown;
  removed?: unknown;
  modified?: unknown;
}

const cases: [string, unknown, unknown, Want][] = [
  ['nothing when nothing changed', { a: 1, set: ['x'] }, { a: 1, set: ['x'] }, {}],
  ['a changed leaf', { a: 1 }, { a: 2 }, { modified: { 'f:a': {} } }],
  ['a new leaf', {}, { a: 1 }, { added: { 'f:a': {} } }],
  ['a lost leaf', { a: 1 }, {}, { removed: { 'f:a': {} } }],
  [
    'a new object with all levels',
    {},
    { o: { p: { q: 1 } } },
    { added: { 'f:o': { '.': {}, 'f:p': { '.': {}, 'f:q': {} } } } },
  ],
  ['a lost object with all levels', { o: { p: 1 } }, {}, { removed: { 'f:o': { '.': {}, 'f:p': {} } } }],
  [
    'a member of an object that stays',
    { o: { p: 1 } },
    { o: { q: 1 } },
    { added: { 'f:o': { 'f:q': {} } }, removed: { 'f:o': { 'f:p': {} } } },
  ],
  ['a new empty object', {}, { o: {} }, { added: { 'f:o': {} } }],
  ['no change between equal empty objects', { o: {} }, { o: {} }, {}],
  ['a null for an empty object', { o: {} }, { o: null }, { modified: { 'f:o': {} } }],
  ['a changed list without keys', { atomic: [1] }, { atomic: [2] }, { modified: { 'f:atomic': {} } }],
  ['a changed order without keys', { atomic: [1, 2] }, { atomic: [2, 1] }, { modified: { 'f:atomic': {} } }],
  [
    'a changed object that belongs together',
    { atomic: { a: 1 } },
    { atomic: { a: 1, b: 2 } },
    { modified: { 'f:atomic': {} } },
  ],
  ['a new scalar', { set: ['a'] }, { set: ['a', 'b'] }, { added: { 'f:set': { 'v:"b"': {} } } }],
  ['a lost scalar', { set: ['a', 'b'] }, { set: ['b'] }, { removed: { 'f:set': { 'v:"a"': {} } } }],
  ['no change by another order of a set', { set: ['a', 'b'] }, { set: ['b', 'a'] }, {}],
  ['a new set', {}, { set: ['a'] }, { added: { 'f:set': { '.': {}, 'v:"a"': {} } } }],
  [
    'a new item',
    { items: [] },
    { items: [{ k: 1 }] },
    { added: { 'f:items': { 'k:{"k":1}': { '.': {}, 'f:k': {} } } } },
  ],
  [
    'a lost item',
    { items: [{ k: 1 }] },
    { items: [] },
    { removed: { 'f:items': { 'k:{"k":1}': { '.': {}, 'f:k': {} } } } },
  ],
  [
    'a changed item',
    { items: [{ k: 1, v: 1 }] },
    { items: [{ k: 1, v: 2 }] },
    { modified: { 'f:items': { 'k:{"k":1}': { 'f:v': {} } } } },
  ],
  ['no change by another order of items', { items: [{ k: 1 }, { k: 2 }] }, { items: [{ k: 2 }, { k: 1 }] }, {}],
  [
    'items without keys by their places',
    { items: [{ v: 1 }] },
    { items: [{ v: 2 }] },
    { modified: { 'f:items': { 'i:0': { 'f:v': {} } } } },
  ],
  [
    'an object that becomes a text',
    { o: { p: 1 } },
    { o: 'x' },
    { modified: { 'f:o': {} }, removed: { 'f:o': { 'f:p': {} } } },
  ],
  [
    'a text that becomes an object',
    { o: 'x' },
    { o: { p: 1 } },
    { modified: { 'f:o': {} }, added: { 'f:o': { 'f:p': {} } } },
  ],
  [
    'a list that becomes null',
    { items: [{ k: 1 }] },
    { items: null },
    { removed: { 'f:items': { 'k:{"k":1}': { '.': {}, 'f:k': {} } } } },
  ],
  ['everything of a new object', undefined, { a: 1 }, { added: { 'f:a': {} } }],
  ['no change between negative and positive zero', { a: 0 }, { a: -0 }, {}],
];

test.each(cases)('finds %s', (_name, before, after, want) => {
  const { added, removed, modified } = compareValues(type, before, after);
  expect({ added: added.print(), removed: removed.print(), modified: modified.print() }).toEqual({
    added: {},
    removed: {},
    modified: {},
    ...want,
  });
});

const value = fc.record(
  {
    set: fc.uniqueArray(fc.constantFrom('a', 'b', 'c')),
    items: fc.uniqueArray(fc.record({ k: fc.constantFrom(1, 2, 3), v: fc.integer({ max: 2, min: 0 }) }), {
      selector: ({ k }) => k,
    }),
    atomic: fc.array(fc.integer({ min: 0, max: 1 }), { maxLength: 2 }),
    struct: fc.dictionary(fc.constantFrom('x', 'y'), fc.oneof(fc.integer({ min: 0, max: 1 }), fc.constant({ z: 1 })), {
      minKeys: 1,
    }),
  },
  { requiredKeys: [] },
);

test('finds nothing between a value and itself', () => {
  fc.assert(
    fc.property(value, object => {
      const { added, removed, modified } = compareValues(type, object, structuredClone(object));
      expect([added, removed, modified].every(({ isEmpty }) => isEmpty)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test('finds the same backwards, with additions and removals exchanged', () => {
  fc.assert(
    fc.property(value, value, (one, other) => {
      const there = compareValues(type, one, other);
      const back = compareValues(type, other, one);
      expect(back.added.print()).toEqual(there.removed.print());
      expect(back.removed.print()).toEqual(there.added.print());
      expect(back.modified.print()).toEqual(there.modified.print());
    }),
    { numRuns: 2000 },
  );
});

test('never lists a path as both new and lost, or new and changed', () => {
  fc.assert(
    fc.property(value, value, (one, other) => {
      const { added, removed, modified } = compareValues(type, one, other);
      expect(added.intersection(removed).isEmpty).toBe(true);
      expect(added.intersection(modified).isEmpty).toBe(true);
      expect(removed.intersection(modified).isEmpty).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

test('lists every claim that only one of the two makes', () => {
  fc.assert(
    fc.property(value, value, (one, other) => {
      const { added, modified } = compareValues(type, one, other);
      const fresh = fieldsOf(type, other).difference(fieldsOf(type, one));
      expect(fresh.difference(added.union(modified)).print()).toEqual({});
    }),
    { numRuns: 2000 },
  );
});

test('compares anything with anything', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
      compareValues(type, one, other);
    }),
    { numRuns: 1000 },
  );
});
