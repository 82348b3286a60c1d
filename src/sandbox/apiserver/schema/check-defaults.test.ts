import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { defaultCauses } from './check-defaults.ts';
import type { Schema } from './schema.ts';

function found(schema: Schema): string[] {
  return defaultCauses(schema, 'S').map(
    ({ reason, field, message }) => `${reason?.replace('FieldValue', '')} ${field}: ${message}`,
  );
}

const cases: [string, Schema, string[]][] = [
  ['no default', { type: 'string' }, []],
  ['a good default', { type: 'string', default: 'x' }, []],
  ['an empty default', { type: 'string', default: '' }, []],
  ['a null that may be', { type: 'string', nullable: true, default: null }, []],
  [
    'a default of another type',
    { type: 'string', default: 5 },
    ['Invalid S.default: Invalid value: "integer": S.default in body must be of type string: "integer"'],
  ],
  [
    'a default that is not in the list',
    { type: 'string', enum: ['a'], default: 'b' },
    ['NotSupported S.default: Unsupported value: "b": supported values: "a"'],
  ],
  [
    'a default that breaks a limit',
    { type: 'integer', maximum: 5, default: 6 },
    ['Invalid S.default: Invalid value: 6: S.default in body should be less than or equal to 5'],
  ],
  [
    'a default with unknown fields',
    { type: 'object', default: { a: 1 }, properties: { b: { type: 'string' } } },
    ['Invalid S.default: Invalid value: {"a":1}: must not have unknown fields'],
  ],
  [
    'a default with fields that may be unknown',
    { type: 'object', default: { a: 1 }, 'x-kubernetes-preserve-unknown-fields': true },
    [],
  ],
  [
    'a default without a required field',
    { type: 'object', default: {}, required: ['a'], properties: { a: { type: 'string' } } },
    ['Required S.default.a: Required value'],
  ],
  [
    'an embedded default without a kind',
    {
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      'x-kubernetes-preserve-unknown-fields': true,
      default: { apiVersion: 'v1' },
    },
    ['Required S.default.kind: Required value: must not be empty'],
  ],
  [
    'bad defaults inside',
    { type: 'object', properties: { l: { type: 'array', items: { type: 'string', default: 5 } } } },
    [
      'Invalid S.properties[l].items.default: Invalid value: "integer": S.properties[l].items.default in body must be of type string: "integer"',
    ],
  ],
  [
    'bad defaults in a map, which nobody looks at',
    { type: 'object', additionalProperties: { type: 'string', default: 5 } },
    [],
  ],
];

test.each(cases)('judges %s', (_name, schema, want) => {
  expect(found(schema)).toEqual(want);
});

test('judges any default', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      found({ type: 'object', properties: { a: { type: 'array', items: { type: 'object' } } }, default: value });
    }),
    { numRuns: 1000 },
  );
});
