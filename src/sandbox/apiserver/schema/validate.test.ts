import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { prune } from './prune.ts';
import type { Schema } from './schema.ts';
import { validate } from './validate.ts';

/** What is wrong, as `reason field: message`; the reason without the prefix all of them have. */
function found(schema: Schema, value: unknown, path = 'spec.x'): string[] {
  return validate(schema, value, path).map(
    ({ reason, field, message }) => `${reason?.replace('FieldValue', '')} ${field}: ${message}`,
  );
}

const typeNames: [unknown, string][] = [
  ['x', 'string'],
  [1, 'integer'],
  [1.5, 'number'],
  [1e30, 'number'],
  [true, 'boolean'],
  [[], 'array'],
  [{}, 'object'],
  [null, 'null'],
];
const types = ['string', 'integer', 'number', 'boolean', 'array', 'object'];

for (const type of types) {
  for (const [value, actual] of typeNames) {
    const fits = type === actual || (type === 'number' && actual === 'integer');
    test(`takes ${JSON.stringify(value)} for ${type}: ${fits}`, () => {
      const says = `Invalid spec.x: Invalid value: "${actual}": spec.x in body must be of type ${type}: "${actual}"`;
      expect(found({ type }, value)).toEqual(fits ? [] : [says]);
    });
  }
}

/** Messages as kube-apiserver 1.20 has them, after the name of the field. */
const limits: [string, Schema, unknown, string | undefined][] = [
  ['a short text', { minLength: 2 }, 'a', 'Invalid value: "a": spec.x in body should be at least 2 chars long'],
  ['a string of the least length', { minLength: 2 }, 'ab', undefined],
  ['a long text', { maxLength: 3 }, 'abcd', 'Invalid value: "abcd": spec.x in body should be at most 3 chars long'],
  ['a string of the greatest length', { maxLength: 3 }, 'abc', undefined],
  [
    'a long text of letters with marks',
    { maxLength: 3 },
    'äöüß',
    'Invalid value: "äöüß": spec.x in body should be at most 3 chars long',
  ],
  ['a string of characters outside the basic plane', { maxLength: 2 }, '😀😀', undefined],
  ['no text where none may be', { maxLength: 0 }, '', undefined],
  [
    'a text that does not match',
    { pattern: '^[a-z]+$' },
    'A',
    `Invalid value: "A": spec.x in body should match '^[a-z]+$'`,
  ],
  ['a text that matches', { pattern: '^[a-z]+$' }, 'a', undefined],
  ['a text by an invalid pattern', { pattern: '(' }, 'a', undefined],
  [
    'a text by a pattern with a group and an escaped dash',
    { pattern: '^(?:a|\\-)$' },
    'c',
    `Invalid value: "c": spec.x in body should match '^(?:a|\\-)$'`,
  ],
  ['a text by a pattern that only Go has', { pattern: '^[[:alpha:]]$' }, '1', undefined],
  [
    'a string of another format',
    { format: 'ipv4' },
    '1',
    'Invalid value: "1": spec.x in body must be of type ipv4: "1"',
  ],
  ['a string of the format', { format: 'ipv4' }, '1.2.3.4', undefined],
  ['a string of an unknown format', { format: 'frob' }, 'x', undefined],
  ['a number below', { minimum: 1 }, 0, 'Invalid value: 0: spec.x in body should be greater than or equal to 1'],
  ['the least number', { minimum: 1 }, 1, undefined],
  [
    'the excluded least number',
    { minimum: 1, exclusiveMinimum: true },
    1,
    'Invalid value: 1: spec.x in body should be greater than 1',
  ],
  ['a number above', { maximum: 5 }, 6, 'Invalid value: 6: spec.x in body should be less than or equal to 5'],
  ['the greatest number', { maximum: 5 }, 5, undefined],
  [
    'the excluded greatest number',
    { maximum: 5, exclusiveMaximum: true },
    5,
    'Invalid value: 5: spec.x in body should be less than 5',
  ],
  ['zero as a limit', { minimum: 0 }, -1, 'Invalid value: -1: spec.x in body should be greater than or equal to 0'],
  ['no multiple', { multipleOf: 3 }, 4, 'Invalid value: 4: spec.x in body should be a multiple of 3'],
  ['a multiple', { multipleOf: 3 }, 9, undefined],
  ['a multiple of a fraction', { multipleOf: 0.1 }, 0.3, undefined],
  ['few items', { minItems: 1 }, [], 'Invalid value: 0: spec.x in body should have at least 1 items'],
  ['enough items', { minItems: 1 }, [1], undefined],
  ['many items', { maxItems: 2 }, [1, 2, 3], 'Invalid value: 3: spec.x in body should have at most 2 items'],
  ['not too many items', { maxItems: 2 }, [1, 2], undefined],
  ['few members', { minProperties: 1 }, {}, 'Invalid value: 1: spec.x in body should have at least 1 properties'],
  [
    'many members',
    { maxProperties: 1 },
    { a: 1, b: 2 },
    'Invalid value: 1: spec.x in body should have at most 1 properties',
  ],
  ['not too many members', { maxProperties: 2 }, { a: 1, b: 2 }, undefined],
];

