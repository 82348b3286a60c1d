import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { structuralCauses } from './check-structure.ts';
import type { Schema } from './schema.ts';

function found(schema: Schema): string[] {
  return structuralCauses(schema, 'S').map(
    ({ reason, field, message }) => `${reason?.replace('FieldValue', '')} ${field}: ${message}`,
  );
}

const spec = (schema: unknown): Schema => ({ type: 'object', properties: { spec: schema } });
const text = { type: 'string' };
const keep = { 'x-kubernetes-preserve-unknown-fields': true };
const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true };
const numberOrText = [{ type: 'integer' }, { type: 'string' }];
const x = 'S.properties[spec]';

const good: [string, Schema][] = [
  ['an object', { type: 'object' }],
  ['anything at the root', keep],
  ['anything as a field', spec(keep)],
  ['a number or text', spec({ 'x-kubernetes-int-or-string': true })],
  ['a number or text by its types', spec({ 'x-kubernetes-int-or-string': true, anyOf: numberOrText })],
  [
    'a number or text with more rules',
    spec({ 'x-kubernetes-int-or-string': true, allOf: [{ anyOf: numberOrText }, { pattern: 'x' }] }),
  ],
  [
    'rules below alternatives',
    spec({ type: 'object', properties: { a: text }, anyOf: [{ properties: { a: { pattern: 'x' } } }] }),
  ],
  ['rules for items below alternatives', spec({ type: 'array', items: text, not: { items: { pattern: 'x' } } })],
  ['an embedded object', spec({ ...embedded, ...keep })],
  ['an embedded object with fields', spec({ ...embedded, properties: { spec: { type: 'object' } } })],
  [
    'the members of every object',
    { type: 'object', properties: { kind: text, apiVersion: text, metadata: { type: 'object' } } },
  ],
  [
    'restricted names',
    { type: 'object', properties: { metadata: { type: 'object', properties: { name: text, generateName: text } } } },
  ],
  ['metadata inside, which is like any other', spec({ type: 'object', properties: { metadata: { type: 'integer' } } })],
  [
    'complete alternatives at the root',
    { type: 'object', properties: { a: text }, anyOf: [{ required: ['a'] }, { properties: { a: {} } }] },
  ],
];

test.each(good)('takes %s', (_name, schema) => {
  expect(found(schema)).toEqual([]);
});

