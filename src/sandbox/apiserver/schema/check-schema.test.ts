import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkSchema } from './check-schema.ts';

/** Fields that are wrong with their reasons, below the path of the schema. */
function found(schema: unknown): string[] {
  return checkSchema(schema, 'S').map(({ reason, field }) => `${reason?.replace('FieldValue', '')} ${field}`);
}

const spec = (schema: unknown): unknown => ({ type: 'object', properties: { spec: schema } });
const text = { type: 'string' };

const good: [string, unknown][] = [
  ['an object', { type: 'object' }],
  ['anything', { 'x-kubernetes-preserve-unknown-fields': true }],
  [
    'fields of every type',
    spec({ type: 'object', properties: { a: text, b: { type: 'integer' }, c: { type: 'boolean' } } }),
  ],
  ['required fields', { type: 'object', required: ['spec'], properties: { spec: { type: 'object' } } }],
  ['a list', spec({ type: 'array', items: text })],
  ['a map', spec({ type: 'object', additionalProperties: text })],
  ['a map of anything', spec({ type: 'object', additionalProperties: true })],
  ['a map of nothing', spec({ type: 'object', additionalProperties: false })],
  ['limits', spec({ type: 'string', minLength: 1, maxLength: 5, pattern: '^a', enum: ['a'], format: 'uri' })],
  ['a default', spec({ type: 'object', default: {}, properties: { a: { ...text, default: 'x' } } })],
  ['a default in a map', spec({ type: 'object', additionalProperties: { ...text, default: 'x' } })],
  [
    'names that are restricted',
    { type: 'object', properties: { metadata: { type: 'object', properties: { name: { ...text, pattern: '^a' } } } } },
  ],
  ['keywords nobody knows', spec({ type: 'string', frob: 1, example: {}, externalDocs: {} })],
  ['keywords that are null', spec({ type: 'string', pattern: null, items: null, properties: null })],
  [
    'alternatives',
    spec({ type: 'object', properties: { a: text, b: text }, oneOf: [{ required: ['a'] }, { required: ['b'] }] }),
  ],
];

test.each(good)('takes a schema with %s', (_name, schema) => {
  expect(found(schema)).toEqual([]);
});

/** Fields and reasons are those of kube-apiserver. */
const bad: [string, unknown, string[]][] = [
  ['an unknown type', spec({ type: 'frob' }), ['NotSupported S.properties[spec].type']],
  [
    'the type null',
    spec({ type: 'null' }),
    ['NotSupported S.properties[spec].type', 'Forbidden S.properties[spec].type'],
  ],
  [
    'unique items',
    spec({ type: 'array', uniqueItems: true, items: text }),
    ['Forbidden S.properties[spec].uniqueItems'],
  ],
  [
    'named and other members at once',
    spec({ type: 'object', properties: { a: text }, additionalProperties: text }),
    ['Forbidden S.properties[spec].additionalProperties'],
  ],
  [
    'named members and a ban on others',
    spec({ type: 'object', properties: { a: text }, additionalProperties: false }),
    ['Forbidden S.properties[spec].additionalProperties'],
  ],
  ['definitions', spec({ type: 'object', definitions: { a: text } }), ['Forbidden S.properties[spec].definitions']],
  ['dependencies', spec({ type: 'object', dependencies: { a: ['b'] } }), ['Forbidden S.properties[spec].dependencies']],
  [
    'members by pattern',
    spec({ type: 'object', patternProperties: { a: text } }),
    ['Forbidden S.properties[spec].patternProperties'],
  ],
  ['an id', spec({ type: 'object', id: 'x' }), ['Forbidden S.properties[spec].id']],
  [
    'more items',
    spec({ type: 'array', items: text, additionalItems: {} }),
    ['Forbidden S.properties[spec].additionalItems'],
  ],
  ['a null root', { type: 'object', nullable: true }, ['Forbidden S.nullable']],
  [
    'a default in the metadata',
    { type: 'object', properties: { metadata: { type: 'object', properties: { name: { ...text, default: 'x' } } } } },
    ['Forbidden S.properties[metadata].properties[name].default'],
  ],
  [
    'a default for the kind',
    { type: 'object', properties: { kind: { ...text, default: 'x' } } },
    ['Forbidden S.properties[kind].default'],
  ],
  [
    'an embedded object in the metadata of an embedded one',
    spec({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: {
        metadata: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      },
    }),
    ['Forbidden S.properties[spec].properties[metadata].x-kubernetes-embedded-resource'],
  ],
  [
    'a default in a map of the metadata of an embedded object',
    spec({
      type: 'object',
      'x-kubernetes-embedded-resource': true,
      properties: {
        metadata: {
          type: 'object',
          properties: { labels: { type: 'object', additionalProperties: { ...text, default: 'x' } } },
        },
      },
    }),
    ['Forbidden S.properties[spec].properties[metadata].properties[labels].additionalProperties.default'],
  ],
  [
    'something wrong in items',
    spec({ type: 'array', items: { type: 'frob' } }),
    ['NotSupported S.properties[spec].items.type'],
  ],
  [
    'something wrong in a map',
    spec({ type: 'object', additionalProperties: { type: 'frob' } }),
    ['NotSupported S.properties[spec].additionalProperties.type'],
  ],
  [
    'something wrong in an alternative',
    spec({ type: 'object', anyOf: [{ id: 'x' }], allOf: [{ id: 'y' }], oneOf: [{ id: 'z' }], not: { id: 'n' } }),
    [
      'Forbidden S.properties[spec].not.id',
      'Forbidden S.properties[spec].allOf[0].id',
      'Forbidden S.properties[spec].oneOf[0].id',
      'Forbidden S.properties[spec].anyOf[0].id',
    ],
  ],
];

