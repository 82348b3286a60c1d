import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { refusal } from '../../../test/kit/sandbox.ts';
import type { StoredObject } from './ports.ts';
import { Store, type Written } from './store.ts';

const object = (name: string, namespace = 'n', data = ''): StoredObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace },
  data: { k: data },
});
const names = (objects: readonly StoredObject[]): string[] =>
  objects.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);

test('counts one revision for each write to any storage key', () => {
  const store = new Store({ startRevision: 7 });
  expect(store.revision).toBe(7);
  expect(store.write('a', object('x')).metadata.resourceVersion).toBe('8');
  expect(store.write('b', object('x')).metadata.resourceVersion).toBe('9');
  store.remove('a', { namespace: 'n', name: 'x' });
  expect(store.revision).toBe(10);
});

test('finds, replaces and forgets objects by storageKey, namespace and name', () => {
  const store = new Store();
  store.write('a', object('x', 'n', '1'));
  store.write('a', object('x', 'm', '2'));
  store.write('a', object('x', 'n', '3'));
  expect(store.get('a', { namespace: 'n', name: 'x' })?.['data']).toEqual({ k: '3' });
  expect(store.get('a', { namespace: 'm', name: 'x' })?.['data']).toEqual({ k: '2' });
  expect(store.get('a', { namespace: 'n', name: 'y' })).toBeUndefined();
  expect(store.get('b', { namespace: 'n', name: 'x' })).toBeUndefined();
  store.remove('a', { namespace: 'n', name: 'x' });
  expect(store.get('a', { namespace: 'n', name: 'x' })).toBeUndefined();
});

test('keeps objects without a namespace', () => {
  const store = new Store();
  store.write('nodes', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'x' } });
  expect(store.get('nodes', { namespace: '', name: 'x' })?.kind).toBe('Node');
  expect(store.list('nodes')).toHaveLength(1);
});

test('ignores the removal of a missing object', () => {
  const store = new Store();
  store.remove('a', { namespace: 'n', name: 'x' });
  expect(store.revision).toBe(1);
});

test('lists in the order of etcd', () => {
  const store = new Store();
  // A dash comes before the slash between namespace and name.
  for (const [namespace, name] of [
    ['a', 'z'],
    ['a-b', 'x'],
    ['a', 'y'],
    ['b', 'A'],
    ['a', 'y.z'],
  ] as const)
    store.write('a', object(name, namespace));
  expect(names(store.list('a'))).toEqual(['a-b/x', 'a/y', 'a/y.z', 'a/z', 'b/A']);
  expect(names(store.list('a', 'a'))).toEqual(['a/y', 'a/y.z', 'a/z']);
  expect(store.list('a', 'none')).toEqual([]);
});

test('freezes what it keeps, to the bottom', () => {
  const store = new Store();
  const sent = object('x');
  const stored = store.write('a', sent);
  expect(() => Object.assign(stored.metadata, { name: 'y' })).toThrow(TypeError);
  expect(() => Object.assign(stored['data'] as object, { k: 'y' })).toThrow(TypeError);
  expect(sent.metadata.resourceVersion).toBeUndefined();
});

test('returns every write after a revision', () => {
  const store = new Store();
  store.write('a', object('x', 'n', '1'));
  const since = store.revision;
  store.write('a', object('x', 'n', '2'));
  store.write('b', object('other'));
  store.write('a', object('y'));
  store.remove('a', { namespace: 'n', name: 'x' });
  const writes = store.writesAfter('a', since) ?? [];
  expect(writes.map(({ type, revision }) => [type, revision])).toEqual([
    ['MODIFIED', 3],
    ['ADDED', 5],
    ['DELETED', 6],
  ]);
  expect(writes[0]?.old?.['data']).toEqual({ k: '1' });
  expect(writes[1]?.old).toBeUndefined();
  expect(writes[2]?.object).toMatchObject({ metadata: { resourceVersion: '6' }, data: { k: '2' } });
  expect(store.writesAfter('a', store.revision)).toEqual([]);
  expect(store.writesAfter('a', 1000)).toEqual([]);
});

