import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { listIndex, memberOf, parsePointer, valueAt } from './json-pointer.ts';

const pointers: [string, string, string[] | undefined][] = [
  ['the whole document', '', []],
  ['a member', '/foo', ['foo']],
  ['an item of a list', '/foo/0', ['foo', '0']],
  ['a member without a name', '/', ['']],
  ['a slash in a name', '/a~1b', ['a/b']],
  ['a tilde in a name', '/m~0n', ['m~n']],
  ['a tilde before a one', '/~01', ['~1']],
  ['characters that need no escape', '/c%d/e^f/g|h/ ', ['c%d', 'e^f', 'g|h', ' ']],
  ['an escape nobody knows', '/a~2b', ['a~2b']],
  ['names that are empty', '//a/', ['', 'a', '']],
  ['nothing without a leading slash', 'foo', undefined],
  ['nothing for a relative path', 'a/b', undefined],
];

test.each(pointers)('reads %s', (_name, text, want) => {
  expect(parsePointer(text)).toEqual(want);
});

const indexes: [string, number, number | undefined][] = [
  ['0', 3, 0],
  ['2', 3, 2],
  ['3', 3, undefined],
  ['0', 0, undefined],
  ['-1', 3, 2],
  ['-3', 3, 0],
  ['-4', 3, undefined],
  ['-', 3, undefined],
  ['', 3, undefined],
  ['x', 3, undefined],
  ['01', 3, undefined],
  ['1.0', 3, undefined],
  ['1e0', 3, undefined],
  [' 1', 3, undefined],
  ['+1', 3, undefined],
  ['99999999999999999999', 3, undefined],
];

test.each(indexes)('takes %j in a list of %i as %j', (token, length, want) => {
  expect(listIndex(token, length)).toBe(want);
});

test('takes minus zero as no place in an empty list', () => {
  expect(listIndex('-0', 0)).toBeUndefined();
});

const members: [string, unknown, string, { value: unknown } | undefined][] = [
  ['a member of an object', { a: 1 }, 'a', { value: 1 }],
  ['a member that is null', { a: null }, 'a', { value: null }],
  ['an item of a list', [1, 2], '1', { value: 2 }],
  ['the last item', [1, 2], '-1', { value: 2 }],
  ['nothing in a text', 'abc', '0', undefined],
  ['nothing in null', null, 'a', undefined],
  ['nothing of what objects inherit', {}, 'toString', undefined],
  ['nothing of what lists inherit', [], 'length', undefined],
];

test.each(members)('finds %s', (_name, container, token, want) => {
  expect(memberOf(container, token)).toEqual(want);
});

const document = { a: { b: [{ c: 'deep' }] }, 'x/y': 1, '': 'empty' };
const values: [string, { value: unknown } | undefined][] = [
  ['', { value: document }],
  ['/a/b/0/c', { value: 'deep' }],
  ['/a/b/-1/c', { value: 'deep' }],
  ['/x~1y', { value: 1 }],
  ['/', { value: 'empty' }],
  ['/a/z', undefined],
  ['/a/z/q', undefined],
  ['/a/b/1', undefined],
  ['/x~1y/deeper', undefined],
];

test.each(values)('follows %j', (pointer, want) => {
  expect(valueAt(document, parsePointer(pointer) ?? [])).toEqual(want);
});

test('reads back every list of names', () => {
  const names = fc.array(fc.string({ unit: fc.constantFrom('a', '/', '~', '0', '1') }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(names, tokens => {
      const text = tokens.map(token => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
      expect(parsePointer(text)).toEqual(tokens);
    }),
    { numRuns: 2000 },
  );
});
