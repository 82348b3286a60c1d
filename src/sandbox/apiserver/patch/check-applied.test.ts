import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { builtInType } from './built-in-types.ts';
import { problemOf } from './check-applied.ts';
import { customType } from './schema-type.ts';

const type = customType({
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        n: { type: 'integer' },
        set: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
        map: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['k'],
          items: {
            type: 'object',
            properties: { k: { type: 'string' }, o: { type: 'object', properties: { x: {} } } },
          },
        },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        texts: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  },
});

const spec = (content: unknown): unknown => ({
  apiVersion: 'ex.io/v1',
  kind: 'App',
  metadata: { name: 'x' },
  spec: content,
});

const problems: [string, unknown, string | undefined][] = [
  ['nothing in a good object', spec({ n: 1, set: ['a'], map: [{ k: '1' }, { k: '2' }] }), undefined],
  ['nothing in free content', spec({ free: { any: { thing: [1] } }, texts: { a: 'b' } }), undefined],
  ['an unknown field', spec({ zz: 1 }), '.spec.zz: field not declared in schema'],
  ['an unknown member of the object', { foo: 1 }, '.foo: field not declared in schema'],
  [
    'an unknown field of an item',
    spec({ map: [{ k: '1', z: 1 }] }),
    '.spec.map[k="1"].z: field not declared in schema',
  ],
  [
    'an unknown field deep in an item',
    spec({ map: [{ k: '1', o: { y: 1 } }] }),
    '.spec.map[k="1"].o.y: field not declared',
  ],
  ['a scalar twice', spec({ set: ['a', 'b', 'a'] }), '.spec.set: duplicate entries for key [="a"]'],
  ['an item twice', spec({ map: [{ k: '1' }, { k: '1' }] }), '.spec.map: duplicate entries for key [k="1"]'],
  ['an item without its key', spec({ map: [{}] }), '.spec.map: element 0: associative list with keys has an element'],
  [
    'an item that is no object',
    spec({ map: [{ k: '1' }, 5] }),
    '.spec.map: element 1: associative list with keys may not',
  ],
  [
    'a null item',
    spec({ map: [null] }),
    '.spec.map: element 0: associative list with keys may not have a null element',
  ],
  ['an object in a set', spec({ set: [{}] }), '.spec.set: element 0: associative list without keys'],
  ['an item of metadata twice', { metadata: { finalizers: ['x', 'x'] } }, '.metadata.finalizers: duplicate entries'],
  // The validation says this better later on.
  ['nothing in values of the wrong type', spec({ n: 'x', set: 'y', map: {}, texts: [] }), undefined],
  ['nothing in an object that is none', 5, undefined],
];

test.each(problems)('finds %s', (_name, value, want) => {
  const problem = problemOf(type, value);
  expect(problem?.startsWith(want ?? '') ?? want === undefined).toBe(true);
  expect(problem === undefined).toBe(want === undefined);
});

test('does not know all fields of built-in kinds', () => {
  expect(problemOf(builtInType('', 'Pod'), { spec: { brandNew: { field: 1 } } })).toBeUndefined();
});

test('takes a port without a protocol', () => {
  const pod = { spec: { containers: [{ name: 'c', ports: [{ containerPort: 80 }] }] } };
  expect(problemOf(builtInType('', 'Pod'), pod)).toBeUndefined();
});

test('finds a port twice when only one of the two says TCP', () => {
  const ports = [{ port: 80 }, { port: 80, protocol: 'TCP' }];
  const want = '.spec.ports: duplicate entries for key [port=80,protocol="TCP"]';
  expect(problemOf(builtInType('', 'Service'), { spec: { ports } })).toBe(want);
});

test('looks at anything without throwing', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      problemOf(type, spec(value));
      problemOf(builtInType('', 'Pod'), value);
    }),
    { numRuns: 1000 },
  );
});
