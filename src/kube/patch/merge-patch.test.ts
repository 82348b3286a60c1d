import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { isRecord } from '#base/fields.ts';
import { mergePatch } from './merge-patch.ts';

/** What a server does with a merge patch, by the words of RFC 7386. */
function applied(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const result: Record<string, unknown> = isRecord(target) ? { ...target } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete result[name];
    else result[name] = applied(result[name], value);
  }
  return result;
}

const cases: [string, unknown, unknown, unknown][] = [
  ['nothing', {}, {}, undefined],
  ['equal objects', { a: { b: [1] } }, { a: { b: [1] } }, undefined],
  ['equal members in another order', { a: 1, b: 2 }, { b: 2, a: 1 }, undefined],
  ['a new member', {}, { a: 1 }, { a: 1 }],
  ['another value', { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 2 }],
  ['a member less', { a: 1, b: 1 }, { b: 1 }, { a: null }],
  ['a deep change', { a: { b: { c: 1, d: 1 } } }, { a: { b: { c: 2, d: 1 } } }, { a: { b: { c: 2 } } }],
  ['a deep member less', { a: { b: 1, c: 1 } }, { a: { c: 1 } }, { a: { b: null } }],
  ['an emptied object', { a: { b: 1 } }, { a: {} }, { a: { b: null } }],
  ['a new empty object', {}, { a: {} }, { a: {} }],
  ['a list that grew', { a: [1] }, { a: [1, 2] }, { a: [1, 2] }],
  ['a list in another order', { a: [1, 2] }, { a: [2, 1] }, { a: [2, 1] }],
  ['a list emptied', { a: [1] }, { a: [] }, { a: [] }],
  ['a list of equal objects', { a: [{ x: 1, y: 2 }] }, { a: [{ y: 2, x: 1 }] }, undefined],
  ['a list of different objects', { a: [{ x: 1 }] }, { a: [{ x: 2 }] }, { a: [{ x: 2 }] }],
  ['an object for a text', { a: 'x' }, { a: { b: 1 } }, { a: { b: 1 } }],
  ['a text for an object', { a: { b: 1 } }, { a: 'x' }, { a: 'x' }],
  ['a list for an object', { a: { b: 1 } }, { a: [] }, { a: [] }],
  ['an object for a list', { a: [1] }, { a: { b: 1 } }, { a: { b: 1 } }],
  ['false for true', { a: true }, { a: false }, { a: false }],
  ['nought for nothing', {}, { a: 0 }, { a: 0 }],
  ['an empty text for nothing', {}, { a: '' }, { a: '' }],
  ['null for a value', { a: 1 }, { a: null }, { a: null }],
  ['null where nothing was', {}, { a: null }, undefined],
  ['undefined where nothing was', {}, { a: undefined }, undefined],
  ['undefined for a value', { a: 1 }, { a: undefined }, { a: null }],
  ['nothing where null was', { a: null }, {}, undefined],
  ['a value where null was', { a: null }, { a: 1 }, { a: 1 }],
  ['null inside a new object', {}, { a: { b: null, c: 1 } }, { a: { c: 1 } }],
  ['null inside a list', { a: [] }, { a: [null] }, { a: [null] }],
  ['names with slashes and dots', {}, { 'a.b/c': 1 }, { 'a.b/c': 1 }],
];
for (const [name, before, after, want] of cases) {
  test(`makes a patch for ${name}`, () => expect(mergePatch(before, after)).toEqual(want));
}

test('a member named __proto__ is a member like any other', () => {
  const after = JSON.parse('{"__proto__": {"x": 1}}') as object;
  expect(JSON.stringify(mergePatch({}, after))).toBe('{"__proto__":{"x":1}}');
  expect(JSON.stringify(mergePatch(after, {}))).toBe('{"__proto__":null}');
});

test('a member named like one of every object is seen as absent until it is there', () => {
  expect(mergePatch({}, { constructor: 1, toString: 'x' })).toEqual({ constructor: 1, toString: 'x' });
});

const leaf = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.boolean(), fc.constantFrom('', 'x'));
const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('tree'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('tree'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const object = fc.dictionary(fc.constantFrom('a', 'b', 'c'), tree, { maxKeys: 3, noNullPrototype: true });

test('applied to the one it gives the other, and between equals there is none', () => {
  fc.assert(
    fc.property(object, object, (before, after) => {
      const patch = mergePatch(before, after);
      expect(applied(before, patch ?? {})).toEqual(after);
      expect(mergePatch(after, structuredClone(after))).toBeUndefined();
      expect(mergePatch(after, applied(before, patch ?? {}))).toBeUndefined();
    }),
    { numRuns: 2000 },
  );
});

test('omits equal members', () => {
  fc.assert(
    fc.property(object, object, fc.constantFrom('a', 'b', 'c'), (before, after, name) => {
      const patch = mergePatch({ ...before, [name]: 1 }, { ...after, [name]: 1 });
      expect(isRecord(patch) && Object.hasOwn(patch, name)).toBe(false);
    }),
  );
});
