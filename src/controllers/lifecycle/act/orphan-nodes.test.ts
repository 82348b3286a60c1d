import { expect, test } from 'vitest';
import { bySource, indexBySource } from '#cluster/instance-source.ts';
import { byNode, indexByNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { isLeaving } from '#cluster/instance-removal.ts';
import { configMapName, instanceAnnotation, nodeAnnotation, nodeLabel } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import type { ConfigMap, Node } from '#kube/resources.ts';
import { MemoryInformer } from '../../../../test/kit/memory-informer.ts';
import { successorOf } from '#cluster/instance-removal.ts';
import { OrphanNodes } from './orphan-nodes.ts';

const namespace = 'wmco';
const node = (name: string, over: Partial<Node['metadata']> = {}): Node => ({
  metadata: {
    name,
    labels: { [nodeLabel.os]: 'windows' },
    annotations: { [nodeAnnotation.version]: 'v1' },
    ...over,
  },
});
const instance = (
  name: string,
  status: WindowsInstanceStatus = {},
  metadata: WindowsInstance['metadata'] = {},
): WindowsInstance => ({
  metadata: { name, namespace, uid: `uid-${name}`, ...metadata },
  spec: { address: name, username: 'x', source: { kind: 'ConfigMap', name } },
  status,
});
const recorded = (name: string): WindowsInstanceStatus => ({ host: { name, addresses: [] }, hostKey: 'key' });
const fresh = instance('fresh');

function bench() {
  const [nodes, instances, maps] = [
    new MemoryInformer<Node>(),
    new MemoryInformer<WindowsInstance>(),
    new MemoryInformer<ConfigMap>(),
  ];
  instances.addIndex(byNode, indexByNode);
  instances.addIndex(bySource, indexBySource);
  const key = { namespace, name: configMapName.instances };
  const leaves = (each: WindowsInstance) =>
    isLeaving(each, host => Object.hasOwn(maps.store.get(key)?.data ?? {}, host));
  const list = (...hosts: string[]) =>
    maps.put({ metadata: key, data: Object.fromEntries(hosts.map(host => [host, ''])) });
  const orphans = new OrphanNodes({ nodes, instances, maps, isLeaving: leaves });
  const has = (...names: string[]) => orphans.includesNodeOf(fresh, names.length === 0 ? undefined : names);
  return { nodes, instances, maps, list, leaves, orphans, has, key };
}

const strangers: [string, Node][] = [
  ['a Linux Node', node('a', { labels: { [nodeLabel.os]: 'linux' } })],
  ['a Node that no operator finished', node('a', { annotations: { [nodeAnnotation.desiredVersion]: 'v1' } })],
  ['a Node without annotations', { metadata: { name: 'a', labels: { [nodeLabel.os]: 'windows' } } }],
];
for (const [about, stranger] of strangers) {
  test(`${about} is no orphan Node`, () => {
    const { nodes, has } = bench();
    nodes.put(stranger);
    expect(has()).toBe(false);
  });
}

test('an orphan Node appears and goes with its Node and with its record', () => {
  const { nodes, instances, has, list } = bench();
  list('one');
  const seen = [has()];
  const look = (change: () => void) => {
    change();
    seen.push(has());
  };
  look(() => nodes.put(node('a')));
  look(() => instances.put(instance('one', recorded('a'))));
  look(() => instances.put(instance('one', recorded('b'))));
  look(() => instances.put(instance('one', recorded('a'))));
  look(() => instances.remove({ namespace, name: 'one' }));
  look(() => nodes.remove({ namespace: '', name: 'a' }));
  expect(seen).toEqual([false, true, false, true, false, true, false]);
});

test('the Node of an instance that gives up its host counts', () => {
  const { nodes, instances, has, list, maps, key } = bench();
  nodes.put(node('a'));
  instances.put(instance('one', recorded('a')));
  const seen = [has()];
  for (const hosts of [['one'], ['two'], ['one', 'two']]) {
    list(...hosts);
    seen.push(has());
  }
  const annotations = { [instanceAnnotation.removal]: 'x' };
  instances.put(instance('one', recorded('a'), { annotations }));
  seen.push(has());
  instances.put(instance('one', recorded('a')));
  seen.push(has());
  maps.remove(key);
  expect([...seen, has()]).toEqual([true, false, true, false, true, false, true]);
});

test('only a Node with a name of the Machine counts for its host, and none for a recorded host', () => {
  const { nodes, has, orphans } = bench();
  nodes.put(node('m-1'));
  expect([has('m-1.example.com', 'M-1'), has('m-2')]).toEqual([true, false]);
  expect(orphans.includesNodeOf(instance('one', recorded('a')), undefined)).toBe(false);
});

const successors: [string, WindowsInstance, listed: string[], string | undefined][] = [
  ['has its host', instance('new', recorded('a')), ['new'], 'new'],
  ['has another key', instance('new', { ...recorded('a'), hostKey: 'other' }), ['new'], undefined],
  ['has another Node', instance('new', recorded('b')), ['new'], undefined],
  ['is not identified', instance('new', { hostKey: 'key', node: 'a' }), ['new'], undefined],
  ['gives up the host, too', instance('new', recorded('a')), [], undefined],
  ['has its host, but its own entry exists', instance('new', recorded('a')), ['new', 'old'], undefined],
];
for (const [about, other, listed, want] of successors) {
  test(`${want === undefined ? 'no successor' : 'the successor'} is an instance that ${about}`, () => {
    const { instances, leaves, list } = bench();
    const old = instance('old', recorded('a'));
    list(...listed);
    instances.put(old);
    instances.put(other);
    const named = instances.store.byIndex(byNode, 'a');
    const successor = leaves(old) ? successorOf(old, named, one => !leaves(one)) : undefined;
    expect(successor?.metadata.name).toBe(want);
  });
}
