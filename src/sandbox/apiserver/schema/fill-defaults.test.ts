import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fillDefaults } from './fill-defaults.ts';
import type { Schema } from './schema.ts';

const text = (byDefault?: unknown, more: Schema = {}): Schema => ({
  type: 'string',
  ...(byDefault === undefined ? {} : { default: byDefault }),
  ...more,
});
const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });

const cases: [string, Schema, unknown, unknown][] = [
  ['fills in what is missing', object({ a: text('x') }), {}, { a: 'x' }],
  ['leaves what is there', object({ a: text('x') }), { a: 'y' }, { a: 'y' }],
  ['leaves an empty text', object({ a: text('x') }), { a: '' }, { a: '' }],
  ['fills in false and zero', object({ a: { default: false }, b: { default: 0 } }), {}, { a: false, b: 0 }],
  ['fills in for a null that may not be', object({ a: text('x') }), { a: null }, { a: 'x' }],
  ['leaves a null that may be', object({ a: text('x', { nullable: true }) }), { a: null }, { a: null }],
  ['fills in where a null may be but nothing is', object({ a: text('x', { nullable: true }) }), {}, { a: 'x' }],
  ['fills in nothing without a default', object({ a: text() }), {}, {}],
  ['makes no objects for defaults inside', object({ o: object({ a: text('x') }) }), {}, {}],
  ['fills in inside an object that is there', object({ o: object({ a: text('x') }) }), { o: {} }, { o: { a: 'x' } }],
  [
    'fills in inside an object that a default makes',
    object({ o: object({ a: text('x'), b: text() }, { default: { b: 'y' } }) }),
    {},
    { o: { a: 'x', b: 'y' } },
  ],
  [
    'fills in the members of items',
    { type: 'array', items: object({ a: text('x') }) },
    [{}, { a: null }, { a: 'y' }],
    [{ a: 'x' }, { a: 'x' }, { a: 'y' }],
  ],
  ['fills in for nulls in lists', { type: 'array', items: text('x') }, [null, 'y'], ['x', 'y']],
  ['leaves nulls in lists without a default', { type: 'array', items: text() }, [null], [null]],
  ['fills in the values of a map', { additionalProperties: object({ a: text('x') }) }, { k: {} }, { k: { a: 'x' } }],
  ['fills in for nulls in maps', { additionalProperties: text('x') }, { k: null, l: 'y' }, { k: 'x', l: 'y' }],
  ['leaves unknown members alone', object({ a: text('x') }), { u: null }, { a: 'x', u: null }],
  ['leaves values of the wrong type alone', object({ o: object({ a: text('x') }) }), { o: 'z' }, { o: 'z' }],
  ['leaves a text alone', object({ a: text('x') }), 'z', 'z'],
];

test.each(cases)('%s', (_name, schema, value, want) => {
  expect(fillDefaults(schema, value)).toEqual(want);
});

test('leaves everything alone without a schema', () => {
  expect(fillDefaults(undefined, { a: null })).toEqual({ a: null });
});

test('does not fill in what objects inherit', () => {
  expect(fillDefaults({ properties: { toString: 5 } }, {})).toEqual({});
});

const name = fc.constantFrom('a', 'b');
const schemas = fc.letrec(tie => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Schema>(text('x'), text('y', { nullable: true }), text(), { type: 'integer', default: 5 }),
    fc.dictionary(name, tie('any')).map(properties => object(properties as Schema)),
    tie('any').map(items => ({ type: 'array', items })),
    tie('any').map(additionalProperties => ({ type: 'object', additionalProperties })),
  ),
}));
const values = fc.letrec(tie => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, 'z'),
    fc.dictionary(name, tie('any')),
    fc.array(tie('any'), { maxLength: 2 }),
  ),
}));

test('is idempotent: filling in twice is filling in once', () => {
  fc.assert(
    fc.property(schemas.any, values.any, (schema, value) => {
      const once = fillDefaults(schema, value);
      expect(fillDefaults(schema as Schema, once)).toEqual(once);
    }),
    { numRuns: 2000 },
  );
});

test('only adds members and replaces nulls', () => {
  fc.assert(
    fc.property(schemas.any, values.any, (schema, value) => {
      expect(isKeptIn(value, fillDefaults(schema as Schema, value))).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

function isKeptIn(value: unknown, filled: unknown): boolean {
  if (value === null) return true;
  if (typeof value !== 'object') return value === filled;
  const members = Object.entries(value);
  return members.every(([name, member]) => isKeptIn(member, (filled as Record<string, unknown>)[name]));
}
