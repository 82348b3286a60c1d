import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { mergePatch } from './merge-patch.ts';

const cases: [string, unknown, unknown, unknown][] = [
  // The examples of RFC 7386, appendix A.
  ['replaces a member', { a: 'b' }, { a: 'c' }, { a: 'c' }],
  ['adds a member', { a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  ['removes a member by null', { a: 'b' }, { a: null }, {}],
  ['keeps the members next to a removed one', { a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  ['replaces a list by a text', { a: ['b'] }, { a: 'c' }, { a: 'c' }],
  ['replaces a text by a list', { a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  ['merges objects inside', { a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  ['replaces a list of objects', { a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  ['replaces one list by another', ['a', 'b'], ['c', 'd'], ['c', 'd']],
  ['replaces an object by a list', { a: 'b' }, ['c'], ['c']],
  ['replaces everything by null', { a: 'foo' }, null, null],
  ['replaces everything by a text', { a: 'foo' }, 'bar', 'bar'],
  ['keeps a null that was there', { e: null }, { a: 1 }, { e: null, a: 1 }],
  ['drops nulls inside a list taken for an object', [1, 2], { a: 'b', c: null }, { a: 'b' }],
  ['drops nulls inside new objects', {}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  // What the RFC leaves to the reader.
  ['keeps nulls inside lists', {}, { a: [null, { b: null }] }, { a: [null, { b: null }] }],
  ['changes nothing with an empty patch', { a: { b: 1 } }, {}, { a: { b: 1 } }],
  ['makes an object where a text was', { a: 'x' }, { a: { b: 1 } }, { a: { b: 1 } }],
  ['makes an object out of nothing', undefined, { a: 1 }, { a: 1 }],
  ['removes what is not there', {}, { a: null }, {}],
];

test.each(cases)('%s', (_name, target, patch, want) => {
  expect(mergePatch(target, patch)).toEqual(want);
});

test('treats a member named __proto__ like any other', () => {
  const patch = JSON.parse('{"__proto__":{"polluted":true}}') as unknown;
  const result = mergePatch({ a: 1 }, patch) as Record<string, unknown>;
  expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
  expect(Object.hasOwn(result, '__proto__')).toBe(true);
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
});

test('does not change what it is given', () => {
  const target = Object.freeze({ a: Object.freeze({ b: 1 }) });
  expect(mergePatch(target, { a: { c: 2 }, d: null })).toEqual({ a: { b: 1, c: 2 } });
  expect(target).toEqual({ a: { b: 1 } });
});

const json = fc.jsonValue({ maxDepth: 4 });
const record = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), json, { maxKeys: 4 });

/** A value that a merge patch can produce: no nulls in objects. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(entries.map(([name, member]) => [name, withoutNulls(member)]));
}

test('is idempotent: applying a patch twice is applying it once', () => {
  fc.assert(
    fc.property(record, record, (target, patch) => {
      const once = mergePatch(target, patch);
      expect(mergePatch(once, patch)).toEqual(once);
    }),
    { numRuns: 2000 },
  );
});

test('has the empty patch as its neutral element', () => {
  fc.assert(
    fc.property(record, target => {
      expect(mergePatch(target, {})).toEqual(target);
    }),
    { numRuns: 1000 },
  );
});

test('creates any object without nulls from an empty one', () => {
  fc.assert(
    fc.property(record, want => {
      expect(mergePatch({}, want)).toEqual(withoutNulls(want));
    }),
    { numRuns: 2000 },
  );
});

test('lets the last of two patches win member by member', () => {
  const flat = fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.constantFrom(null, 1, 2), { maxKeys: 3 });
  fc.assert(
    fc.property(flat, flat, flat, (target, first, second) => {
      const together = mergePatch(target, { ...first, ...second });
      expect(mergePatch(mergePatch(target, first), second)).toEqual(together);
    }),
    { numRuns: 2000 },
  );
});
