import { expect, test } from 'vitest';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import type { NodeView } from '#contract/node.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { addressesOf, findInstanceNode, untilNodes } from './node-watch.ts';

const node = (name: string, addresses: string[], os = 'windows'): NodeView => ({
  name,
  uid: name,
  labels: { 'kubernetes.io/os': os },
  annotations: {},
  addresses: addresses.map(address => ({ type: 'InternalIP', address })),
  ready: true,
  unschedulable: false,
});
const instance = (address: string, ipv4?: string): InstanceObject => ({
  metadata: { name: 'x' },
  spec: { address },
  ...(ipv4 !== undefined && { status: { ipv4 } }),
});

const addresses: [string, InstanceObject, string[]][] = [
  ['an address is its own', instance('10.0.0.5'), ['10.0.0.5']],
  ['an address does not change with what was resolved', instance('10.0.0.5', '10.0.0.6'), ['10.0.0.5']],
  ['a name goes with what it resolves to', instance('win.example.com', '10.0.0.5'), ['10.0.0.5', 'win.example.com']],
  ['a name alone until it is resolved', instance('win.example.com'), ['win.example.com']],
];
for (const [name, object, want] of addresses) test(name, () => expect(addressesOf(object)).toEqual(want));

const found: [string, string[], NodeView[], string | undefined][] = [
  ['by an address', ['10.0.0.5'], [node('a', ['10.0.0.4']), node('b', ['10.0.0.5'])], 'b'],
  ['by a name in any case', ['win.example.com'], [node('a', ['WIN.example.com'])], 'a'],
  ['the first address decides', ['10.0.0.5', 'win'], [node('a', ['win']), node('b', ['10.0.0.5'])], 'b'],
  ['no Node of another system', ['10.0.0.5'], [node('a', ['10.0.0.5'], 'linux')], undefined],
  ['none', ['10.0.0.5'], [node('a', ['10.0.0.50'])], undefined],
  ['nothing by nothing', [''], [node('a', [''])], undefined],
];
for (const [name, by, nodes, want] of found) {
  test(`finds the Node: ${name}`, () => expect(findInstanceNode(by, nodes)?.name).toBe(want));
}

function bench() {
  const listeners = new Set<() => void>();
  const nodes = {
    onChange: (listener: () => void) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  return { nodes, listeners, change: () => listeners.forEach(listener => listener()) };
}
const never = new AbortController().signal;

test('gives at once what is there already', async () => {
  const { nodes, listeners } = bench();
  expect(await untilNodes(nodes, () => 'there', never)).toBe('there');
  expect(listeners.size).toBe(0);
});

test('looks again after each change, and not in between', async () => {
  const { nodes, listeners, change } = bench();
  let looks = 0;
  const waiting = untilNodes(nodes, () => (++looks > 2 ? looks : undefined), never);
  await settle();
  expect(looks).toBe(1);
  change();
  change();
  expect(await waiting).toBe(3);
  expect(listeners.size).toBe(0);
});

test('ends with the reason of whoever has given up', async () => {
  const { nodes, listeners } = bench();
  const stop = new AbortController();
  const waiting = untilNodes(nodes, () => undefined, stop.signal);
  stop.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(listeners.size).toBe(0);
  await expect(untilNodes(nodes, () => 1, stop.signal)).rejects.toThrow('enough');
});

test('ends with what goes wrong while looking, first or later', async () => {
  const { nodes, change } = bench();
  const fail = (): never => {
    throw new Error('broken');
  };
  await expect(untilNodes(nodes, fail, never)).rejects.toThrow('broken');
  let looks = 0;
  const waiting = untilNodes(nodes, () => (++looks > 1 ? fail() : undefined), never);
  change();
  await expect(waiting).rejects.toThrow('broken');
});
