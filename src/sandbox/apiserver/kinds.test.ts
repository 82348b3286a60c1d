import { expect, test } from 'vitest';
import { objectOf } from '../../../test/kit/kind-checks.ts';
import { defineKind, splitStatus, statusSubresource } from './kind.ts';
import { Kinds } from './kinds.ts';
import { fitShape } from './shape.ts';

const kinds = new Kinds();
const all = kinds.all();
const names = all.map(kind => [`${kind.group}/${kind.version} ${kind.kind}`, kind] as const);

test('finds a kind by group, version and plural', () => {
  expect(kinds.find('', 'v1', 'pods')?.kind).toBe('Pod');
  expect(kinds.find('apps', 'v1', 'daemonsets')?.kind).toBe('DaemonSet');
  expect(kinds.find('apps', 'v1', 'pods')).toBeUndefined();
  expect(kinds.find('', 'v2', 'pods')).toBeUndefined();
});

test('finds the stored version of a storageKey', () => {
  expect(kinds.byStorageKey('poddisruptionbudgets.policy')).toMatchObject({ version: 'v1' });
  expect(kinds.byStorageKey('events')).toMatchObject({ group: '' });
  expect(kinds.byStorageKey('nothing')).toBeUndefined();
});

test('takes and forgets custom kinds', () => {
  const own = new Kinds();
  const thing = defineKind({
    group: 'example.com',
    version: 'v1',
    plural: 'things',
    kind: 'Thing',
    namespaced: true,
    custom: true,
  });
  own.setCustom('things.example.com', [thing]);
  expect(own.find('example.com', 'v1', 'things')).toBe(thing);
  expect(own.all()).toContain(thing);
  own.setCustom('things.example.com', []);
  expect(own.find('example.com', 'v1', 'things')).toBeUndefined();
});

test('has each kind once, and each short name once', () => {
  expect(new Set(names.map(([name]) => name)).size).toBe(all.length);
  const stored = all.filter(kind => kind.stores);
  const short = stored.flatMap(kind => [kind.plural, ...kind.shortNames]);
  expect(new Set(short).size).toBe(short.length);
});

test.each(names)('%s is complete', (_, kind) => {
  expect(kind.columns.length).toBeGreaterThan(1);
  expect(kind.singular).toBe(kind.kind.toLowerCase());
  expect(kind.plural).toMatch(new RegExp(`^${kind.kind.toLowerCase().replace(/y$/, '')}`));
  expect(kind.verbs).toEqual(expect.arrayContaining(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']));
  expect(kind.content).toBeDefined();
});

test.each(names)('%s survives a round trip through the store', (_, kind) => {
  const object = objectOf(kind, {});
  expect(kind.fromStored(kind.toStored(object))).toEqual(object);
});

test.each(names)('%s is shown in full even when it is empty', (_, kind) => {
  for (const column of kind.columns) expect(column.cell(objectOf(kind), 0)).toBeDefined();
});

test.each(names)('%s drops what it does not know', (_, kind) => {
  expect(fitShape(kind.content ?? 'any', { unknown: 1 })).toEqual({});
});

test('has defaults unless set otherwise', () => {
  const kind = defineKind({ group: 'example.com', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true });
  const object = objectOf(kind, { spec: 1 });
  expect(kind).toMatchObject({
    storageKey: 'things.example.com',
    nameRule: 'subdomain',
    createsOnUpdate: false,
    updatesUnconditionally: true,
    returnsDeleted: false,
    setsGracePeriod: true,
  });
  expect(kind.prepareUpdate(object, objectOf(kind), '')).toBe(object);
  expect(kind.check(object, undefined, '')).toEqual([]);
  expect(kind.graceSeconds(object, 5)).toBeUndefined();
  expect(kind.deletionBlockers(object)).toEqual([]);
  expect(kind.stamp(object, undefined, '')).toBe(object);
  expect(kind.markDeleted(object, '')).toBe(object);
});

test('keeps status and spec apart where there is a subresource', () => {
  const kind = defineKind({
    group: '',
    version: 'v1',
    plural: 'things',
    kind: 'Thing',
    namespaced: true,
    subresources: [statusSubresource],
  });
  const old = objectOf(kind, { spec: 1, status: 1 });
  const next = objectOf(kind, { spec: 2, status: 2 }, { labels: { a: 'b' } });
  expect(kind.prepareUpdate(next, old, '')).toEqual({ ...next, status: 1 });
  expect(kind.prepareUpdate(next, old, 'status')).toEqual({ ...old, metadata: next.metadata, status: 2 });
  expect(splitStatus(next, objectOf(kind, { spec: 1 }), '')).not.toHaveProperty('status');
});
