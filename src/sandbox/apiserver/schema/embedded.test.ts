import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { embeddedCauses } from './embedded.ts';
import type { Schema } from './schema.ts';

const embedded: Schema = {
  type: 'object',
  'x-kubernetes-embedded-resource': true,
  'x-kubernetes-preserve-unknown-fields': true,
};

function found(value: unknown, schema: Schema | undefined = embedded): string[] {
  return embeddedCauses(schema, value, 'spec.o').map(
    ({ reason, field, message }) => `${reason?.replace('FieldValue', '')} ${field}: ${message}`,
  );
}

const pod = { apiVersion: 'v1', kind: 'Pod' };

const good: [string, unknown][] = [
  ['version and kind', pod],
  ['a group', { apiVersion: 'apps/v1', kind: 'Deployment' }],
  ['metadata', { ...pod, metadata: { name: 'x', labels: { a: 'b' }, annotations: { 'a/b': 'c' } } }],
  ['metadata without a name', { ...pod, metadata: { labels: { a: 'b' } } }],
  ['other members', { ...pod, spec: { any: 'thing' } }],
  ['something that is no object, which its type refuses', 5],
];

test.each(good)('takes an object with %s', (_name, value) => {
  expect(found(value)).toEqual([]);
});

const bad: [string, unknown, string[]][] = [
  [
    'neither version nor kind',
    {},
    [
      'Required spec.o.apiVersion: Required value: must not be empty',
      'Required spec.o.kind: Required value: must not be empty',
    ],
  ],
  ['no kind', { apiVersion: 'v1' }, ['Required spec.o.kind: Required value: must not be empty']],
  [
    'empty texts',
    { apiVersion: '', kind: '' },
    [
      'Invalid spec.o.apiVersion: Invalid value: "": must not be empty',
      'Invalid spec.o.kind: Invalid value: "": must not be empty',
    ],
  ],
  [
    'no texts',
    { apiVersion: 1, kind: [] },
    [
      'Invalid spec.o.apiVersion: Invalid value: 1: must be a string',
      'Invalid spec.o.kind: Invalid value: []: must be a string',
    ],
  ],
  [
    'a version with two groups',
    { apiVersion: 'a/b/c', kind: 'Pod' },
    ['Invalid spec.o.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c'],
  ],
];

test.each(bad)('refuses an object with %s', (_name, value, want) => {
  expect(found(value)).toEqual(want);
});

test('refuses a kind that is no name', () => {
  const [says] = found({ apiVersion: 'v1', kind: '?' });
  expect(says).toContain('Invalid spec.o.kind: Invalid value: "?": may have mixed case, but should otherwise match');
});

test('refuses labels that are none', () => {
  const [says, ...more] = found({ ...pod, metadata: { labels: { '?': 'x' } } });
  expect(says).toContain('Invalid spec.o.metadata.labels: Invalid value: "?"');
  expect(more).toEqual([]);
});

test('refuses metadata that cannot be read', () => {
  expect(found({ ...pod, metadata: 5 })).toEqual([
    'Invalid spec.o.metadata: Invalid value: 5: must be the metadata of an object',
  ]);
  expect(found({ ...pod, metadata: { labels: { a: 1 } } })).toHaveLength(1);
});

const nested: [string, Schema, unknown, string][] = [
  ['in a list', { type: 'array', items: embedded }, [pod, {}], 'spec.o[1].apiVersion'],
  ['in an object', { properties: { inner: embedded } }, { inner: {} }, 'spec.o.inner.apiVersion'],
  ['in a map', { additionalProperties: embedded }, { key: {} }, 'spec.o.key.apiVersion'],
  [
    'in an embedded object',
    { ...embedded, properties: { inner: embedded } },
    { ...pod, inner: {} },
    'spec.o.inner.apiVersion',
  ],
];

test.each(nested)('looks at objects %s', (_name, schema, value, field) => {
  expect(embeddedCauses(schema, value, 'spec.o').map(cause => cause.field)).toContain(field);
});

test('leaves objects alone that are not embedded', () => {
  expect(found({}, { type: 'object', properties: {} })).toEqual([]);
  expect(embeddedCauses(undefined, {}, 'x')).toEqual([]);
});

test('judges anything', () => {
  const head = fc.record(
    { apiVersion: fc.jsonValue(), kind: fc.jsonValue(), metadata: fc.jsonValue() },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), head), value => {
      found(value);
    }),
    { numRuns: 2000 },
  );
});
