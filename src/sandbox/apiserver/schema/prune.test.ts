import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { prune } from './prune.ts';
import type { Schema } from './schema.ts';

const keep = { 'x-kubernetes-preserve-unknown-fields': true };
const text = { type: 'string' };
const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });
const z = object({ z: text });

/** All results are those of kube-apiserver. */
const cases: [string, Schema, unknown, unknown][] = [
  ['drops unknown members', object({ a: text }), { a: '1', b: 2 }, { a: '1' }],
  ['drops all members of an object without fields', { type: 'object' }, { a: 1 }, {}],
  ['drops unknown members inside', object({ o: z }), { o: { z: '1', y: 2 } }, { o: { z: '1' } }],
  ['drops unknown members of items', { type: 'array', items: z }, [{ z: '1', y: 2 }], [{ z: '1' }]],
  [
    'drops unknown members of the values of a map',
    { additionalProperties: z },
    { a: { z: '1', y: 1 } },
    { a: { z: '1' } },
  ],
  ['keeps every key of a map', { additionalProperties: text }, { a: '1', b: '2' }, { a: '1', b: '2' }],
  [
    'keeps keys of a map of anything, but nothing inside',
    { additionalProperties: true },
    { a: { b: 1 }, c: 1, d: [{ e: 1 }], n: null },
    { a: {}, c: 1, d: [{}], n: null },
  ],
  ['keeps keys that are forbidden, for the validation', { additionalProperties: false }, { a: 1 }, { a: 1 }],
  ['keeps what may be unknown', keep, { a: { b: [1, null] } }, { a: { b: [1, null] } }],
  ['keeps unknown members on request', object({ o: z }, keep), { x: { y: 1 }, o: {} }, { x: { y: 1 }, o: {} }],
  ['drops them again below known ones', object({ o: z }, keep), { o: { z: '1', y: 1 } }, { o: { z: '1' } }],
  ['drops them again in a map', { ...keep, additionalProperties: z }, { a: { z: '1', y: 1 } }, { a: { z: '1' } }],
  [
    'keeps them in the items of a list on request',
    { type: 'array', ...keep, items: z },
    [{ z: '1', y: 2 }],
    [{ z: '1', y: 2 }],
  ],
  ['keeps lists of anything', keep, [{ a: { b: 1 } }, null], [{ a: { b: 1 } }, null]],
  ['leaves values of the wrong type alone', object({ a: z }), { a: 'x' }, { a: 'x' }],
  ['leaves lists of the wrong type alone but for their objects', object({ a: text }), { a: [{ b: 1 }] }, { a: [{}] }],
  // Nulls.
  ['drops a null that may not be', object({ a: text }), { a: null }, {}],
  ['keeps a null that may be', object({ a: { ...text, nullable: true } }), { a: null }, { a: null }],
  ['keeps a null for its default', object({ a: { ...text, default: 'x' } }), { a: null }, { a: null }],
  ['drops nulls from maps', { additionalProperties: text }, { a: null, b: '1' }, { b: '1' }],
  ['keeps nulls in lists', { type: 'array', items: text }, ['a', null], ['a', null]],
  ['drops nulls inside items', { type: 'array', items: z }, [{ z: null }, null], [{}, null]],
  ['drops a null that may be anything else', object({ a: keep }), { a: null }, {}],
  [
    'keeps nulls in unknown members',
    object({ o: z }, keep),
    { x: null, o: null, q: { r: null } },
    { x: null, q: { r: null } },
  ],
  // Objects in the object.
  [
    'keeps the head of an embedded object',
    object({ spec: object({ a: text }) }, { 'x-kubernetes-embedded-resource': true }),
    { apiVersion: 'v1', kind: 'X', metadata: { name: 'q', zz: 1 }, spec: { a: '1', b: 2 }, other: 1 },
    { apiVersion: 'v1', kind: 'X', metadata: { name: 'q' }, spec: { a: '1' } },
  ],
  [
    'keeps metadata that cannot be read, for the validation',
    { ...keep, 'x-kubernetes-embedded-resource': true },
    { metadata: 5, kind: 7 },
    { metadata: 5, kind: 7 },
  ],
  ['drops the head of an object that is not embedded', object({}), { apiVersion: 'v1', metadata: {} }, {}],
];

test.each(cases)('%s', (_name, schema, value, want) => {
  expect(prune(schema, value)).toEqual(want);
});

test('drops all members without a schema', () => {
  expect(prune(undefined, { a: 1 })).toEqual({});
  expect(prune(undefined, [{ a: 1 }, 5])).toEqual([{}, 5]);
  expect(prune(undefined, 'x')).toBe('x');
});

test('ignores inherited members', () => {
  expect(prune(object({}), { toString: 1, constructor: 2 })).toEqual({});
});

test('leaves what it is given alone', () => {
  const value = Object.freeze({ a: Object.freeze({ b: 1 }) });
  prune(object({ a: object({}) }), value);
  expect(value).toEqual({ a: { b: 1 } });
});

const name = fc.constantFrom('a', 'b', 'c');
const schemas = fc.letrec(tie => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Schema>(text, { ...text, nullable: true }, { type: 'integer' }, keep),
    fc.dictionary(name, tie('any')).map(properties => object(properties as Schema)),
    fc.dictionary(name, tie('any')).map(properties => object(properties as Schema, keep)),
    tie('any').map(additionalProperties => ({ type: 'object', additionalProperties })),
    tie('any').map(items => ({ type: 'array', items })),
  ),
}));
const values = fc.letrec(tie => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, 1, 'x'),
    fc.dictionary(name, tie('any')),
    fc.array(tie('any'), { maxLength: 3 }),
  ),
}));

test('is idempotent: pruning twice is pruning once', () => {
  fc.assert(
    fc.property(schemas.any, values.any, (schema, value) => {
      const once = prune(schema, value);
      expect(prune(schema as Schema, once)).toEqual(once);
    }),
    { numRuns: 3000 },
  );
});

test('only removes members', () => {
  fc.assert(
    fc.property(schemas.any, values.any, (schema, value) => {
      expect(isPartOf(prune(schema as Schema, value), value)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

function isPartOf(part: unknown, whole: unknown): boolean {
  if (Array.isArray(part)) {
    return (
      Array.isArray(whole) && part.length === whole.length && part.every((item, index) => isPartOf(item, whole[index]))
    );
  }
  if (typeof part !== 'object' || part === null) return part === whole;
  return Object.entries(part).every(([member, value]) => isPartOf(value, (whole as Record<string, unknown>)[member]));
}
