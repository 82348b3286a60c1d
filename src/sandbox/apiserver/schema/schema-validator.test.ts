import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { StoredObject } from '../ports.ts';
import { validateAndPrune } from './schema-validator.ts';

const schema = {
  type: 'object',
  required: ['spec'],
  properties: {
    spec: {
      type: 'object',
      required: ['size'],
      properties: {
        size: { type: 'integer', minimum: 1 },
        mode: { type: 'string', enum: ['slow', 'fast'], default: 'slow' },
        names: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        inner: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      },
    },
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

function app(content: Record<string, unknown>): StoredObject {
  return { apiVersion: 'ex.io/v1', kind: 'App', metadata: { name: 'x', labels: { a: 'b' } }, ...content };
}

function found(object: StoredObject, by: unknown = schema): string[] {
  return validateAndPrune(by, object).causes.map(({ field }) => field ?? '');
}

test('sets defaults, prunes and reports no causes', () => {
  const object = app({ spec: { size: 1, other: true, mode: null }, more: 1, status: { any: { thing: null } } });
  expect(validateAndPrune(schema, object)).toEqual({
    object: app({ spec: { size: 1, mode: 'slow' }, status: { any: { thing: null } } }),
    causes: [],
  });
});

test('leaves the head of the object alone', () => {
  const head = { apiVersion: 'ex.io/v1', kind: 'App', metadata: { name: 'x', unknown: 1, annotations: null } };
  const { object } = validateAndPrune(schema, {
    ...head,
    spec: { size: 1 },
  } as unknown as StoredObject);
  expect(object).toMatchObject(head);
});

const wrong: [string, Record<string, unknown>, string[]][] = [
  ['a missing member', {}, ['spec']],
  ['a null in its place', { spec: null }, ['spec']],
  ['a missing field', { spec: {} }, ['spec.size']],
  ['values', { spec: { size: 0, mode: 'x' } }, ['spec.size', 'spec.mode']],
  ['a value twice in a set', { spec: { size: 1, names: ['a', 'a'] } }, ['spec.names[1]']],
  [
    'everything at once',
    { spec: { size: 'x', names: ['a', 1, 'a'], inner: {} } },
    ['spec.size', 'spec.names[1]', 'spec.names[2]'],
  ],
];

test.each(wrong)('finds what is wrong with %s', (_name, content, want) => {
  expect(found(app(content))).toEqual(want);
});

test('validates metadata.name by the schema', () => {
  const named = {
    type: 'object',
    properties: { metadata: { type: 'object', properties: { name: { type: 'string', pattern: '^a' } } } },
  };
  expect(found(app({}), named)).toEqual(['metadata.name']);
});

test.each([undefined, null, 'x', 5])('takes any object by the schema %j and keeps its head', by => {
  expect(validateAndPrune(by, app({ spec: { a: 1 } }))).toEqual({ object: app({}), causes: [] });
});

test('keeps everything where everything may be', () => {
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  expect(validateAndPrune(open, app({ spec: { a: [null] } })).object).toEqual(app({ spec: { a: [null] } }));
});

test('gives a new object and leaves the old one alone', () => {
  const object = deepFreeze(app({ spec: { size: 1, other: true } }));
  expect(validateAndPrune(schema, object).object).not.toBe(object);
  expect(object).toEqual(app({ spec: { size: 1, other: true } }));
});

const content = fc.record(
  {
    spec: fc.oneof(
      fc.jsonValue(),
      fc.record(
        { size: fc.jsonValue(), mode: fc.jsonValue(), names: fc.array(fc.jsonValue()), inner: fc.jsonValue() },
        { requiredKeys: [] },
      ),
    ),
    status: fc.jsonValue(),
    more: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

test('is idempotent', () => {
  fc.assert(
    fc.property(content, content => {
      const once = validateAndPrune(schema, app(content));
      expect(validateAndPrune(schema, once.object)).toEqual(once);
    }),
    { numRuns: 2000 },
  );
});

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}
