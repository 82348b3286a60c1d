import { expect, test } from 'vitest';
import { listAt, memberAt, numberAt, recordAt, textAt, textsAt, withMember, withMetadata } from './object.ts';
import type { StoredObject } from './ports.ts';

const object: StoredObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', labels: { x: 'y' } },
  spec: { nodeName: 'n', count: 3, flag: false, list: [1, 2], nothing: null, empty: '' },
};

const paths: [string, unknown][] = [
  ['spec.nodeName', 'n'],
  ['spec.count', 3],
  ['spec.flag', false],
  ['spec.list', [1, 2]],
  ['spec.empty', ''],
  ['spec.nothing', undefined],
  ['spec.none', undefined],
  ['spec.nodeName.deeper', undefined],
  ['spec.list.0', undefined],
  ['none.at.all', undefined],
  ['toString', undefined],
  ['spec.constructor', undefined],
];
test.each(paths)('finds what is at %s', (path, wanted) => expect(memberAt(object, path)).toEqual(wanted));

const texts: [string, string][] = [
  ['spec.nodeName', 'n'],
  ['spec.count', '3'],
  ['spec.flag', 'false'],
  ['spec.list', ''],
  ['spec', ''],
  ['spec.none', ''],
];
test.each(texts)('reads %s as a text', (path, wanted) => expect(textAt(object, path)).toBe(wanted));

test('reads numbers, lists and maps, with empty defaults', () => {
  expect([numberAt(object, 'spec.count'), numberAt(object, 'spec.nodeName'), numberAt(object, 'x')]).toEqual([3, 0, 0]);
  expect([listAt(object, 'spec.list'), listAt(object, 'spec'), listAt(undefined, 'x')]).toEqual([[1, 2], [], []]);
  expect([recordAt(object, 'metadata.labels'), recordAt(object, 'spec.list')]).toEqual([{ x: 'y' }, {}]);
  expect(textsAt(object, 'metadata.labels')).toEqual({ x: 'y' });
});

test('sets and removes members without touching the object', () => {
  const before = structuredClone(object);
  expect(withMember(object, 'status', { phase: 'x' })['status']).toEqual({ phase: 'x' });
  expect(Object.keys(withMember(object, 'spec', undefined))).toEqual(['apiVersion', 'kind', 'metadata']);
  expect(withMetadata(object, { name: 'b', labels: undefined }).metadata).toEqual({ name: 'b' });
  expect(object).toEqual(before);
});
