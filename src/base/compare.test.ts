import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { byteOrder, sameData } from './compare.ts';

const orders: [string, string, number][] = [
  ['a', 'a', 0],
  ['', '', 0],
  ['', 'a', -1],
  ['a', 'b', -1],
  ['b', 'a', 1],
  ['a', 'aa', -1],
  ['B', 'a', -1],
  ['a-b', 'a.b', -1],
  ['a.b', 'a0b', -1],
  ['10.0.0.10', '10.0.0.9', -1],
  ['Z', '_', -1],
  ['z', 'é', -1],
];
for (const [one, other, want] of orders) {
  test(`${JSON.stringify(one)} against ${JSON.stringify(other)} is ${want}`, () =>
    expect(byteOrder(one, other)).toBe(want));
}

test('sorts ASCII as bytes are sorted', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary-ascii' })), texts => {
      const bytes = texts.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
      expect(texts.toSorted(byteOrder)).toEqual(bytes);
    }),
  );
});

test('is a total order', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), fc.string(), (a, b, c) => {
      expect(byteOrder(a, b) + byteOrder(b, a)).toBe(0);
      if (byteOrder(a, b) <= 0 && byteOrder(b, c) <= 0) expect(byteOrder(a, c)).toBeLessThanOrEqual(0);
    }),
  );
});

const pairs: [string, unknown, unknown, boolean][] = [
  ['equal texts', 'a', 'a', true],
  ['a text and a number', '1', 1, false],
  ['null and null', null, null, true],
  ['null and undefined', null, undefined, false],
  ['null and an empty object', null, {}, false],
  ['not-a-number and itself', Number.NaN, Number.NaN, true],
  ['zero and negative zero', 0, -0, true],
  ['true and 1', true, 1, false],
  ['members in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, true],
  ['a member more', { a: 1 }, { a: 1, b: 2 }, false],
  ['a member fewer', { a: 1, b: 2 }, { a: 1 }, false],
  ['an undefined member and an absent one', { a: undefined }, {}, false],
  ['an undefined member and another one', { a: undefined }, { b: undefined }, false],
  ['an own member and an inherited one', { toString: 'x' }, { valueOf: 'x' }, false],
  ['a name every object inherits', { constructor: 1 }, { other: 1 }, false],
  ['lists in another order', [1, 2], [2, 1], false],
  ['a list and its beginning', [1, 2], [1], false],
  ['an empty list and an empty object', [], {}, false],
  ['a list and an object with its indexes', ['a'], { 0: 'a' }, false],
  ['deep data', { a: [{ b: { c: [null] } }] }, { a: [{ b: { c: [null] } }] }, true],
  ['deep data with a difference at the bottom', { a: [{ b: { c: [0] } }] }, { a: [{ b: { c: [1] } }] }, false],
];
for (const [name, one, other, want] of pairs) {
  test(`${name}: ${want ? 'the same' : 'different'}`, () => {
    expect(sameData(one, other)).toBe(want);
    expect(sameData(other, one)).toBe(want);
  });
}

test('a member called __proto__ counts like any other', () => {
  const parse = (text: string) => JSON.parse(text) as unknown;
  expect(sameData(parse('{"__proto__":1}'), parse('{"__proto__":1}'))).toBe(true);
  expect(sameData(parse('{"__proto__":1}'), parse('{"__proto__":2}'))).toBe(false);
  expect(sameData(parse('{"__proto__":{}}'), {})).toBe(false);
});

test('agrees with an independent comparison on all JSON data', () => {
  const data = fc.jsonValue({ maxDepth: 3 }).map(value => JSON.parse(JSON.stringify(value)) as unknown);
  fc.assert(
    fc.property(data, data, (one, other) => {
      expect(sameData(one, other)).toBe(isDeepStrictEqual(one, other));
      expect(sameData(one, structuredClone(one))).toBe(true);
    }),
    { numRuns: 2000 },
  );
});