test.each(limits)('judges %s', (_name, schema, value, want) => {
  expect(found(schema, value)).toEqual(want === undefined ? [] : [`Invalid spec.x: ${want}`]);
});

test.each([
  ['a number', { minLength: 5, pattern: 'x', format: 'ipv4' }, 5],
  ['a text', { minimum: 5, multipleOf: 3 }, 'x'],
  ['a list', { minProperties: 5, required: ['a'], minLength: 9 }, []],
  ['an object', { minItems: 5, maximum: 0 }, {}],
])('does not hold %s to the limits of other types', (_name, schema, value) => {
  expect(found(schema, value)).toEqual([]);
});

const enums: [string, unknown[], unknown, string[]][] = [
  ['a string of the list', ['a', 'b'], 'b', []],
  ['another text', ['a', 'b'], 'c', ['NotSupported spec.x: Unsupported value: "c": supported values: "a", "b"']],
  ['another number', [1, 2], 3, ['NotSupported spec.x: Unsupported value: 3: supported values: "1", "2"']],
  ['an object of the list', [{ a: 1 }], { a: 1 }, []],
  ['null of the list', [null, 'a'], null, []],
  ['anything without a list', [], 'x', []],
];

test.each(enums)('judges %s', (_name, allowed, value, want) => {
  expect(found({ enum: allowed }, value)).toEqual(want);
});

test('lists type and value when both are wrong', () => {
  expect(found({ type: 'string', enum: ['a'] }, 1)).toEqual([
    'Invalid spec.x: Invalid value: "integer": spec.x in body must be of type string: "integer"',
    'NotSupported spec.x: Unsupported value: 1: supported values: "a"',
  ]);
});

const numberOrText = { 'x-kubernetes-int-or-string': true };
const either: [unknown, string | undefined][] = [
  [5, undefined],
  ['a', undefined],
  [true, 'boolean'],
  [1.5, 'number'],
  [null, 'null'],
];

test.each(either)('takes %j for a number or text', (value, actual) => {
  const says = `Invalid spec.x: Invalid value: "${actual}": spec.x in body must be of type integer,string: "${actual}"`;
  expect(found(numberOrText, value)).toEqual(actual === undefined ? [] : [says]);
});

test('holds a number or text to its pattern only as a text', () => {
  const schema = { ...numberOrText, anyOf: [{ type: 'integer' }, { type: 'string' }], pattern: '^\\d+%$' };
  expect([found(schema, 5), found(schema, '5%')]).toEqual([[], []]);
  expect(found(schema, 'a')).toEqual([`Invalid spec.x: Invalid value: "a": spec.x in body should match '^\\d+%$'`]);
});

test('accepts null if nullable', () => {
  expect(found({ type: 'string', nullable: true, enum: ['a'] }, null)).toEqual([]);
});

const object: Schema = {
  type: 'object',
  required: ['a', 'b'],
  properties: { a: { type: 'string' }, b: { type: 'string' }, o: { type: 'object', required: ['c'] } },
};

const members: [string, Schema, unknown, string[]][] = [
  ['all that is needed', object, { a: '1', b: '2' }, []],
  ['missing members', object, {}, ['Required spec.x.a: Required value', 'Required spec.x.b: Required value']],
  ['a missing member inside', object, { a: '', b: '', o: {} }, ['Required spec.x.o.c: Required value']],
  ['an inherited member', { required: ['toString'] }, {}, ['Required spec.x.toString: Required value']],
  ['unknown members', object, { a: '', b: '', z: 1 }, []],
  [
    'the values of a map',
    { additionalProperties: { type: 'integer' } },
    { q: 'x', r: 1 },
    ['Invalid spec.x.q: Invalid value: "string": spec.x.q in body must be of type integer: "string"'],
  ],
  ['a map of anything', { additionalProperties: true }, { q: {} }, []],
  [
    'a member where none may be',
    { additionalProperties: false },
    { a: 1 },
    ['Invalid spec.x: Invalid value: "a": spec.x.a in body is a forbidden property'],
  ],
  [
    'items',
    { type: 'array', items: { type: 'object', required: ['x'], properties: { y: { enum: ['q'] } } } },
    [{ x: 1 }, { x: 1, y: 'z' }, 5, {}],
    [
      'NotSupported spec.x[1].y: Unsupported value: "z": supported values: "q"',
      'Invalid spec.x[2]: Invalid value: "integer": spec.x[2] in body must be of type object: "integer"',
      'Required spec.x[3].x: Required value',
    ],
  ],
  ['items of a list without a schema', { type: 'array' }, [1, {}], []],
  ['a required member that is no text', { required: [5] }, {}, []],
];

