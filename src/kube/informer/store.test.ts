import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { KubeResource } from '../resource.ts';
import { type Change, type Index, Store } from './store.ts';

interface Pod extends KubeResource {
  node?: string;
}

const pod = (key: string, version = '1', more: Partial<Pod> & { uid?: string } = {}): Pod => {
  const [namespace, name] = key.includes('/') ? key.split('/') : [undefined, key];
  const { uid = `uid of ${key}`, ...rest } = more;
  return {
    metadata: { name: name ?? '', ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion: version },
    ...rest,
  };
};
const byNode: Index<Pod> = ({ node }) => (node === undefined ? [] : [node]);
const storeOf = (...pods: Pod[]): Store<Pod> => {
  const store = new Store<Pod>();
  store.replaceAll(pods);
  return store;
};
const summary = (changes: Change<Pod>[]) =>
  changes.map(change => {
    const { name, resourceVersion } = change.object.metadata;
    const old = change.type === 'updated' ? `${change.old.metadata.resourceVersion}->` : '';
    return `${change.type} ${name} ${old}${resourceVersion}`;
  });

const puts: [name: string, before: Pod[], object: Pod, want: string[]][] = [
  ['adds what is new', [], pod('a/x'), ['added x 1']],
  ['updates with the old and the new object', [pod('a/x')], pod('a/x', '2'), ['updated x 1->2']],
  ['ignores the version it has', [pod('a/x')], pod('a/x'), []],
  ['takes a lower version too, since versions have no order', [pod('a/x', '2')], pod('a/x', '1'), ['updated x 2->1']],
  ['tells two lives apart', [pod('a/x')], pod('a/x', '2', { uid: 'other' }), ['deleted x 1', 'added x 2']],
  [
    'tells two lives apart even if the versions agree',
    [pod('x')],
    pod('x', '1', { uid: 'n' }),
    ['deleted x 1', 'added x 1'],
  ],
  ['keeps namespaces apart', [pod('a/x')], pod('b/x'), ['added x 1']],
  ['keeps objects without namespace apart', [pod('a/x')], pod('x'), ['added x 1']],
];
for (const [name, before, object, want] of puts) {
  test(name, () => {
    const store = storeOf(...before);
    expect(summary(store.put(object))).toEqual(want);
    expect(store.get({ namespace: object.metadata.namespace ?? '', name: object.metadata.name ?? '' })).toEqual(object);
  });
}

test('keeps the very object it has when the version is the same', () => {
  const first = pod('a/x');
  const store = storeOf(first);
  store.put(pod('a/x'));
  expect(store.get({ namespace: 'a', name: 'x' })).toBe(first);
});

test('takes objects without version as changed', () => {
  const store = new Store<KubeResource>();
  store.put({ metadata: { name: 'x' } });
  expect(store.put({ metadata: { name: 'x' } })).toMatchObject([{ type: 'updated' }]);
});

test('reports a removal with the last state given', () => {
  const store = storeOf(pod('a/x'));
  expect(summary(store.remove(pod('a/x', '7')))).toEqual(['deleted x 7']);
  expect(store.size).toBe(0);
});

test('removing an unknown object is no change', () => {
  expect(storeOf(pod('a/x')).remove(pod('a/y'))).toEqual([]);
});

const replacements: [name: string, before: Pod[], after: Pod[], want: string[]][] = [
  ['finds what is new', [], [pod('x'), pod('y')], ['added x 1', 'added y 1']],
  ['finds what is gone', [pod('x'), pod('y')], [pod('y')], ['deleted x 1']],
  ['finds what changed', [pod('x'), pod('y')], [pod('x'), pod('y', '3')], ['updated y 1->3']],
  ['finds nothing in the same content', [pod('x'), pod('y')], [pod('y'), pod('x')], []],
  ['empties itself', [pod('x')], [], ['deleted x 1']],
  ['tells what is gone first', [pod('x')], [pod('y')], ['deleted x 1', 'added y 1']],
  ['sees a new life', [pod('x')], [pod('x', '2', { uid: 'n' })], ['deleted x 1', 'added x 2']],
];
for (const [name, before, after, want] of replacements) {
  test(`replacing all ${name}`, () => {
    const store = storeOf(...before);
    expect(summary(store.replaceAll(after))).toEqual(want);
    expect(new Set(store.list())).toEqual(new Set(after));
    expect(store.size).toBe(after.length);
  });
}

