import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { sameData } from '#base/compare.ts';
import { followsOrder, inOrder } from './element-order.ts';

const cases: [string, string, string, string, string][] = [
  ['puts new items in front', 'abx', 'x', 'ab', 'xab'],
  ['keeps the order of the live list', 'abc', '', 'abc', 'abc'],
  ['brings items into the wanted order', 'abc', 'cba', 'abc', 'cba'],
  ['leaves other items where they were', 'xec', 'cx', 'xec', 'ecx'],
  ['keeps an item before what it preceded', 'abc', 'c', 'abc', 'abc'],
  ['keeps an item behind what it followed', 'abc', 'a', 'abc', 'abc'],
  ['ignores wanted items that are not there', 'ab', 'zbya', 'ab', 'ba'],
  ['sorts an empty list', '', 'ab', 'ab', ''],
  ['mixes new and old items', 'abcd', 'dyc', 'abc', 'dabc'],
  ['starts with new ones when all are new', 'ba', 'ab', '', 'ab'],
];

test.each(cases)('%s', (...[, items, wanted, live, want]) => {
  const order = { wanted: wanted.split(''), live: live.split(''), same: sameData };
  expect(inOrder(items.split(''), order).join('')).toBe(want);
});

test('finds items by a key', () => {
  const same = (one: unknown, other: unknown): boolean => (one as { n: string }).n === (other as { n: string }).n;
  const items = [
    { n: 'a', v: 1 },
    { n: 'b', v: 2 },
  ];
  const wanted = [{ n: 'b' }, { n: 'a' }];
  expect(inOrder(items, { wanted, live: items, same })).toEqual([items[1], items[0]]);
});

const follows: [string, string, boolean][] = [
  ['', '', true],
  ['', 'abc', true],
  ['a', 'abc', true],
  ['ac', 'abc', true],
  ['abc', 'abc', true],
  ['ca', 'abc', false],
  ['x', 'abc', false],
  ['abcx', 'abc', false],
  ['a', '', false],
  ['aa', 'ab', false],
];

test.each(follows)('checks whether %j follows %j', (items, wanted, want) => {
  expect(followsOrder(items.split(''), wanted.split(''), sameData)).toBe(want);
});

const letters = fc.uniqueArray(fc.constantFrom<string>('a', 'b', 'c', 'd', 'e', 'f'));

test('neither loses nor adds items, and respects the wanted order', () => {
  fc.assert(
    fc.property(letters, letters, letters, (items, wanted, live) => {
      const sorted = inOrder(items, { wanted, live, same: sameData });
      expect(new Set(sorted)).toEqual(new Set(items));
      expect(sorted).toHaveLength(items.length);
      const asked = wanted.filter(item => items.includes(item));
      expect(sorted.filter(item => wanted.includes(item as string))).toEqual(asked);
    }),
    { numRuns: 2000 },
  );
});

test('keeps the live order among other items', () => {
  fc.assert(
    fc.property(letters, letters, (live, wanted) => {
      const sorted = inOrder(live, { wanted, live, same: sameData });
      const rest = (items: readonly unknown[]): unknown[] => items.filter(item => !wanted.includes(item as string));
      expect(rest(sorted)).toEqual(rest(live));
    }),
    { numRuns: 2000 },
  );
});
