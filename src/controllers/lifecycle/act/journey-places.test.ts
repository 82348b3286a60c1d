import { expect, test } from 'vitest';
import type { Key } from '#kube/resource.ts';
import { JourneyPlaces } from './journey-places.ts';

const key = (name: string): Key => ({ namespace: 'wmco', name });

function bench(count: number) {
  const woken: string[] = [];
  const places = new JourneyPlaces(count, ({ name }) => void woken.push(name));
  const take = (name: string, line: 'first' | 'retry' = 'first') => places.take(key(name), line);
  /** Takes a place that must be there. */
  const enter = (name: string, line: 'first' | 'retry' = 'first') => {
    const place = take(name, line);
    if (place === undefined) throw new Error(`no place for ${name}`);
    return place;
  };
  return { places, woken, take, enter };
}

test('the host that waits longest gets the next place, and no other takes it meanwhile', () => {
  const { woken, take, enter, places } = bench(1);
  const first = enter('a');
  for (const name of ['b', 'c', 'b', 'd']) expect(take(name)).toBeUndefined();
  expect(places.waiting).toBe(3);
  first[Symbol.dispose]();
  expect(woken).toEqual(['b']);
  expect(take('e')).toBeUndefined();
  expect(take('c')).toBeUndefined();
  enter('b')[Symbol.dispose]();
  expect(woken).toEqual(['b', 'c']);
});

test('a place is returned once, and by a host that needs it no more', () => {
  const { woken, take, enter, places } = bench(1);
  const first = enter('a');
  for (const name of ['b', 'c', 'd']) take(name);
  places.leave(key('c'));
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(woken).toEqual(['b']);
  places.leave(key('b'));
  places.leave(key('b'));
  expect(woken).toEqual(['b', 'd']);
  enter('d')[Symbol.dispose]();
  enter('e');
  expect(places.waiting).toBe(0);
});

test('hosts that failed before get a quarter of the places, so that they keep no others waiting', () => {
  const { woken, take, enter } = bench(8);
  const failing = [enter('bad-1', 'retry'), enter('bad-2', 'retry')];
  expect(take('bad-3', 'retry')).toBeUndefined();
  const good = Array.from({ length: 6 }, (_, index) => enter(`good-${index}`));
  expect(take('good-7')).toBeUndefined();
  good[0]?.[Symbol.dispose]();
  // Although bad-3 waits longer.
  expect(woken).toEqual(['good-7']);
  failing[0]?.[Symbol.dispose]();
  expect(woken).toEqual(['good-7', 'bad-3']);
});

test('a host whose backoff was ended by an administrator keeps its turn, but not among those that failed', () => {
  const { woken, take, enter } = bench(4);
  const failing = enter('bad-1', 'retry');
  take('bad-2', 'retry');
  take('fixed', 'retry');
  const good = Array.from({ length: 3 }, (_, index) => enter(`good-${index}`));
  expect(take('fixed')).toBeUndefined();
  take('good-4');
  good[0]?.[Symbol.dispose]();
  expect(woken).toEqual(['fixed']);
  failing[Symbol.dispose]();
  expect(woken).toEqual(['fixed', 'bad-2']);
});

test('among those that may, a host that failed before has its turn too', () => {
  const { woken, take, enter } = bench(4);
  const places = Array.from({ length: 4 }, (_, index) => enter(`good-${index}`));
  take('bad', 'retry');
  take('good-5');
  places[0]?.[Symbol.dispose]();
  places[1]?.[Symbol.dispose]();
  expect(woken).toEqual(['bad', 'good-5']);
});
