import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { now } from '../../../../test/kit/kind-checks.ts';
import type { Kind } from '../kind.ts';
import type { StoredObject } from '../ports.ts';
import { compareVersions, customKinds } from './custom.ts';

const version = (name: string, more: Record<string, unknown> = {}) => ({
  name,
  served: true,
  storage: name === 'v1',
  schema: { openAPIV3Schema: { type: 'object' } },
  ...more,
});
const crd = (versions: unknown[], spec: Record<string, unknown> = {}): StoredObject => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'things.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'things', kind: 'Thing', singular: 'thing', shortNames: ['th'], categories: ['all'] },
    versions,
    ...spec,
  },
});
const only = (more: Record<string, unknown> = {}): Kind => customKinds(crd([version('v1', more)]))[0] as Kind;
const thing = (more: Record<string, unknown> = {}, metadata: object = {}): StoredObject => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a', ...metadata },
  ...more,
});

test('creates a kind from a CRD', () => {
  expect(only()).toMatchObject({
    group: 'example.com',
    version: 'v1',
    plural: 'things',
    kind: 'Thing',
    namespaced: true,
    singular: 'thing',
    shortNames: ['th'],
    categories: ['all'],
    storageKey: 'things.example.com',
    custom: true,
    stores: true,
    countsGenerations: true,
    updatesUnconditionally: false,
    subresources: [],
    schema: { type: 'object' },
  });
  expect(customKinds(crd([version('v1')], { scope: 'Cluster' }))[0]?.namespaced).toBe(false);
});

test('makes a kind for each version that is served', () => {
  const kinds = customKinds(crd([version('v1'), version('v2'), version('v3', { served: false })]));
  expect(kinds.map(kind => [kind.version, kind.stores])).toEqual([
    ['v2', false],
    ['v1', true],
  ]);
  expect(customKinds(crd([]))).toEqual([]);
});

test('translates between versions by name alone', () => {
  const [newer] = customKinds(crd([version('v1'), version('v2')]));
  const sent = { ...thing({ spec: { x: 1 } }), apiVersion: 'example.com/v2' };
  const stored = newer?.toStored(sent) as StoredObject;
  expect(stored.apiVersion).toBe('example.com/v1');
  expect(newer?.fromStored(stored)).toEqual(sent);
});

const orders: string[][] = [
  ['v10', 'v2', 'v1'],
  ['v1', 'v2beta1', 'v1beta1', 'v1alpha1'],
  ['v1beta2', 'v1beta1'],
  ['v1', 'a', 'b'],
  ['v1alpha1', 'v1gamma1'],
];
test.each(orders)('prefers %s to what follows', (...order) => {
  expect(order.toReversed().sort(compareVersions)).toEqual(order);
});

test('orders any versions in one way', () => {
  const name = fc.oneof(fc.stringMatching(/^v[1-9](alpha[1-9]|beta[1-9])?$/), fc.stringMatching(/^[a-z]{1,3}$/));
  fc.assert(
    fc.property(fc.array(name, { maxLength: 8 }), names => {
      expect(names.toSorted(compareVersions)).toEqual(names.toReversed().sort(compareVersions));
    }),
    { numRuns: 500 },
  );
});

const withStatus = only({ subresources: { status: {} } });
test('keeps a status of its own out of a new object, where there is a subresource for it', () => {
  const context = { user: { username: 'u', groups: [] }, now, store: {} as never };
  expect(withStatus.prepareCreate(thing({ status: { x: 1 } }), context)).toEqual(thing());
  expect(only().prepareCreate(thing({ status: { x: 1 } }), context)).toEqual(thing({ status: { x: 1 } }));
});

test('the status subresource changes only the status', () => {
  const old = thing({ spec: { x: 1 }, status: { y: 1 } }, { labels: { l: '1' }, resourceVersion: '5' });
  const next = thing({ spec: { x: 2 }, status: { y: 2 } }, { labels: { l: '2' }, resourceVersion: '6' });
  expect(withStatus.prepareUpdate(next, old, 'status')).toEqual(
    thing({ spec: { x: 1 }, status: { y: 2 } }, { labels: { l: '1' }, resourceVersion: '6' }),
  );
  expect(withStatus.prepareUpdate(next, old, '')).toEqual({ ...next, status: { y: 1 } });
  expect(withStatus.prepareUpdate(next, thing(), '')).not.toHaveProperty('status');
  expect(withStatus.prepareUpdate(thing(), old, 'status')).not.toHaveProperty('status');
  expect(only().prepareUpdate(next, old, '')).toBe(next);
});

const column = (type: string, jsonPath: string, more: object = {}) => ({ name: 'X', type, jsonPath, ...more });
const content = {
  spec: { size: 3, ratio: 0.5, on: true, name: 'n', when: '2026-01-02T03:03:05Z', list: ['a', 'b'], map: { k: 'v' } },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
};
const cells: [string, ReturnType<typeof column>, unknown][] = [
  ['a number', column('integer', '.spec.size'), 3],
  ['a fraction', column('number', '.spec.ratio'), 0.5],
  ['a flag', column('boolean', '.spec.on'), true],
  ['a text', column('string', '.spec.name'), 'n'],
  ['a number as a text', column('string', '.spec.size'), '3'],
  ['a map as a text', column('string', '.spec.map'), '{"k":"v"}'],
  ['a list as a text', column('string', '.spec.list'), '["a","b"]'],
  ['an age', column('date', '.spec.when'), '60s'],
  ['a filter', column('string', '.status.conditions[?(@.type=="Ready")].status'), 'True'],
  ['a filter that finds nothing', column('string', '.status.conditions[?(@.type=="Other")].status'), null],
  ['nothing', column('string', '.spec.none'), null],
  ['a text where a number should be', column('integer', '.spec.name'), null],
  ['a text where a flag should be', column('boolean', '.spec.name'), null],
  ['a number where a time should be', column('date', '.spec.size'), '<invalid>'],
  ['a text where a time should be', column('date', '.spec.name'), '<unknown>'],
  ['a path that is none', column('string', '.spec['), null],
];
test.each(cells)('shows %s', (_, definition, wanted) => {
  const kind = only({ additionalPrinterColumns: [definition] });
  expect(kind.columns[1]?.cell(thing(content), now)).toEqual(wanted);
});

test('describes its columns', () => {
  const [name, first, second] = only({
    additionalPrinterColumns: [
      column('integer', '.a'),
      column('string', '.b', { priority: 1, format: 'byte', description: 'd' }),
    ],
  }).columns;
  expect(name).toMatchObject({ name: 'Name', format: 'name' });
  expect(first).toMatchObject({
    name: 'X',
    type: 'integer',
    priority: 0,
    format: '',
    description: 'Custom resource definition column (in JSONPath format): .a',
  });
  expect(second).toMatchObject({ type: 'string', priority: 1, format: 'byte', description: 'd' });
});

test('shows the age if there are no printer columns', () => {
  expect(only().columns.map(({ name, type }) => [name, type])).toEqual([
    ['Name', 'string'],
    ['Age', 'date'],
  ]);
});
