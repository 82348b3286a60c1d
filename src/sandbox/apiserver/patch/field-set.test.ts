import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FieldSet, printPath } from './field-set.ts';

/** A set of paths, each written as steps with blanks between them. */
function setOf(...paths: string[]): FieldSet {
  return paths.reduce((all, path) => all.union(FieldSet.ofPath(...path.split(' '))), FieldSet.empty);
}

function shown(set: FieldSet): string[] {
  return set.paths().map(path => path.join(' '));
}

const printed: [string, string[], unknown][] = [
  ['nothing', [], {}],
  ['a member', ['f:data'], { 'f:data': {} }],
  ['a member of a member', ['f:data f:a'], { 'f:data': { 'f:a': {} } }],
  ['a member and what is in it', ['f:data', 'f:data f:a'], { 'f:data': { '.': {}, 'f:a': {} } }],
  [
    'an item by its keys',
    ['f:spec f:ports k:{"port":80}', 'f:spec f:ports k:{"port":80} f:port'],
    { 'f:spec': { 'f:ports': { 'k:{"port":80}': { '.': {}, 'f:port': {} } } } },
  ],
  ['a scalar of a set', ['f:metadata f:finalizers v:"a/b"'], { 'f:metadata': { 'f:finalizers': { 'v:"a/b"': {} } } }],
];

test.each(printed)('writes %s', (_name, paths, want) => {
  expect(setOf(...paths).print()).toEqual(want);
});

test.each(printed)('reads %s', (_name, paths, fieldsV1) => {
  const set = FieldSet.parse(fieldsV1);
  expect(set === undefined ? undefined : shown(set)).toEqual(shown(setOf(...paths)));
});

test('writes steps in the order of their texts', () => {
  const set = setOf('f:z', 'f:a', 'f:a k:{"b":1}', 'f:a f:c', 'f:a');
  expect(JSON.stringify(set.print())).toBe('{"f:a":{".":{},"f:c":{},"k:{\\"b\\":1}":{}},"f:z":{}}');
});

const unreadable: [string, unknown][] = [
  ['a text', 'x'],
  ['a list', []],
  ['null', null],
  ['nothing', undefined],
  ['a step of no kind', { x: {} }],
  ['a step of an unknown kind', { 'q:x': {} }],
  ['a member that is no object', { 'f:a': 5 }],
  ['a member that is null', { 'f:a': null }],
  ['something wrong deep inside', { 'f:a': { 'f:b': { c: {} } } }],
];

test.each(unreadable)('does not read %s', (_name, fieldsV1) => {
  expect(FieldSet.parse(fieldsV1)).toBeUndefined();
});

test('reads a set that owns the whole object as one that owns nothing', () => {
  expect(FieldSet.parse({ '.': {} })?.isEmpty).toBe(true);
});

const a = setOf('f:a', 'f:b f:c', 'f:b f:d');
const b = setOf('f:a', 'f:b f:c', 'f:b', 'f:e');

const operations: [string, FieldSet, string[]][] = [
  ['union', a.union(b), ['f:a', 'f:b', 'f:e', 'f:b f:c', 'f:b f:d']],
  ['intersection', a.intersection(b), ['f:a', 'f:b f:c']],
  ['difference', a.difference(b), ['f:b f:d']],
  ['difference the other way', b.difference(a), ['f:b', 'f:e']],
  ['difference, which leaves what is below a removed path', a.difference(setOf('f:b')), ['f:a', 'f:b f:c', 'f:b f:d']],
  ['difference, which leaves what is above a removed path', setOf('f:b').difference(setOf('f:b f:c')), ['f:b']],
  ['filter, which takes all below', a.filter(step => step === 'f:b'), ['f:b f:c', 'f:b f:d']],
  ['filter, which takes nothing', a.filter(() => false), []],
  ['what is below a step', a.below('f:b'), ['f:c', 'f:d']],
  ['what is below an unknown step', a.below('f:x'), []],
  ['what is below a member', a.below('f:a'), []],
];

test.each(operations)('makes the %s', (_name, set, want) => {
  expect(shown(set)).toEqual(want);
  expect(set.isEmpty).toBe(want.length === 0);
});

