import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { quiet, startLocalApi } from '../../../../test/kit/local-api.ts';
import { apiVersionOf, type OwnerReference, type Resource } from '../../../kube/resource.ts';
import {
  clusterRoles,
  configMaps,
  customResourceDefinitions,
  events,
  namespaces,
  secrets,
} from '../../../kube/resources.ts';
import type { LocalApi, LocalDeleteOptions, StoredObject } from '../ports.ts';
import { createGarbageCollector } from './garbage-collector.ts';

const start = () => startLocalApi([createGarbageCollector()]);

type Reference = Partial<OwnerReference>;
const refTo = (owner: StoredObject, more: Reference = {}): Reference => ({
  apiVersion: owner.apiVersion,
  kind: owner.kind,
  name: owner.metadata.name ?? '',
  uid: owner.metadata.uid ?? '',
  ...more,
});
const make = (
  api: LocalApi,
  name: string,
  ownerReferences: Reference[] = [],
  more: { resource?: Resource; finalizers?: string[]; namespace?: string } = {},
): StoredObject => {
  const { resource = configMaps, finalizers = [], namespace = 'default' } = more;
  return api.create(resource, {
    apiVersion: apiVersionOf(resource),
    kind: resource.kind,
    metadata: {
      ...(resource.namespaced ? { namespace } : {}),
      name,
      finalizers,
      ownerReferences: ownerReferences as OwnerReference[],
    },
  });
};
const find = (api: LocalApi, name: string, resource: Resource = configMaps) =>
  api.get(resource, { namespace: resource.namespaced ? 'default' : '', name });
const drop = (api: LocalApi, name: string, propagationPolicy?: LocalDeleteOptions['propagationPolicy']) =>
  api.delete(configMaps, { namespace: 'default', name }, propagationPolicy === undefined ? {} : { propagationPolicy });
const names = (api: LocalApi) => api.list(configMaps, 'default').map(({ metadata }) => metadata.name);
const ownersOf = (object: StoredObject | undefined) => object?.metadata.ownerReferences?.map(owner => owner.name);

test('background: the owner is deleted at once, then its dependents at any depth', async () => {
  await using api = await start();
  const a = make(api, 'a');
  const b = make(api, 'b', [refTo(a)]);
  make(api, 'c', [refTo(b)]);
  make(api, 'other');
  await quiet(api);
  expect(names(api)).toEqual(['a', 'b', 'c', 'other']);
  drop(api, 'a', 'Background');
  expect(names(api)).toEqual(['b', 'c', 'other']);
  await quiet(api);
  expect(names(api)).toEqual(['other']);
});

test('dependents of other kinds are deleted, too', async () => {
  await using api = await start();
  const a = make(api, 'a');
  make(api, 's', [refTo(a)], { resource: secrets });
  drop(api, 'a');
  await quiet(api);
  expect(find(api, 's', secrets)).toBeUndefined();
});

test('an object with an owner that never existed is deleted', async () => {
  await using api = await start();
  make(api, 'b', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'ghost' }]);
  await quiet(api);
  expect(names(api)).toEqual([]);
});

test('an object with a recreated owner is deleted', async () => {
  await using api = await start();
  const a = make(api, 'a');
  make(api, 'b', [refTo(a, { uid: 'earlier' })]);
  await quiet(api);
  expect(names(api)).toEqual(['a']);
});

test('an object with an owner of an unknown kind is kept', async () => {
  await using api = await start();
  make(api, 'b', [{ apiVersion: 'example.com/v1', kind: 'Thing', name: 'x', uid: 'x' }]);
  await quiet(api);
  expect(names(api)).toEqual(['b']);
});

test('an owner in another namespace does not count', async () => {
  await using api = await start();
  api.create(namespaces, { metadata: { name: 'far' } });
  const owner = make(api, 'a', [], { namespace: 'far' });
  make(api, 'b', [refTo(owner)]);
  await quiet(api);
  expect(names(api)).toEqual([]);
});

test('an object without namespace is never deleted for an owner that has one', async () => {
  await using api = await start();
  const a = make(api, 'a');
  make(api, 'r', [refTo(a)], { resource: clusterRoles });
  drop(api, 'a');
  await quiet(api);
  expect(find(api, 'r', clusterRoles)).toBeDefined();
});

test('an object may be owned by one without namespace', async () => {
  await using api = await start();
  const role = make(api, 'r', [], { resource: clusterRoles });
  make(api, 'b', [refTo(role)]);
  await quiet(api);
  expect(names(api)).toEqual(['b']);
  api.delete(clusterRoles, { namespace: '', name: 'r' });
  await quiet(api);
  expect(names(api)).toEqual([]);
});

test('with one owner left the object stays and forgets the other', async () => {
  await using api = await start();
  const [a, b] = [make(api, 'a'), make(api, 'b')];
  make(api, 'c', [refTo(a), refTo(b)]);
  drop(api, 'a');
  await quiet(api);
  expect(ownersOf(find(api, 'c'))).toEqual(['b']);
  drop(api, 'b');
  await quiet(api);
  expect(names(api)).toEqual([]);
});

