import { expect, test } from 'vitest';
import { setRecent } from './recent-map.ts';

test('setRecent removes the entries that were set longest ago', () => {
  const map = new Map<string, number>();
  for (const [index, key] of ['a', 'b', 'a', 'c', 'd'].entries()) setRecent(map, key, index, 3);
  expect([...map]).toEqual([
    ['a', 2],
    ['c', 3],
    ['d', 4],
  ]);
});
