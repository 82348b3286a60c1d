import { expect, test } from 'vitest';
import { compareValues } from './compare-values.ts';
import { FieldSet } from './field-set.ts';
import { type Manager, managerId } from './managers.ts';
import type { MergeType } from './merge-type.ts';
import { compareWithin, conflictsOf, disown, ownable, reachOf } from './ownership.ts';

const type: MergeType = { is: 'free', named: true };

function owner(name: string, ...paths: string[]): Manager {
  const fields = paths
    .map(path => FieldSet.ofPath(...path.split('.').map(member => `f:${member}`)))
    .reduce((all, path) => all.union(path), FieldSet.empty);
  return { name, operation: 'Update', apiVersion: 'v1', subresource: '', time: undefined, fields };
}

const before = { spec: { a: 1, b: 2, c: 3 }, status: { s: 1 } };
const after = { spec: { a: 9, c: 3, d: 4 }, status: { s: 2 } };
const change = compareValues(type, before, after);

const reaches: [string, boolean, string, boolean][] = [
  ['', false, 'f:spec', true],
  ['', false, 'f:status', true],
  ['', true, 'f:spec', true],
  ['', true, 'f:data', true],
  ['', true, 'f:metadata', true],
  ['', true, 'f:status', false],
  ['status', true, 'f:status', true],
  ['status', true, 'f:metadata', true],
  ['status', true, 'f:spec', false],
  ['approval', true, 'f:status', true],
  ['approval', true, 'f:spec', false],
];

test.each(reaches)('by %j with status apart %j reaches %s: %j', (subresource, statusApart, step, want) => {
  expect(reachOf(subresource, statusApart)(step)).toBe(want);
});

test('compares only what a request can change', () => {
  const main = compareWithin(reachOf('', true), type, before, after);
  expect(main.modified.print()).toEqual({ 'f:spec': { 'f:a': {} } });
  const status = compareWithin(reachOf('status', true), type, before, after);
  expect([status.added.print(), status.removed.print()]).toEqual([{}, {}]);
  expect(status.modified.print()).toEqual({ 'f:status': { 'f:s': {} } });
});

const conflicts: [string, Manager, unknown][] = [
  ['a field that changes', owner('x', 'spec.a'), { 'f:spec': { 'f:a': {} } }],
  ['a field that comes', owner('x', 'spec.d'), { 'f:spec': { 'f:d': {} } }],
  ['only the fields that change', owner('x', 'spec.a', 'spec.c'), { 'f:spec': { 'f:a': {} } }],
];

test.each(conflicts)('conflicts about %s', (_name, manager, want) => {
  const found = conflictsOf([manager], 'nobody', change);
  expect(found.map(({ fields }) => fields.print())).toEqual([want]);
});

const peaceful: [string, Manager][] = [
  ['a field that stays', owner('x', 'spec.c')],
  ['a field that goes', owner('x', 'spec.b')],
  ['a field that is not there', owner('x', 'spec.z')],
  ['an object whose content changes', owner('x', 'spec')],
];

test.each(peaceful)('does not conflict about %s', (_name, manager) => {
  expect(conflictsOf([manager], 'nobody', change)).toEqual([]);
});

test('nobody conflicts with himself', () => {
  const self = owner('x', 'spec.a');
  expect(conflictsOf([self], managerId(self), change)).toEqual([]);
});

test('takes changed, new and lost fields away from others', () => {
  const owners = [owner('x', 'spec.a', 'spec.c'), owner('y', 'spec.b', 'spec.c'), owner('z', 'spec.d', 'spec')];
  const left = disown(owners, 'nobody', change).map(({ name, fields }) => [name, fields.print()]);
  expect(left).toEqual([
    ['x', { 'f:spec': { 'f:c': {} } }],
    ['y', { 'f:spec': { 'f:c': {} } }],
    ['z', { 'f:spec': {} }],
  ]);
});

test('drops who has nothing left', () => {
  expect(disown([owner('x', 'spec.a'), owner('y', 'spec.b')], 'nobody', change)).toEqual([]);
});

test('leaves the one who changes alone', () => {
  const self = owner('x', 'spec.a');
  expect(disown([self], managerId(self), change)).toEqual([self]);
});

const identity = ['apiVersion', 'kind', 'metadata'];
const served = [
  'name',
  'namespace',
  'creationTimestamp',
  'selfLink',
  'uid',
  'generation',
  'managedFields',
  'resourceVersion',
];

test.each([...identity, ...served.map(name => `metadata.${name}`)])('lets nobody own %s', path => {
  expect(ownable(owner('x', path).fields).isEmpty).toBe(true);
});

test.each(['metadata.labels', 'metadata.labels.a', 'metadata.finalizers', 'spec', 'data.name', 'kind.deeper'])(
  'lets somebody own %s',
  path => {
    expect(ownable(owner('x', path).fields).isEmpty).toBe(false);
  },
);
