import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { FieldSet } from './field-set.ts';
import { capUpdaters, type Manager, managerId, parseManagers, printManager, printManagers } from './managers.ts';

const entry = {
  manager: 'kubectl',
  operation: 'Apply',
  apiVersion: 'v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: { 'f:data': { 'f:a': {} } },
};

const manager: Manager = {
  name: 'kubectl',
  operation: 'Apply',
  apiVersion: 'v1',
  subresource: '',
  time: '2026-01-01T00:00:00Z',
  fields: FieldSet.ofPath('f:data', 'f:a'),
};

function updater(name: string, time: string, ...fields: string[]): Manager {
  return { ...manager, name, operation: 'Update', time, fields: FieldSet.of(fields.map(field => `f:${field}`)) };
}

test('reads an entry', () => {
  const [read] = parseManagers([entry]) ?? [];
  expect({ ...read, fields: read?.fields.print() }).toEqual({ ...manager, fields: manager.fields.print() });
});

test('writes an entry as it has read it', () => {
  expect(printManagers(parseManagers([entry]) ?? [])).toEqual([entry]);
});

test('writes the subresource only where there is one', () => {
  const [status] = printManagers([{ ...manager, subresource: 'status' }]);
  expect(status).toEqual({ ...entry, subresource: 'status' });
});

test('writes no time where there is none', () => {
  const [timeless] = printManagers([{ ...manager, time: undefined }]);
  expect(timeless).not.toHaveProperty('time');
});

const readable: [string, unknown, number][] = [
  ['nothing', undefined, 0],
  ['null', null, 0],
  ['an empty list', [], 0],
  ['an entry without a time', [{ ...entry, time: undefined }], 1],
  ['an entry without fields', [{ ...entry, fieldsV1: undefined }], 1],
  ['an entry without a name', [{ ...entry, manager: undefined }], 1],
  ['two entries', [entry, { ...entry, operation: 'Update' }], 2],
];

test.each(readable)('reads %s', (_name, managedFields, want) => {
  expect(parseManagers(managedFields)).toHaveLength(want);
});

const unreadable: [string, unknown][] = [
  ['a text', 'x'],
  ['an object', {}],
  ['an entry that is no object', ['x']],
  ['an empty entry', [{}]],
  ['an entry of an unknown type', [{ ...entry, fieldsType: 'FieldsV2' }]],
  ['an unknown operation', [{ ...entry, operation: 'Frob' }]],
  ['fields that are none', [{ ...entry, fieldsV1: { data: {} } }]],
  ['a name that is no text', [{ ...entry, manager: 5 }]],
  ['a version that is no text', [{ ...entry, apiVersion: 5 }]],
  ['a subresource that is no text', [{ ...entry, subresource: {} }]],
  ['one bad entry among good ones', [entry, {}, entry]],
];

test.each(unreadable)('does not read %s', (_name, managedFields) => {
  expect(parseManagers(managedFields)).toBeUndefined();
});

test('writes appliers first, then by time, name, version and subresource', () => {
  const managers: Manager[] = [
    updater('b', '2026-01-02T00:00:00Z'),
    updater('z', '2026-01-01T00:00:00Z'),
    updater('a', '2026-01-02T00:00:00Z'),
    { ...updater('a', '2026-01-02T00:00:00Z'), apiVersion: 'v2' },
    { ...updater('a', '2026-01-02T00:00:00Z'), subresource: 'status' },
    { ...manager, time: '2026-01-03T00:00:00Z' },
    { ...updater('timeless', ''), time: undefined },
  ];
  const names = printManagers(managers).map(written => [
    written['manager'],
    written['apiVersion'],
    written['subresource'],
  ]);
  expect(names).toEqual([
    ['kubectl', 'v1', undefined],
    ['timeless', 'v1', undefined],
    ['z', 'v1', undefined],
    ['a', 'v1', undefined],
    ['a', 'v1', 'status'],
    ['a', 'v2', undefined],
    ['b', 'v1', undefined],
  ]);
});

const identities: [string, Partial<Manager>, boolean][] = [
  ['another time', { time: 'later' }, true],
  ['other fields', { fields: FieldSet.empty }, true],
  ['another version of an applier', { apiVersion: 'v2' }, true],
  ['another name', { name: 'other' }, false],
  ['another operation', { operation: 'Update' }, false],
  ['another subresource', { subresource: 'status' }, false],
];

