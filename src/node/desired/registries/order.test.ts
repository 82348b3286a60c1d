import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergeOrders } from './order.ts';

const cases: [name: string, lists: string[], want: string][] = [
  ['no list', [], ''],
  ['one list stays as it is', ['cab'], 'cab'],
  ['a name that is listed twice counts where it stands first', ['abca'], 'abc'],
  ['lists without a common name follow each other', ['ba', 'dc'], 'badc'],
  ['a list fills the gaps of another', ['ad', 'abcd'], 'abcd'],
  ['a later list orders what two earlier ones leave open', ['ab', 'cd', 'da'], 'cdab'],
  ['the earlier of two contrary lists wins', ['ab', 'ba'], 'ab'],
  ['a contradiction leaves the rest of the list in its order', ['ba', 'abc'], 'bac'],
  ['a contradiction by way of a third list', ['ab', 'bc', 'ca'], 'abc'],
];
for (const [name, lists, want] of cases) {
  test(name, () => expect(mergeOrders(lists.map(list => list.split(''))).join('')).toBe(want));
}

const names = ['a', 'b', 'c', 'd', 'e', 'f'];

test('lists that do not contradict each other all keep their order', () => {
  const lists = fc
    .shuffledSubarray(names, { minLength: names.length })
    .chain(order => fc.array(fc.subarray(order), { maxLength: 6 }));
  fc.assert(
    fc.property(lists, given => {
      const result = mergeOrders(given);
      for (const list of given) expect(result.filter(name => list.includes(name))).toEqual(list);
    }),
    { numRuns: 2000 },
  );
});

test('each name comes once, and the first list always keeps its order', () => {
  fc.assert(
    fc.property(fc.array(fc.shuffledSubarray(names), { maxLength: 6 }), given => {
      const result = mergeOrders(given);
      expect(result.toSorted()).toEqual([...new Set(given.flat())].sort());
      expect(result.filter(name => given[0]?.includes(name))).toEqual(given[0] ?? []);
    }),
    { numRuns: 2000 },
  );
});

test('a list of thousands is no problem', () => {
  const long = Array.from({ length: 2000 }, (_, index) => `m${index}`);
  expect(mergeOrders([long, long.toReversed()])).toEqual(long);
});