test('finds objects by a named index', () => {
  const store = new Store<Pod>();
  store.addIndex('node', byNode);
  store.replaceAll([
    pod('a', '1', { node: 'n1' }),
    pod('b', '1', { node: 'n1' }),
    pod('c', '1', { node: 'n2' }),
    pod('d'),
  ]);
  expect(store.byIndex('node', 'n1').map(found => found.metadata.name)).toEqual(['a', 'b']);
  expect(store.byIndex('node', 'n3')).toEqual([]);
});

test('indexes what is there already when an index comes late', () => {
  const store = storeOf(pod('a', '1', { node: 'n1' }));
  store.addIndex('node', byNode);
  expect(store.byIndex('node', 'n1')).toHaveLength(1);
});

test('moves an object in the index when its value changes, and takes it out when it goes', () => {
  const store = new Store<Pod>();
  store.addIndex('node', byNode);
  store.put(pod('a', '1', { node: 'n1' }));
  store.put(pod('a', '2', { node: 'n2' }));
  expect([store.byIndex('node', 'n1'), store.byIndex('node', 'n2')].map(found => found.length)).toEqual([0, 1]);
  store.remove(pod('a', '3'));
  expect(store.byIndex('node', 'n2')).toEqual([]);
});

test('finds an object under each of several values', () => {
  const store = new Store<Pod>();
  store.addIndex('letters', object => (object.metadata.name ?? '').split(''));
  store.put(pod('abc'));
  expect(['a', 'b', 'c', 'd'].map(letter => store.byIndex('letters', letter).length)).toEqual([1, 1, 1, 0]);
});

test('keeps an object that cannot be indexed, and reports it once', () => {
  const told: string[] = [];
  const store = new Store<Pod>((index, object, error) =>
    told.push(`${index} ${object.metadata.name} ${String(error)}`),
  );
  store.addIndex('bad', object => {
    if (object.metadata.name === 'x') throw new Error('no');
    return ['all'];
  });
  store.replaceAll([pod('x'), pod('y')]);
  expect(store.byIndex('bad', 'all').map(found => found.metadata.name)).toEqual(['y']);
  store.replaceAll([]);
  expect(told).toEqual(['bad x Error: no']);
});

test('rejects an unknown index and a second function under the same name', () => {
  const store = storeOf(pod('a'));
  store.addIndex('node', byNode);
  store.addIndex('node', byNode);
  expect(() => store.addIndex('node', () => [])).toThrow('the index node is taken');
  expect(() => store.byIndex('nod', 'x')).toThrow('the store has no index nod');
});

test('list returns a copy', () => {
  const store = storeOf(pod('a'), pod('b'));
  store.list().pop();
  expect(store.list()).toHaveLength(2);
});

test('index and content agree after any sequence of changes', () => {
  const object = fc.record({
    key: fc.constantFrom('a', 'b', 'n/a', 'n/b'),
    node: fc.constantFrom('n1', 'n2', undefined),
  });
  const step = fc.oneof(
    object.map(o => ({ put: o })),
    object.map(o => ({ remove: o.key })),
    fc.uniqueArray(object, { selector: o => o.key }).map(all => ({ all })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), steps => {
      const store = new Store<Pod>();
      store.addIndex('node', byNode);
      const make = (o: { key: string; node: string | undefined }, version: number) =>
        pod(o.key, String(version), o.node === undefined ? {} : { node: o.node });
      for (const [version, change] of steps.entries()) {
        if ('put' in change) store.put(make(change.put, version));
        else if ('remove' in change) store.remove(pod(change.remove, String(version)));
        else store.replaceAll(change.all.map(o => make(o, version)));
        for (const node of ['n1', 'n2']) {
          const want = store.list().filter(found => found.node === node);
          expect(new Set(store.byIndex('node', node))).toEqual(new Set(want));
        }
      }
    }),
    { numRuns: 500 },
  );
});