/** Fields, reasons and words are those of kube-apiserver. */
const bad: [string, Schema, string[]][] = [
  ['a root without a type', {}, ['Required S.type: Required value: must not be empty at the root']],
  [
    'a list at the root',
    { type: 'array', items: text },
    ['Invalid S.type: Invalid value: "array": must be object at the root'],
  ],
  [
    'other members at the root',
    { type: 'object', additionalProperties: text },
    ['Forbidden S.additionalProperties: Forbidden: must not be used at the root'],
  ],
  [
    'a field without a type',
    spec({}),
    [`Required ${x}.type: Required value: must not be empty for specified object fields`],
  ],
  ['a list without items', spec({ type: 'array' }), [`Required ${x}.items: Required value: must be specified`]],
  [
    'items without a type',
    spec({ type: 'array', items: {} }),
    [`Required ${x}.items.type: Required value: must not be empty for specified array items`],
  ],
  [
    'a map of values without a type',
    spec({ type: 'object', additionalProperties: {} }),
    [`Required ${x}.additionalProperties.type: Required value: must not be empty for specified object fields`],
  ],
  [
    'a number or text that is anything',
    spec({ 'x-kubernetes-int-or-string': true, ...keep }),
    [
      `Invalid ${x}.x-kubernetes-preserve-unknown-fields: Invalid value: true: must be false if x-kubernetes-int-or-string is true`,
    ],
  ],
  [
    'an embedded number or text',
    spec({ 'x-kubernetes-int-or-string': true, 'x-kubernetes-embedded-resource': true }),
    [
      `Required ${x}.type: Required value: must be object if x-kubernetes-embedded-resource is true`,
      `Invalid ${x}.x-kubernetes-embedded-resource: Invalid value: true: must be false if x-kubernetes-int-or-string is true`,
      `Required ${x}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
    ],
  ],
  [
    'an embedded text',
    spec({ ...text, 'x-kubernetes-embedded-resource': true, ...keep }),
    [`Invalid ${x}.type: Invalid value: "string": must be object if x-kubernetes-embedded-resource is true`],
  ],
  [
    'an embedded object with nothing in it',
    spec(embedded),
    [
      `Required ${x}.properties: Required value: must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields`,
    ],
  ],
  [
    'an embedded map',
    spec({ ...embedded, ...keep, additionalProperties: text }),
    [`Forbidden ${x}.additionalProperties: Forbidden: must not be used if x-kubernetes-embedded-resource is set`],
  ],
  [
    'members of every object with the wrong types',
    { type: 'object', properties: { kind: { type: 'integer' }, apiVersion: { type: 'object' }, metadata: text } },
    [
      'Invalid S.properties[kind].type: Invalid value: "integer": must be string',
      'Invalid S.properties[apiVersion].type: Invalid value: "object": must be string',
      'Invalid S.properties[metadata].type: Invalid value: "string": must be object',
    ],
  ],
  [
    'labels that are restricted',
    { type: 'object', properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } },
    [
      'Forbidden S.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  ],
  [
    'metadata that is required',
    { type: 'object', properties: { metadata: { type: 'object', required: ['name'] } } },
    [
      'Forbidden S.properties[metadata]: Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
    ],
  ],
  [
    'an embedded kind that is no text',
    spec({ ...embedded, properties: { kind: { type: 'integer' } } }),
    [`Invalid ${x}.properties[kind].type: Invalid value: "integer": must be string`],
  ],
  [
    'a pattern that is none',
    spec({ ...text, pattern: '(' }),
    [`Invalid ${x}.pattern: Invalid value: "(": must be a valid regular expression, but isn't`],
  ],
  [
    'a pattern that looks ahead',
    spec({ ...text, pattern: '(?=a)' }),
    [`Invalid ${x}.pattern: Invalid value: "(?=a)": must be a valid regular expression, but isn't`],
  ],
  [
    'types below alternatives',
    spec({ type: 'object', properties: { a: text }, anyOf: [{ type: 'object', properties: { a: text } }] }),
    [
      `Forbidden ${x}.anyOf[0].properties[a].type: Forbidden: must be empty to be structural`,
      `Forbidden ${x}.anyOf[0].type: Forbidden: must be empty to be structural`,
    ],
  ],
  [
    'a number or text of other types',
    spec({ 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'boolean' }] }),
    [
      `Forbidden ${x}.anyOf[0].type: Forbidden: must be empty to be structural`,
      `Forbidden ${x}.anyOf[1].type: Forbidden: must be empty to be structural`,
    ],
  ],
  [
    'a bad pattern below an alternative',
    spec({ ...text, oneOf: [{ pattern: '[' }] }),
    [`Invalid ${x}.oneOf[0].pattern: Invalid value: "[": must be a valid regular expression, but isn't`],
  ],
  [
    'metadata below an alternative',
    { type: 'object', properties: { metadata: { type: 'object' } }, not: { properties: { metadata: {} } } },
    ['Forbidden S.not.properties[metadata]: Forbidden: must not be specified in a nested context'],
  ],
  [
    'fields that only alternatives of the root mention',
    {
      type: 'object',
      anyOf: [{ properties: { a: {} } }],
      not: { items: {} },
      allOf: [{ oneOf: [{ properties: { b: {} } }] }],
    },
    [
      'Required S.properties[a]: Required value: because it is defined in S.anyOf[0].properties[a]',
      'Required S.properties[b]: Required value: because it is defined in S.allOf[0].oneOf[0].properties[b]',
      'Required S.items: Required value: because it is defined in S.not.items',
    ],
  ],
  [
    'fields deep in alternatives of the root',
    {
      type: 'object',
      properties: { a: { type: 'object' } },
      anyOf: [{ properties: { a: { properties: { b: {} } } } }],
    },
    [
      'Required S.properties[a].properties[b]: Required value: because it is defined in S.anyOf[0].properties[a].properties[b]',
    ],
  ],
];

test.each(bad)('refuses %s', (_name, schema, want) => {
  expect(found(schema)).toEqual(want);
});

const shaping: [string, unknown, string][] = [
  ['type', 'object', 'empty'],
  ['additionalProperties', {}, 'undefined'],
  ['default', {}, 'undefined'],
  ['title', 'x', 'empty'],
  ['description', 'x', 'empty'],
  ['nullable', true, 'false'],
  ['x-kubernetes-preserve-unknown-fields', true, 'false'],
  ['x-kubernetes-embedded-resource', true, 'false'],
  ['x-kubernetes-int-or-string', true, 'false'],
  ['x-kubernetes-list-map-keys', ['a'], 'empty'],
  ['x-kubernetes-list-type', 'set', 'undefined'],
  ['x-kubernetes-map-type', 'atomic', 'undefined'],
];

test.each(shaping)('refuses %s below an alternative', (member, value, must) => {
  const want = `Forbidden ${x}.allOf[0].${member}: Forbidden: must be ${must} to be structural`;
  expect(found(spec({ type: 'object', allOf: [{ [member]: value }] }))).toEqual([want]);
});

test.each(shaping)('takes %s outside of alternatives', (member, value) => {
  const says = found(spec({ type: 'object', properties: { a: text }, ...keep, [member]: value })).join();
  expect(says).not.toContain('to be structural');
});

test('does not look for missing fields below the root, as the API server does not', () => {
  expect(found(spec({ type: 'object', anyOf: [{ properties: { a: { pattern: 'x' } } }] }))).toEqual([]);
});

test('judges anything', () => {
  const keyword = fc.constantFrom(
    'type',
    'items',
    'properties',
    'additionalProperties',
    'anyOf',
    'not',
    'allOf',
    'pattern',
  );
  const nested = fc.letrec(tie => ({
    schema: fc.dictionary(
      keyword,
      fc.oneof(
        { maxDepth: 3 },
        fc.jsonValue({ maxDepth: 2 }),
        tie('schema'),
        fc.array(tie('schema'), { maxLength: 2 }),
      ),
      { maxKeys: 3 },
    ),
  }));
  fc.assert(
    fc.property(nested.schema, schema => {
      found(schema);
    }),
    { numRuns: 1000 },
  );
});