test.each(identities)('tells whether a manager is the same with %s', (_name, change, same) => {
  expect(managerId({ ...manager, ...change }) === managerId(manager)).toBe(same);
});

test('tells updaters of two versions apart', () => {
  const one = updater('x', '');
  expect(managerId({ ...one, apiVersion: 'v2' })).not.toBe(managerId(one));
});

const shown: [Partial<Manager>, string][] = [
  [{}, '"kubectl"'],
  [{ operation: 'Update' }, '"kubectl" using v1'],
  [{ operation: 'Update', apiVersion: 'apps/v1' }, '"kubectl" using apps/v1'],
  [{ operation: 'Update', subresource: 'status' }, '"kubectl" with subresource "status" using v1'],
  [{ subresource: 'status' }, '"kubectl" with subresource "status"'],
  [{ name: 'a "quoted" name' }, '"a \\"quoted\\" name"'],
];

test.each(shown)('shows a manager with %j as %s', (change, want) => {
  expect(printManager({ ...manager, ...change })).toBe(want);
});

const day = (number: number): string => `2026-01-${String(number).padStart(2, '0')}T00:00:00Z`;
const many = (count: number): Manager[] =>
  Array.from({ length: count }, (_, index) => updater(`u${index}`, day(index + 1), `f${index}`));

test('leaves ten updaters alone', () => {
  expect(capUpdaters(many(10)).map(({ name }) => name)).toEqual(many(10).map(({ name }) => name));
});

test('puts the two oldest of eleven together', () => {
  const capped = capUpdaters(many(11));
  expect(capped).toHaveLength(10);
  const ancient = capped.find(({ name }) => name === 'ancient-changes');
  expect(ancient?.fields.print()).toEqual({ 'f:f0': {}, 'f:f1': {} });
  expect(ancient?.time).toBe(day(2));
});

test('puts as many together as needed', () => {
  const capped = capUpdaters(many(15));
  expect(capped).toHaveLength(10);
  expect(capped.find(({ name }) => name === 'ancient-changes')?.fields.paths()).toHaveLength(6);
});

test('adds to what was put together before', () => {
  const once = capUpdaters(many(11));
  const again = capUpdaters([...once, updater('late', day(20), 'late')]);
  expect(again).toHaveLength(10);
  const ancient = again.filter(({ name }) => name === 'ancient-changes');
  expect(ancient.map(({ fields }) => fields.print())).toEqual([{ 'f:f0': {}, 'f:f1': {}, 'f:f2': {} }]);
});

test('keeps versions apart', () => {
  const mixed = many(12).map((one, index) => ({ ...one, apiVersion: index % 2 === 0 ? 'v1' : 'v2' }));
  const ancient = capUpdaters(mixed).filter(({ name }) => name === 'ancient-changes');
  expect(ancient.map(({ apiVersion }) => apiVersion).toSorted()).toEqual(['v1', 'v2']);
});

test('never puts appliers together', () => {
  const appliers = many(30).map(one => ({ ...one, operation: 'Apply' as const }));
  expect(capUpdaters(appliers)).toHaveLength(30);
});

test('never loses a field, and never has more than ten updaters of one version', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 40 }), count => {
      const capped = capUpdaters(many(count));
      const all = capped.reduce((sum, { fields }) => sum.union(fields), FieldSet.empty);
      expect(all.paths()).toHaveLength(count);
      expect(capped.length).toBe(Math.min(count, 10));
    }),
    { numRuns: 100 },
  );
});

test('reads anything without throwing', () => {
  const orGood = Object.entries(entry).map(([name, good]) => [name, fc.oneof(fc.jsonValue(), fc.constant(good))]);
  const entries = fc.array(fc.record(Object.fromEntries(orGood) as Record<string, fc.Arbitrary<unknown>>));
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), entries), value => {
      const managers = parseManagers(value);
      if (managers !== undefined) expect(parseManagers(printManagers(managers))).toHaveLength(managers.length);
    }),
    { numRuns: 2000 },
  );
});
