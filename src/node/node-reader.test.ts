import { expect, test } from 'vitest';
import { Store } from '#kube/informer/store.ts';
import type { Node } from '#kube/resources.ts';
import { NodeReader } from './node-reader.ts';

test('reads Nodes and leaves out those that cannot be read', () => {
  const store = new Store<Node>();
  const kind = { apiVersion: 'v1', kind: 'Node' };
  store.put({ ...kind, metadata: { name: 'win-1' } });
  store.put({ ...kind, metadata: { name: 'odd' }, status: { addresses: 5 as unknown as [] } });
  const reader = new NodeReader(store);
  expect(reader.list().map(({ name }) => name)).toEqual(['win-1']);
  expect([reader.get('win-1')?.name, reader.get('odd'), reader.get('none')]).toEqual(['win-1', undefined, undefined]);
});

test('reads each version of a Node once', () => {
  const store = new Store<Node>();
  const reader = new NodeReader(store);
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'win-1', labels: { a: '1' } } };
  store.put(node);
  expect(reader.get('win-1')).toBe(reader.get('win-1'));
  store.put({ ...node, metadata: { ...node.metadata, labels: { a: '2' } } });
  expect(reader.get('win-1')?.labels).toEqual({ a: '2' });
});
