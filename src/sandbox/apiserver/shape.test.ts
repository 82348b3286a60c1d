import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitShape, type Shape, ShapeMismatch } from './shape.ts';

const fitting: [string, Shape, unknown, unknown][] = [
  ['a text', 'string', 'a', 'a'],
  ['true', 'boolean', true, true],
  ['a number', 'integer', 5, 5],
  ['a negative number', 'integer', -5, -5],
  ['a number where a percentage may be', 'intOrString', 5, 5],
  ['a percentage', 'intOrString', '5%', '5%'],
  ['a map of texts', 'strings', { a: 'b' }, { a: 'b' }],
  ['a map of encoded values', 'base64', { a: 'Yg==', b: '' }, { a: 'Yg==', b: '' }],
  ['an encoded value', 'bytes', 'Yg==', 'Yg=='],
  ['a time', 'time', '2026-01-02T03:04:05Z', '2026-01-02T03:04:05Z'],
  ['a time with microseconds', 'time', '2026-01-02T03:04:05.123456Z', '2026-01-02T03:04:05.123456Z'],
  ['an object', 'object', { a: [1] }, { a: [1] }],
  ['anything', 'any', null, null],
  ['a list', ['string'], ['a', 'b'], ['a', 'b']],
  ['an empty list', ['string'], [], []],
  ['members', { a: 'string' }, { a: 'x' }, { a: 'x' }],
  ['members it does not know', { a: 'string' }, { a: 'x', b: 'y' }, { a: 'x' }],
  ['members deep inside', { a: { b: 'string' } }, { a: { b: 'x', c: 1 } }, { a: { b: 'x' } }],
  ['members of a list', { a: [{ b: 'string' }] }, { a: [{ b: 'x', c: 1 }] }, { a: [{ b: 'x' }] }],
  ['null', { a: 'string' }, { a: null }, {}],
  ['nothing', { a: 'string' }, {}, {}],
  ['an empty list as a member', { a: ['string'] }, { a: [] }, {}],
  ['an empty map as a member', { a: 'strings', b: 'base64' }, { a: {}, b: {} }, {}],
  ['an empty object as a member', { a: { b: 'string' }, c: 'object' }, { a: {}, c: {} }, { a: {}, c: {} }],
];
test.each(fitting)('fits %s', (_, shape, value, wanted) => expect(fitShape(shape, value)).toEqual(wanted));

const misfits: [Shape, unknown, string][] = [
  ['string', 1, ': expects string, but found number'],
  [{ a: 'string' }, { a: 1 }, 'a: expects string, but found number'],
  [{ a: 'boolean' }, { a: 'true' }, 'a: expects boolean, but found string'],
  [{ a: 'integer' }, { a: 1.5 }, 'a: expects integer, but found number'],
  [{ a: 'integer' }, { a: 2 ** 60 }, 'a: expects integer, but found number'],
  [{ a: 'integer' }, { a: '1' }, 'a: expects integer, but found string'],
  [{ a: 'intOrString' }, { a: true }, 'a: expects intOrString, but found boolean'],
  [{ a: 'strings' }, { a: { b: 1 } }, 'a: expects strings, but found object'],
  [{ a: 'strings' }, { a: ['b'] }, 'a: expects strings, but found a list'],
  [{ a: 'base64' }, { a: { b: 'x y' } }, 'a: expects base64, but found object'],
  [{ a: 'bytes' }, { a: 'x' }, 'a: expects bytes, but found string'],
  [{ a: 'time' }, { a: 'yesterday' }, 'a: expects time, but found string'],
  [{ a: 'object' }, { a: [] }, 'a: expects object, but found a list'],
  [{ a: ['string'] }, { a: 'x' }, 'a: expects a list, but found string'],
  [{ a: ['string'] }, { a: ['x', 1] }, 'a[1]: expects string, but found number'],
  [{ a: [{ b: 'string' }] }, { a: [{ b: 1 }] }, 'a[0].b: expects string, but found number'],
  [{ a: [{ b: 'string' }] }, { a: ['x'] }, 'a[0]: expects an object, but found string'],
  [{ a: { b: { c: 'string' } } }, { a: { b: { c: [] } } }, 'a.b.c: expects string, but found a list'],
  [{ a: { b: 'string' } }, { a: 'x' }, 'a: expects an object, but found string'],
  [{ a: 'string' }, [], ': expects an object, but found a list'],
  [['string'], [null], '[0]: expects string, but found null'],
];
test.each(misfits)('%j rejects %j', (shape, value, message) => {
  expect(() => fitShape(shape, value)).toThrow(new ShapeMismatch(message));
});

test('does not read members that every object inherits', () => {
  expect(fitShape({ a: 'string' }, { toString: 1, constructor: 2 })).toEqual({});
});

test('what has been fitted fits without a change', () => {
  const shape: Shape = { a: 'string', b: ['integer'], c: { d: 'boolean', e: 'strings' }, f: 'any' };
  fc.assert(
    fc.property(fc.object({ key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'x') }), value => {
      try {
        const once = fitShape(shape, value);
        expect(fitShape(shape, once)).toEqual(once);
      } catch (error) {
        expect(error).toBeInstanceOf(ShapeMismatch);
      }
    }),
    { numRuns: 2000 },
  );
});
