import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { formOf, leaf, type ListType, type MergeType } from './merge-type.ts';
import { childrenOf, itemStep, typeBelow } from './value-steps.ts';

const free: MergeType = { is: 'free', named: false };
const set: ListType = { is: 'list', item: leaf, keys: [] };
const byName: ListType = { is: 'list', item: free, keys: ['name'] };
const ports: ListType = { is: 'list', item: free, keys: ['port', 'protocol'], defaults: { protocol: 'TCP' } };
const object: MergeType = { is: 'object', fields: { spec: byName }, others: undefined };

const steps: [string, ListType, unknown, string][] = [
  ['a text', set, 'a/b', 'v:"a/b"'],
  ['a text with a quote', set, 'a"b', 'v:"a\\"b"'],
  ['a number', set, 5, 'v:5'],
  ['a truth value', set, false, 'v:false'],
  ['an item by one key', byName, { name: 'x', v: 1 }, 'k:{"name":"x"}'],
  ['an item by two keys', ports, { protocol: 'UDP', port: 53 }, 'k:{"port":53,"protocol":"UDP"}'],
  ['an item with the default of a key', ports, { port: 80 }, 'k:{"port":80,"protocol":"TCP"}'],
  ['keys in the order of their names', { ...byName, keys: ['z', 'a'] }, { z: 1, a: 2 }, 'k:{"a":2,"z":1}'],
];

test.each(steps)('names %s', (_name, type, item, want) => {
  expect(itemStep(type, item)).toEqual({ ok: true, step: want });
});

const problems: [string, ListType, unknown, string][] = [
  ['an item without its key', byName, { v: 1 }, 'omits key field "name" (and doesn\'t have default value)'],
  ['an item without its key that has no default', ports, { protocol: 'TCP' }, 'omits key field "port"'],
  ['a text in a list of objects', byName, 'x', 'may not have non-map elements'],
  ['a list in a list of objects', byName, [], 'may not have non-map elements'],
  ['null in a list of objects', byName, null, 'may not have a null element'],
  ['an object in a set', set, {}, "that's no scalar"],
  ['a list in a set', set, [], "that's no scalar"],
  ['null in a set', set, null, "that's an explicit null"],
];

test.each(problems)('cannot name %s', (_name, type, item, says) => {
  expect(itemStep(type, item)).toEqual({ ok: false, problem: expect.stringContaining(says) });
});

test('does not take an inherited member for a key', () => {
  expect(itemStep({ ...byName, keys: ['toString'] }, {}).ok).toBe(false);
});

const children: [string, MergeType, unknown, [string, unknown, boolean][]][] = [
  ['a field of an object', object, { spec: [] }, [['f:spec', [], true]]],
  ['a member the type does not know', object, { other: 1 }, [['f:other', 1, true]]],
  [
    'the keys of a map',
    free,
    { a: 1, b: 2 },
    [
      ['f:a', 1, false],
      ['f:b', 2, false],
    ],
  ],
  [
    'the items of a set',
    set,
    ['x', 'y'],
    [
      ['v:"x"', 'x', false],
      ['v:"y"', 'y', false],
    ],
  ],
  ['an item without a key by its place', byName, [{ v: 1 }], [['i:0', { v: 1 }, false]]],
  ['nothing of a leaf', leaf, { a: 1 }, []],
  ['nothing of null', object, null, []],
  ['nothing of a list taken for an object', object, [1], []],
  ['nothing of an object taken for a list', byName, { a: 1 }, []],
];

test.each(children)('lists %s', (_name, type, value, want) => {
  const found = childrenOf(type, formOf(type, value), value);
  expect(found.map(child => [child.step, child.value, child.named])).toEqual(want);
});

const below: [string, MergeType, string, { type: MergeType; named: boolean }][] = [
  ['a field', object, 'f:spec', { type: byName, named: true }],
  ['an unknown member', object, 'f:other', { type: leaf, named: true }],
  ['a key of a map', free, 'f:a', { type: free, named: false }],
  ['an item', byName, 'k:{"name":"x"}', { type: free, named: false }],
  ['a scalar', set, 'v:"x"', { type: leaf, named: false }],
  ['an item of what is no list', object, 'k:{}', { type: leaf, named: false }],
];

test.each(below)('knows the type below %s', (_name, type, step, want) => {
  expect(typeBelow(type, step)).toEqual(want);
});

test('gives different items different names', () => {
  const item = fc.record({ port: fc.integer({ min: 1, max: 3 }), protocol: fc.constantFrom('TCP', 'UDP') });
  fc.assert(
    fc.property(item, item, (one, other) => {
      const same = one.port === other.port && one.protocol === other.protocol;
      expect(itemStep(ports, one)).toEqual(same ? itemStep(ports, other) : expect.anything());
      expect(JSON.stringify(itemStep(ports, one)) === JSON.stringify(itemStep(ports, other))).toBe(same);
    }),
    { numRuns: 500 },
  );
});

test('names anything or says why not', () => {
  fc.assert(
    fc.property(fc.constantFrom(set, byName, ports), fc.jsonValue(), (type, item) => {
      const found = itemStep(type, item);
      expect(found.ok ? found.step : found.problem).not.toBe('');
    }),
    { numRuns: 1000 },
  );
});