test('an object is deleted when it gets a missing owner', async () => {
  await using api = await start();
  const c = make(api, 'c');
  await quiet(api);
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'ghost' }];
  api.replace(configMaps, { ...c, metadata: { ...c.metadata, ownerReferences } });
  await quiet(api);
  expect(names(api)).toEqual([]);
});

test('an object that has left its owner stays', async () => {
  await using api = await start();
  const a = make(api, 'a');
  const b = make(api, 'b', [refTo(a)]);
  api.replace(configMaps, { ...b, metadata: { ...b.metadata, ownerReferences: [] } });
  drop(api, 'a');
  await quiet(api);
  expect(names(api)).toEqual(['b']);
});

test('a dependent with a finalizer waits for it', async () => {
  await using api = await start();
  const a = make(api, 'a');
  make(api, 'b', [refTo(a)], { finalizers: ['example.com/wait'] });
  drop(api, 'a');
  await quiet(api);
  const b = find(api, 'b');
  expect(b?.metadata.deletionTimestamp).toBeDefined();
  if (b !== undefined) api.replace(configMaps, { ...b, metadata: { ...b.metadata, finalizers: [] } });
  await quiet(api);
  expect(names(api)).toEqual([]);
});

test('orphan: dependents lose their owner and stay', async () => {
  await using api = await start();
  const [a, z] = [make(api, 'a'), make(api, 'z')];
  make(api, 'b', [refTo(a)]);
  make(api, 'c', [refTo(a), refTo(z)]);
  drop(api, 'a', 'Orphan');
  await quiet(api);
  expect(names(api)).toEqual(['b', 'c', 'z']);
  expect(ownersOf(find(api, 'b'))).toBeUndefined();
  expect(ownersOf(find(api, 'c'))).toEqual(['z']);
});

test('orphan: an owner without dependents is deleted', async () => {
  await using api = await start();
  make(api, 'a');
  drop(api, 'a', 'Orphan');
  expect(names(api)).toEqual(['a']);
  await quiet(api);
  expect(names(api)).toEqual([]);
});

test('a dependent with the orphan finalizer orphans its own dependents', async () => {
  await using api = await start();
  const a = make(api, 'a');
  const b = make(api, 'b', [refTo(a)], { finalizers: ['orphan'] });
  make(api, 'c', [refTo(b)]);
  drop(api, 'a');
  await quiet(api);
  expect(names(api)).toEqual(['c']);
  expect(ownersOf(find(api, 'c'))).toBeUndefined();
});

test('objects from before the start are collected, too', async () => {
  await using api = await startLocalApi([]);
  const a = make(api, 'a');
  make(api, 'b', [refTo(a)]);
  make(api, 'lost', [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'ghost' }]);
  const collector = createGarbageCollector();
  collector.start(api);
  await quiet(api);
  expect(names(api)).toEqual(['a', 'b']);
  drop(api, 'a');
  await quiet(api);
  collector.stop();
  expect(names(api)).toEqual([]);
});

test('events are left alone', async () => {
  await using api = await start();
  const object = {
    metadata: {
      namespace: 'default',
      name: 'e',
      ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'ghost', uid: 'ghost' }],
    },
    involvedObject: { namespace: 'default', name: 'x', kind: 'ConfigMap' },
  };
  api.create(events, object);
  await quiet(api);
  expect(find(api, 'e', events)).toBeDefined();
});

test('custom resources own and are owned', async () => {
  await using api = await start();
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  api.create(customResourceDefinitions, {
    metadata: { name: 'things.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Namespaced',
      names: { plural: 'things', singular: 'thing', kind: 'Thing', listKind: 'ThingList' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  } as never);
  await quiet(api);
  const things = { group: 'example.com', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
  const a = make(api, 'a', [], { resource: things });
  const b = make(api, 'b', [refTo(a)]);
  make(api, 'c', [refTo(b)], { resource: things });
  api.delete(things, { namespace: 'default', name: 'a' });
  await quiet(api);
  expect(names(api)).toEqual([]);
  expect(find(api, 'c', things)).toBeUndefined();
});

test('in any forest an object stays exactly while it has an existing owner or never had one', async () => {
  const plan = fc.record({
    owners: fc.array(fc.array(fc.nat(30), { maxLength: 2 }), { minLength: 2, maxLength: 12 }),
    dropped: fc.uniqueArray(fc.nat(11), { maxLength: 4 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ owners, dropped }) => {
      await using api = await start();
      const made: StoredObject[] = [];
      // Owners come before their dependents, so there are no circles.
      const wanted = owners.map((list, index) => [...new Set(list.filter(owner => owner < index))]);
      for (const [index, list] of wanted.entries()) {
        made.push(
          make(
            api,
            `o${index}`,
            list.map(owner => refTo(made[owner] as StoredObject)),
          ),
        );
      }
      await quiet(api);
      for (const index of dropped.filter(at => at < made.length)) {
        if (find(api, `o${index}`) !== undefined) drop(api, `o${index}`);
      }
      await quiet(api);
      const stays: boolean[] = [];
      for (const [index, list] of wanted.entries()) {
        stays.push(!dropped.includes(index) && (list.length === 0 || list.some(owner => stays[owner])));
      }
      expect(made.map((_, index) => find(api, `o${index}`) !== undefined)).toEqual(stays);
    }),
    { numRuns: 60 },
  );
});