test('drops the oldest writes and reports it', () => {
  const store = new Store({ historyLimit: 2 });
  for (let count = 0; count < 10; count += 1) store.write('a', object('x', 'n', String(count)));
  const oldest = store.oldestRevision('a');
  expect(oldest).toBeGreaterThan(1);
  expect(store.writesAfter('a', oldest)?.length).toBeGreaterThanOrEqual(2);
  expect(store.writesAfter('a', oldest - 1)).toBeUndefined();
  expect(refusal(() => store.listAt('a', oldest - 1))).toEqual([
    410,
    'The resourceVersion for the provided list is too old.',
  ]);
});

test('drops the whole history on compaction', () => {
  const store = new Store();
  store.write('a', object('x'));
  store.write('a', object('y'));
  store.compact();
  expect(store.writesAfter('a', 2)).toBeUndefined();
  expect(store.writesAfter('a', 3)).toEqual([]);
  expect(names(store.list('a'))).toEqual(['n/x', 'n/y']);
});

test('notifies listeners of one and of all storage keys until they stop', () => {
  const store = new Store();
  const [own, all]: [string[], string[]] = [[], []];
  const stopOwn = store.listen('a', ({ type, object: { metadata } }) => own.push(`${type} ${metadata.name}`));
  const stopAll = store.listenAll((storageKey, { type }) => all.push(`${storageKey} ${type}`));
  store.write('a', object('x'));
  store.write('b', object('y'));
  stopOwn();
  store.remove('a', { namespace: 'n', name: 'x' });
  stopAll();
  store.write('a', object('z'));
  expect(own).toEqual(['ADDED x']);
  expect(all).toEqual(['a ADDED', 'b ADDED', 'a DELETED']);
});

type Act = { name: string; namespace: string; remove: boolean };
const acts = fc.array(
  fc.record({ name: fc.constantFrom('a', 'b', 'c'), namespace: fc.constantFrom('m', 'n'), remove: fc.boolean() }),
  { maxLength: 30 },
);

function run(store: Store, list: readonly Act[], after: () => void): void {
  for (const [index, { name, namespace, remove }] of list.entries()) {
    if (remove) store.remove('s', { name, namespace });
    else store.write('s', object(name, namespace, String(index)));
    after();
  }
}

test('shows every earlier state as it was', () => {
  fc.assert(
    fc.property(acts, list => {
      const store = new Store();
      const states = new Map<number, readonly StoredObject[]>([[store.revision, []]]);
      run(store, list, () => states.set(store.revision, store.list('s')));
      for (const [revision, state] of states) {
        expect(store.listAt('s', revision)).toEqual(state);
        expect(store.listAt('s', revision, 'm')).toEqual(state.filter(item => item.metadata.namespace === 'm'));
      }
    }),
    { numRuns: 300 },
  );
});

test('the writes after a revision lead from the state then to the state now', () => {
  fc.assert(
    fc.property(acts, fc.nat({ max: 30 }), (list, cut) => {
      const store = new Store();
      run(store, list.slice(0, cut), () => undefined);
      const start = new Map(store.list('s').map(item => [names([item])[0], item]));
      const { revision } = store;
      run(store, list.slice(cut), () => undefined);
      for (const written of store.writesAfter('s', revision) ?? []) apply(start, written);
      expect([...start.values()].sort(byPath)).toEqual(store.list('s'));
    }),
    { numRuns: 300 },
  );
});

function apply(state: Map<string | undefined, StoredObject>, { type, object: changed }: Written): void {
  if (type === 'DELETED') state.delete(names([changed])[0]);
  else state.set(names([changed])[0], changed);
}

function byPath(one: StoredObject, other: StoredObject): number {
  return (names([one])[0] ?? '') < (names([other])[0] ?? '') ? -1 : 1;
}
