import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { changedMetadataCauses, labelCauses, newMetadataCauses, readMetadata, sameContent } from './metadata.ts';
import type { StoredObject } from './ports.ts';

const rules = { nameRule: 'subdomain', group: '', custom: false } as const;
const customRules = { ...rules, group: 'example.com', custom: true };
const owner = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' };

const newOnes: [string, StoredObject['metadata'], string[]][] = [
  ['a name', { name: 'a' }, []],
  ['a generated name', { name: 'a-x', generateName: 'a-' }, []],
  ['no name', {}, ['metadata.name: Required value: name or generateName is required']],
  [
    'a bad start of a name',
    { name: 'a', generateName: 'Ab-' },
    ['metadata.generateName: Invalid value: "Ab-": a lower'],
  ],
  ['a bad label key', { name: 'a', labels: { '-': '1' } }, ['metadata.labels: Invalid value: "-": name part must']],
  ['a bad label value', { name: 'a', labels: { a: '-' } }, ['metadata.labels: Invalid value: "-": a valid label must']],
  ['an annotation in capitals', { name: 'a', annotations: { 'A.B/c': 'x' } }, []],
  ['any text in an annotation', { name: 'a', annotations: { a: 'x y\nz' } }, []],
  [
    'a bad annotation',
    { name: 'a', annotations: { '/x': 'y' } },
    ['metadata.annotations: Invalid value: "/x": prefix part must be non-empty'],
  ],
  [
    'too many annotations',
    { name: 'a', annotations: { a: 'x'.repeat(256 * 1024) } },
    ['metadata.annotations: Too long: must have at most 262144 bytes'],
  ],
  ['an owner', { name: 'a', ownerReferences: [owner] }, []],
  [
    'an owner without anything',
    { name: 'a', ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] },
    [
      'metadata.ownerReferences.apiVersion: Invalid value: "": version must not be empty',
      'metadata.ownerReferences.kind: Invalid value: "": kind must not be empty',
      'metadata.ownerReferences.name: Invalid value: "": name must not be empty',
      'metadata.ownerReferences.uid: Invalid value: "": uid must not be empty',
    ],
  ],
  [
    'two controllers',
    {
      name: 'a',
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, name: 'm', controller: true },
      ],
    },
    ['metadata.ownerReferences: Invalid value: '],
  ],
  [
    'one controller among owners',
    {
      name: 'a',
      ownerReferences: [
        { ...owner, controller: true },
        { ...owner, name: 'm' },
      ],
    },
    [],
  ],
  ['finalizers with a domain', { name: 'a', finalizers: ['example.com/a', 'kubernetes'] }, []],
  [
    'a finalizer that is no name',
    { name: 'a', finalizers: ['x y'] },
    ['metadata.finalizers: Invalid value: "x y": name'],
  ],
  [
    'a finalizer without a domain',
    { name: 'a', finalizers: ['example.com/a', 'b'] },
    ['metadata.finalizers[1]: Invalid value: "b": name is neither a standard finalizer name nor is it fully qualified'],
  ],
];
test.each(newOnes)('judges new metadata with %s', (_, metadata, wanted) => {
  expect(texts(newMetadataCauses(metadata, rules))).toEqual(wanted.map(text => expect.stringContaining(text)));
});

test('takes any finalizer on custom resources and their definitions', () => {
  const metadata = { name: 'a', finalizers: ['abc'] };
  expect(newMetadataCauses(metadata, customRules)).toEqual([]);
  expect(newMetadataCauses(metadata, { ...rules, group: 'apiextensions.k8s.io' })).toEqual([]);
});

test('names the two owners that both want to be the controller', () => {
  const owners = [
    { ...owner, name: 'one', controller: true },
    { ...owner, name: 'two', controller: true },
  ];
  const [found] = newMetadataCauses({ name: 'a', ownerReferences: owners }, rules);
  expect(found?.message).toContain('Found "true" in references for one and two');
});

