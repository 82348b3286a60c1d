import { expect, test } from 'vitest';
import { type Node, nodes } from '#kube/resources.ts';
import { MemoryInformer } from '../../test/kit/memory-informer.ts';
import { NodeReader } from './node-reader.ts';

test('finds Nodes by name and address, but none that cannot be read', () => {
  const source = new MemoryInformer<Node>(nodes);
  source.put({ metadata: { name: 'win-1' }, status: { addresses: [{ type: 'Hostname', address: 'WIN-1' }] } });
  source.put({ metadata: { name: 'odd' }, status: { addresses: 5 as unknown as [] } });
  const reader = new NodeReader(source);
  expect(reader.withAddress(['win-1', 'win-1', 'odd']).map(({ name }) => name)).toEqual(['win-1']);
  expect([reader.get('win-1')?.name, reader.get('odd'), reader.get('none')]).toEqual(['win-1', undefined, undefined]);
});

test('reads each version of a Node once', () => {
  const source = new MemoryInformer<Node>(nodes);
  const reader = new NodeReader(source);
  const node = { metadata: { name: 'win-1', labels: { a: '1' } } };
  source.put(node);
  expect(reader.get('win-1')).toBe(reader.get('win-1'));
  source.put({ ...node, metadata: { ...node.metadata, labels: { a: '2' } } });
  expect(reader.get('win-1')?.labels).toEqual({ a: '2' });
});
