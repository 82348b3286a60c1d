import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { prepareObject } from './reflector-objects.ts';
import type { KubeResource, Resource } from '../resource.ts';

const nodes: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const admitted = <T extends KubeResource>(object: T) => prepareObject(nodes as Resource<T>, object);
/** What every admitted object has. */
const typed = { apiVersion: 'v1', kind: 'Node' };

const isDeeplyFrozen = (value: unknown): boolean =>
  typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen));

test('gives back the same object, frozen to the last member', () => {
  const object = { metadata: { name: 'x', labels: { a: 'b' } }, list: [{ deep: [1, { er: null }] }] };
  expect(admitted(object)).toBe(object);
  expect(isDeeplyFrozen(object)).toBe(true);
});

test('writing to a prepared object throws a TypeError', () => {
  const object = admitted({ metadata: { name: 'x', labels: { a: 'b' } } }) as { metadata: { labels: { a: string } } };
  expect(() => {
    object.metadata.labels.a = 'c';
  }).toThrow(TypeError);
});

test('leaves an object alone that it has admitted before', () => {
  const object = admitted({ metadata: { name: 'x' } });
  expect(admitted(object as KubeResource)).toBe(object);
});

test('removes managedFields only', () => {
  const object = {
    metadata: { name: 'x', managedFields: [{ manager: 'kubelet' }], uid: 'u' },
    spec: { managedFields: 1 },
  };
  expect(admitted(object)).toEqual({ ...typed, metadata: { name: 'x', uid: 'u' }, spec: { managedFields: 1 } });
});

test('adds apiVersion and kind where a list left them out, and keeps them where they are', () => {
  const group = { ...nodes, group: 'example.com', kind: 'Thing' };
  expect(prepareObject(group, { metadata: { name: 'x' } })).toMatchObject({
    apiVersion: 'example.com/v1',
    kind: 'Thing',
  });
  const given = { apiVersion: 'example.com/v2', kind: 'Other', metadata: { name: 'x' } };
  expect(prepareObject(group, given)).toMatchObject({ apiVersion: 'example.com/v2', kind: 'Other' });
});

const nameless: [string, unknown][] = [
  ['no metadata', {}],
  ['null', null],
  ['undefined', undefined],
  ['metadata that is null', { metadata: null }],
  ['no name', { metadata: {} }],
  ['an empty name', { metadata: { name: '' } }],
  ['a name that is a number', { metadata: { name: 7 } }],
  ['a text', 'object'],
];
test.each(nameless)('does not prepareObject an object with %s', (_, object) => {
  expect(admitted(object as KubeResource)).toBeUndefined();
});

test('freezes an object that is nested deeper than any stack', () => {
  let inner: Record<string, unknown> = {};
  for (let depth = 0; depth < 200_000; depth += 1) inner = { inner };
  const object = { metadata: { name: 'deep' }, inner };
  admitted(object);
  let depth = 0;
  for (let next: unknown = object.inner; next !== undefined; next = (next as { inner?: unknown }).inner) {
    if (!Object.isFrozen(next)) throw new Error(`not frozen at ${depth}`);
    depth += 1;
  }
  expect(depth).toBe(200_001);
});

test('freezes any JSON', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const object = { metadata: { name: 'x' }, value: structuredClone(value) };
      expect(admitted(object)).toEqual({ ...typed, metadata: { name: 'x' }, value });
      expect(isDeeplyFrozen(object)).toBe(true);
    }),
    { numRuns: 500 },
  );
});