const old = { name: 'a', namespace: 'n', uid: 'u', creationTimestamp: 't', resourceVersion: '5' };
const changes: [string, Partial<StoredObject['metadata']>, string[]][] = [
  ['nothing', {}, []],
  ['labels', { labels: { a: 'b' } }, []],
  ['labels that are bad', { labels: { a: '-' } }, ['metadata.labels: Invalid value: "-": a valid label']],
  ['the name', { name: 'b' }, ['metadata.name: Invalid value: "b": field is immutable']],
  ['the namespace', { namespace: 'm' }, ['metadata.namespace: Invalid value: "m": field is immutable']],
  ['the uid', { uid: 'v' }, ['metadata.uid: Invalid value: "v": field is immutable']],
  ['the time', { creationTimestamp: 's' }, ['metadata.creationTimestamp: Invalid value: "s": field is immutable']],
  ['the deletion', { deletionTimestamp: 's' }, ['metadata.deletionTimestamp: Invalid value: "s": field is immutable']],
  ['a new finalizer', { finalizers: ['a.b/c'] }, []],
];
test.each(changes)('judges a change of %s', (_, change, wanted) => {
  const causes = changedMetadataCauses({ ...old, ...change }, old, rules);
  expect(texts(causes)).toEqual(wanted.map(text => expect.stringContaining(text)));
});

test('wants a version for a change', () => {
  const { resourceVersion: _, ...rest } = old;
  expect(texts(changedMetadataCauses(rest, old, rules))).toEqual([
    'metadata.resourceVersion: Invalid value: "": must be specified for an update',
  ]);
});

test('only allows removing finalizers of a terminating object', () => {
  const going = { ...old, deletionTimestamp: 'now', finalizers: ['a.b/c', 'a.b/d'] };
  expect(changedMetadataCauses({ ...going, finalizers: ['a.b/c'] }, going, rules)).toEqual([]);
  const more = changedMetadataCauses({ ...going, finalizers: ['a.b/c', 'a.b/x', 'a.b/y'] }, going, rules);
  expect(texts(more)).toEqual([
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a.b/x", "a.b/y"}',
  ]);
});

const read: [string, unknown, unknown][] = [
  ['keeps what the server knows', { name: 'a', labels: { x: 'y' } }, { name: 'a', labels: { x: 'y' } }],
  ['drops what it does not know', { name: 'a', selfLink: 'x', clusterName: 'y' }, { name: 'a' }],
  ['drops nothing said', { name: 'a', labels: {}, finalizers: [], namespace: '', annotations: null }, { name: 'a' }],
  ['drops owners of fields', { name: 'a', managedFields: [{}] }, { name: 'a' }],
  ['rejects a number as a name', { name: 1 }, undefined],
  ['rejects a label that is no text', { name: 'a', labels: { x: 1 } }, undefined],
  ['rejects labels in a list', { name: 'a', labels: ['x'] }, undefined],
  ['rejects a generation that is a text', { name: 'a', generation: '1' }, undefined],
  ['rejects owners that are texts', { name: 'a', ownerReferences: ['x'] }, undefined],
  ['rejects finalizers that are no texts', { name: 'a', finalizers: [1] }, undefined],
  ['rejects a list', [], undefined],
  ['rejects a text', 'a', undefined],
];
test.each(read)('%s', (_, value, wanted) => expect(readMetadata(value)).toEqual(wanted));

test('is idempotent', () => {
  fc.assert(
    fc.property(fc.object({ key: fc.constantFrom('name', 'labels', 'finalizers', 'generation', 'x') }), value => {
      const once = readMetadata(value);
      if (once !== undefined) expect(readMetadata(once)).toEqual(once);
    }),
    { numRuns: 2000 },
  );
});

test('sees labels of a selector as those of metadata', () => {
  expect(labelCauses('spec.x', { a: 'b' })).toEqual([]);
  expect(texts(labelCauses('spec.x', { '-': '-' }))).toEqual([
    expect.stringMatching(/^spec\.x: Invalid value: "-": name part/),
    expect.stringMatching(/^spec\.x: Invalid value: "-": a valid label/),
  ]);
});

test('compares objects without the version', () => {
  const one: StoredObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', resourceVersion: '1' } };
  const other = { ...one, metadata: { ...one.metadata, resourceVersion: '2' } };
  expect(sameContent(one, other)).toBe(true);
  expect(sameContent(one, { ...other, data: { k: 'v' } })).toBe(false);
  expect(sameContent(one, { ...other, metadata: { ...other.metadata, labels: { x: 'y' } } })).toBe(false);
});

function texts(causes: { field?: string; message?: string }[]): string[] {
  return causes.map(({ field, message }) => `${field}: ${message}`);
}