test.each(members)('judges %s', (_name, schema, value, want) => {
  expect(found(schema, value)).toEqual(want);
});

test('names members of the root without a dot', () => {
  expect(found({ required: ['spec'] }, {}, '')).toEqual(['Required spec: Required value']);
});

const needsA = { required: ['a'] };
const needsB = { required: ['b'] };
const nil = 'Invalid <nil>: Invalid value: "": "spec.x" must';

const logic: [string, Schema, unknown, string[]][] = [
  ['one of two', { oneOf: [needsA, needsB] }, { a: 1 }, []],
  [
    'none of two',
    { oneOf: [needsA, needsB] },
    {},
    [`${nil} validate one and only one schema (oneOf). Found none valid`, 'Required spec.x.a: Required value'],
  ],
  [
    'both of two',
    { oneOf: [needsA, needsB] },
    { a: 1, b: 1 },
    [`${nil} validate one and only one schema (oneOf). Found 2 valid alternatives`],
  ],
  ['any of two', { anyOf: [needsA, needsB] }, { b: 1 }, []],
  ['both of any', { anyOf: [needsA, needsB] }, { a: 1, b: 1 }, []],
  [
    'none of any',
    { anyOf: [needsA, needsB] },
    {},
    [`${nil} validate at least one schema (anyOf)`, 'Required spec.x.a: Required value'],
  ],
  [
    'the alternative that comes nearest',
    { anyOf: [{ required: ['p', 'q'] }, needsB] },
    {},
    [`${nil} validate at least one schema (anyOf)`, 'Required spec.x.b: Required value'],
  ],
  ['all', { allOf: [needsA, needsB] }, { a: 1, b: 1 }, []],
  [
    'not all',
    { allOf: [needsA, needsB] },
    { a: 1 },
    ['Required spec.x.b: Required value', `${nil} validate all the schemas (allOf)`],
  ],
  ['what it must not be', { not: needsA }, { a: 1 }, [`${nil} not validate the schema (not)`]],
  ['what it may be', { not: needsA }, { b: 1 }, []],
  ['a forbidden value', { not: { enum: ['bad'] } }, 'bad', [`${nil} not validate the schema (not)`]],
  ['no alternatives at all', { anyOf: [], oneOf: [], allOf: [] }, {}, []],
];

test.each(logic)('judges %s', (_name, schema, value, want) => {
  expect(found(schema, value)).toEqual(want);
});

const name = fc.constantFrom('a', 'b', 'c');
const schemas = fc.letrec(tie => ({
  any: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom<Schema>({ type: 'string' }, { type: 'integer', minimum: 1 }, { type: 'string', enum: ['x'] }),
    fc
      .dictionary(name, tie('any'))
      .map(properties => ({ type: 'object', properties, required: Object.keys(properties).slice(0, 1) })),
    tie('any').map(items => ({ type: 'array', items })),
    tie('any').map(additionalProperties => ({ type: 'object', additionalProperties })),
  ),
}));
const values = fc.letrec(tie => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom<unknown>(1, 0, 'x', true),
    fc.dictionary(name, tie('any')),
    fc.array(tie('any'), { maxLength: 2 }),
  ),
}));

/** Without messages, which may show the value. */
function places(schema: Schema, value: unknown): Set<string> {
  return new Set(validate(schema, value, 'x').map(({ reason, field }) => `${reason} ${field}`));
}

test('judges a pruned value as it judges the whole', () => {
  fc.assert(
    fc.property(schemas.any, values.any, (schema, value) => {
      expect(places(schema as Schema, prune(schema, value))).toEqual(places(schema as Schema, value));
    }),
    { numRuns: 3000 },
  );
});

test('an empty schema accepts any value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      expect(found({}, value)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test('agrees with "not" exactly when it finds something', () => {
  fc.assert(
    fc.property(schemas.any, values.any, (schema, value) => {
      const negated = found({ not: schema }, value);
      expect(negated.length === 0).toBe(found(schema as Schema, value).length > 0);
    }),
    { numRuns: 1000 },
  );
});

test('judges anything by anything', () => {
  const keyword = fc.constantFrom(
    'type',
    'enum',
    'required',
    'items',
    'properties',
    'pattern',
    'anyOf',
    'minimum',
    'not',
  );
  fc.assert(
    fc.property(fc.dictionary(keyword, fc.jsonValue()), fc.jsonValue(), (schema, value) => {
      for (const { reason, field, message } of validate(schema, value, 'x'))
        expect([reason, field, message]).not.toContain(undefined);
    }),
    { numRuns: 2000 },
  );
});
