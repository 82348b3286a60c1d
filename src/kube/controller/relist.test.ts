import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { key } from '../../../test/kit/queue-bench.ts';
import { Relist } from './relist.ts';

/** A list of keys, and a queue that takes as many as it is told to. */
function bench(...names: string[]) {
  const world = { names, room: 0, taken: [] as string[], looks: 0 };
  const relist = new Relist(
    () => {
      world.looks += 1;
      return world.names.map(name => key(name));
    },
    ({ name }) => {
      if (world.room === 0) return false;
      world.room -= 1;
      world.taken.push(name);
      return true;
    },
  );
  const resume = (room: number): string[] => {
    world.room = room;
    world.taken = [];
    relist.resume();
    return world.taken;
  };
  return { world, relist, resume };
}

test('does not relist without a missed key', () => {
  const { world, resume } = bench('a', 'b');
  expect([resume(10), world.looks]).toEqual([[], 0]);
});

test('adds all keys once something was missed, and then rests', () => {
  const { relist, resume } = bench('a', 'b');
  relist.missed();
  expect([resume(10), resume(10)]).toEqual([['a', 'b'], []]);
});

test('missed is true for the first key since the last relist', () => {
  const { relist, resume } = bench('a');
  expect([relist.missed(), relist.missed()]).toEqual([true, false]);
  resume(1);
  expect(relist.missed()).toBe(true);
});

test('goes on where it was refused, so that the last keys have their turn too', () => {
  const { relist, resume } = bench('a', 'b', 'c', 'd', 'e');
  relist.missed();
  expect([resume(2), resume(2), resume(2), resume(2)]).toEqual([['a', 'b'], ['c', 'd'], ['e'], []]);
});

test('loses no key when there is no room at all', () => {
  const { relist, resume } = bench('a', 'b');
  relist.missed();
  expect([resume(0), resume(0), resume(2)]).toEqual([[], [], ['a', 'b']]);
});

test('relists again when a key is missed meanwhile', () => {
  const { world, relist, resume } = bench('a', 'b', 'c');
  relist.missed();
  expect(resume(2)).toEqual(['a', 'b']);
  relist.missed();
  world.names = ['a', 'b', 'c', 'd'];
  expect(resume(10)).toEqual(['c', 'a', 'b', 'c', 'd']);
  expect([resume(10), world.looks]).toEqual([[], 2]);
});

test('an empty list is soon done', () => {
  const { relist, resume } = bench();
  relist.missed();
  expect([resume(1), resume(1)]).toEqual([[], []]);
});

test('for any room, every key comes after the last miss', () => {
  const rooms = fc.array(fc.record({ room: fc.nat(4), miss: fc.boolean() }), { maxLength: 12 });
  fc.assert(
    fc.property(fc.nat(6), rooms, (count, steps) => {
      const names = Array.from({ length: count }, (_, index) => `k${index}`);
      const { relist, resume } = bench(...names);
      let since = new Set<string>(names);
      for (const { room, miss } of steps) {
        if (miss) relist.missed();
        if (miss) since = new Set();
        for (const name of resume(room)) since.add(name);
      }
      for (const name of resume(1000)) since.add(name);
      expect([...since].sort()).toEqual(names);
    }),
    { numRuns: 500 },
  );
});