test('drops branches that have become empty', () => {
  expect(setOf('f:a f:b f:c').difference(setOf('f:a f:b f:c')).print()).toEqual({});
});

const contained: [string, boolean][] = [
  ['f:a', true],
  ['f:b', false],
  ['f:b f:c', true],
  ['f:b f:x', false],
  ['f:a f:x', false],
  ['f:x f:y f:z', false],
];

test.each(contained)('says whether it has %s', (path, want) => {
  expect(a.has(path.split(' '))).toBe(want);
});

test('has not the object itself', () => {
  expect(a.has([])).toBe(false);
  expect(FieldSet.ofPath().isEmpty).toBe(true);
});

test('lists members of a level before what is below them', () => {
  expect(shown(setOf('f:b f:c', 'f:z', 'f:a f:b f:c', 'f:a'))).toEqual(['f:a', 'f:z', 'f:a f:b f:c', 'f:b f:c']);
});

test('changes each first step by a function', () => {
  const changed = a.map((step, { member, below }) => ({
    member: step === 'f:b' || !member,
    below: step === 'f:a' ? setOf('f:new') : below.filter(inner => inner === 'f:c'),
  }));
  expect(shown(changed)).toEqual(['f:b', 'f:a f:new', 'f:b f:c']);
});

const paths: [string, string][] = [
  ['f:data', '.data'],
  ['f:data f:a', '.data.a'],
  ['f:metadata f:labels f:a/b', '.metadata.labels.a/b'],
  ['f:spec f:containers k:{"name":"web"} f:image', '.spec.containers[name="web"].image'],
  ['f:ports k:{"containerPort":80,"protocol":"TCP"}', '.ports[containerPort=80,protocol="TCP"]'],
  ['f:finalizers v:"a/b"', '.finalizers[="a/b"]'],
  ['f:numbers v:5', '.numbers[=5]'],
  ['f:list i:3', '.list[3]'],
  ['f:list k:nonsense', '.list[nonsense]'],
  ['f:list k:5', '.list[5]'],
];

test.each(paths)('shows %s', (path, want) => {
  expect(printPath(path.split(' '))).toBe(want);
});

const step = fc.constantFrom('f:a', 'f:b', 'k:{"n":1}', 'v:"x"');
const anySet = fc
  .array(fc.array(step, { minLength: 1, maxLength: 3 }), { maxLength: 6 })
  .map(all => setOf(...all.map(path => path.join(' '))));

function asSet(set: FieldSet): Set<string> {
  return new Set(shown(set));
}

test('is a set: union, intersection and difference are those of the paths', () => {
  fc.assert(
    fc.property(anySet, anySet, (one, other) => {
      const [x, y] = [asSet(one), asSet(other)];
      expect(asSet(one.union(other))).toEqual(x.union(y));
      expect(asSet(one.intersection(other))).toEqual(x.intersection(y));
      expect(asSet(one.difference(other))).toEqual(x.difference(y));
    }),
    { numRuns: 2000 },
  );
});

test('reads what it has written', () => {
  fc.assert(
    fc.property(anySet, set => {
      const read = FieldSet.parse(JSON.parse(JSON.stringify(set.print())));
      expect(read === undefined ? undefined : shown(read)).toEqual(shown(set));
    }),
    { numRuns: 2000 },
  );
});

test('is empty exactly when it has no paths', () => {
  fc.assert(
    fc.property(anySet, anySet, (one, other) => {
      const rest = one.difference(other);
      expect(rest.isEmpty).toBe(rest.paths().length === 0);
    }),
    { numRuns: 1000 },
  );
});

test('has every path it lists', () => {
  fc.assert(
    fc.property(anySet, set => {
      for (const path of set.paths()) expect(set.has(path)).toBe(true);
    }),
    { numRuns: 1000 },
  );
});

test('reads anything without throwing', () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.dictionary(step, fc.jsonValue())), value => {
      const set = FieldSet.parse(value);
      set?.paths().map(printPath);
    }),
    { numRuns: 2000 },
  );
});
