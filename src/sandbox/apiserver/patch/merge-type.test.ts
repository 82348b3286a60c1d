import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Form, formOf, leaf, type ListType, type MergeType, memberType, type ObjectType } from './merge-type.ts';

const named: MergeType = { is: 'free', named: true };
const free: MergeType = { is: 'free', named: false };
const list: ListType = { is: 'list', item: leaf, keys: [] };
const object: ObjectType = { is: 'object', fields: { spec: list }, others: undefined };
const map: ObjectType = { is: 'object', fields: {}, others: leaf };

const forms: [string, MergeType, unknown, Form][] = [
  ['a leaf with a text', leaf, 'x', 'leaf'],
  ['a leaf with an object', leaf, { a: 1 }, 'leaf'],
  ['a leaf with nothing', leaf, undefined, 'leaf'],
  ['an object with members', object, { a: 1 }, 'object'],
  ['an object that is null', object, null, 'object'],
  ['an object that is missing', object, undefined, 'object'],
  ['an object that is a text', object, 'x', 'leaf'],
  ['an object that is a list', object, [], 'leaf'],
  ['a list with items', list, [1], 'list'],
  ['a list that is null', list, null, 'list'],
  ['a list that is missing', list, undefined, 'list'],
  ['a list that is an object', list, {}, 'leaf'],
  ['a free value with members', free, { a: 1 }, 'object'],
  ['a free value without members', free, {}, 'object'],
  ['a free list', free, [1], 'leaf'],
  ['a free text', free, 'x', 'leaf'],
  ['a free null', free, null, 'leaf'],
  ['a free value that is missing', named, undefined, 'leaf'],
];

test.each(forms)('gives the form of %s', (_name, type, value, want) => {
  expect(formOf(type, value)).toBe(want);
});

const members: [string, MergeType, string, { type: MergeType; named: boolean } | undefined][] = [
  ['a field', object, 'spec', { type: list, named: true }],
  ['a member that may not be there', object, 'status', undefined],
  ['what all objects inherit', object, 'toString', undefined],
  ['the key of a map', map, 'anything', { type: leaf, named: false }],
  ['a member of a free object', free, 'a', { type: free, named: false }],
  ['a field of a built-in object nobody listed', named, 'a', { type: named, named: true }],
  ['a member below a leaf', leaf, 'a', { type: leaf, named: true }],
  ['a member of what should be a list', list, 'a', { type: leaf, named: true }],
  [
    'a field nobody listed beside listed ones',
    { is: 'object', fields: {}, others: named },
    'x',
    { type: named, named: true },
  ],
  ['a key beside fields', { is: 'object', fields: {}, others: free }, 'x', { type: free, named: false }],
];

test.each(members)('knows %s', (_name, type, name, want) => {
  expect(memberType(type, name)).toEqual(want);
});

test('gives every value of every type a form', () => {
  fc.assert(
    fc.property(fc.constantFrom<MergeType>(leaf, named, free, list, object, map), fc.jsonValue(), (type, value) => {
      expect(['leaf', 'object', 'list']).toContain(formOf(type, value));
    }),
    { numRuns: 1000 },
  );
});