test.each(bad)('refuses a schema with %s', (_name, schema, want) => {
  expect(found(schema)).toEqual(want);
});

test.each([undefined, null, 'x', 5, []])('refuses %j for a schema', schema => {
  expect(found(schema)).toEqual(['Invalid S']);
});

test('refuses a schema of too many levels', () => {
  let schema: unknown = { type: 'string' };
  for (let level = 0; level < 100_000; level += 1) schema = { not: schema };
  expect(found({ type: 'object', ...(schema as object) })).toEqual(['Forbidden S']);
});

test('says everything that is wrong at once', () => {
  const schema = {
    type: 'object',
    properties: {
      a: { type: 'frob' },
      b: { type: 'array' },
      c: {},
      d: { type: 'array', uniqueItems: true, items: text },
    },
  };
  expect(found(schema)).toEqual([
    'NotSupported S.properties[a].type',
    'Forbidden S.properties[d].uniqueItems',
    'Required S.properties[b].items',
    'Required S.properties[c].type',
  ]);
});

test('looks at the members first when they have the wrong type', () => {
  expect(found(spec({ type: ['string'], items: 5 }))).toEqual([
    'Invalid S.properties[spec].type',
    'Invalid S.properties[spec].items',
  ]);
});

test('looks at defaults last', () => {
  expect(found({ type: 'object', properties: { a: { type: 'string', default: 5 }, b: {} } })).toEqual([
    'Required S.properties[b].type',
  ]);
  expect(found({ type: 'object', properties: { a: { type: 'string', default: 5 } } })).toEqual([
    'Invalid S.properties[a].default',
  ]);
});

test('says for each field what is wrong in words', () => {
  for (const [, schema] of bad) {
    for (const { message } of checkSchema(schema, 'S')) expect(message?.length).toBeGreaterThan(10);
  }
});

const keyword = fc.constantFrom(
  'type',
  'items',
  'properties',
  'additionalProperties',
  'anyOf',
  'not',
  'default',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-embedded-resource',
  'pattern',
  'required',
);
const value = fc.oneof(fc.constantFrom<unknown>('object', 'array', true, 'map', ['a']), fc.jsonValue({ maxDepth: 2 }));
const anySchema = fc.letrec(tie => ({
  schema: fc.dictionary(
    keyword,
    fc.oneof({ maxDepth: 3 }, value, tie('schema'), fc.array(tie('schema'), { maxLength: 2 })),
    { maxKeys: 4 },
  ),
}));

test('judges anything', () => {
  fc.assert(
    fc.property(anySchema.schema, schema => {
      for (const { reason, field, message } of checkSchema(schema, 'S')) {
        expect([reason, field, message]).not.toContain(undefined);
        // A default that breaks "not" or "anyOf" has no field of its own on the real server either.
        expect(field === '<nil>' ? message : field).toMatch(/^S|must (not )?validate/);
      }
    }),
    { numRuns: 1000, examples: [[{ type: 'object', default: [], not: {} }]] },
  );
});
