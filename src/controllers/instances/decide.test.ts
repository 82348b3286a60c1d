import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeLabel } from '#contract/names.ts';
import type { NodeAddress, NodeView } from '#contract/node.ts';
import {
  decideOrphan,
  decideRemovals,
  type ListedInstance,
  namesOfAddress,
  nodeHasInstance,
  type PtrAnswers,
} from './decide.ts';

const ip = (address: string): NodeAddress => ({ type: 'InternalIP', address });
const host = (address: string): NodeAddress => ({ type: 'Hostname', address });
const listed = (address: string, ipv4?: string): ListedInstance => ({ address, ipv4 });

const ptr: PtrAnswers = {
  '10.0.0.1': ['win1.example.com.'],
  '10.0.0.2': null,
  '10.0.0.3': ['x', 'WIN3.example.com'],
  '10.0.0.5': [''],
  'fd00::1': ['win6.example.com'],
};

const associations: [string, NodeAddress[], ListedInstance[], boolean][] = [
  ['by its address', [ip('10.0.0.9')], [listed('10.0.0.9', '10.0.0.9')], true],
  ['by the address a name resolves to', [ip('10.0.0.9')], [listed('win9.example.com', '10.0.0.9')], true],
  ['by any type of address', [{ type: 'ExternalIP', address: '10.0.0.9' }], [listed('a', '10.0.0.9')], true],
  ['by its host name', [host('win9')], [listed('win9')], true],
  ['by its host name in another case', [host('WIN9.example.com.')], [listed('Win9.Example.com')], true],
  ['by the name DNS gives for its address', [ip('10.0.0.1')], [listed('win1.example.com', '10.0.0.77')], true],
  ['by the second of these names', [ip('10.0.0.3')], [listed('win3.EXAMPLE.com.')], true],
  ['by the name of its IPv6 address', [ip('fd00::1')], [listed('win6.example.com')], true],
  ['by an address behind one without a name', [ip('10.0.0.2'), ip('10.0.0.1')], [listed('win1.example.com')], true],
  ['by the second instance', [ip('10.0.0.9')], [listed('a', '10.0.0.8'), listed('b', '10.0.0.9')], true],
  ['not by another address', [ip('10.0.0.9')], [listed('10.0.0.8', '10.0.0.8')], false],
  ['not when the look-up failed', [ip('10.0.0.2')], [listed('win2.example.com')], false],
  ['not when nobody looked it up', [ip('10.0.0.99')], [listed('invalid.dns')], false],
  ['not by the first label alone', [ip('10.0.0.1')], [listed('win1')], false],
  ['not by part of a name', [host('win')], [listed('win9')], false],
  ['not by an empty address', [ip(''), host('')], [listed('', ''), listed('')], false],
  ['not by an empty name in DNS', [ip('10.0.0.5')], [listed('', '')], false],
  ['not by a host name that every object has', [host('constructor')], [listed('x')], false],
  ['not without instances', [ip('10.0.0.1'), host('win1')], [], false],
  ['not without addresses', [], [listed('10.0.0.1', '10.0.0.1')], false],
];
for (const [title, addresses, instances, want] of associations) {
  test(`a node has its instance ${title}`, () => expect(nodeHasInstance(addresses, instances, ptr)).toBe(want));
}

test('knows names of addresses only', () => {
  expect(namesOfAddress('10.0.0.1', ptr)).toEqual(['win1.example.com.']);
  expect(namesOfAddress('10.0.0.2', ptr)).toEqual([]);
  expect(namesOfAddress('toString', ptr)).toEqual([]);
  expect(namesOfAddress('', { '': ['x'] })).toEqual([]);
});

const byoh = { [nodeLabel.os]: 'windows', [nodeLabel.byoh]: 'true' };
function nodeOf(name: string, addresses: NodeAddress[], labels: Record<string, string> = byoh): NodeView {
  return { name, uid: '', labels, annotations: {}, addresses, ready: true, unschedulable: false };
}
const win1 = nodeOf('win1', [ip('10.0.0.1'), host('win1')]);
const win2 = nodeOf('win2', [ip('10.0.0.2'), host('win2')]);
const one = listed('10.0.0.1', '10.0.0.1');

const removals: [string, NodeView[], ListedInstance[], string[], string[]][] = [
  ['a node whose entry is gone', [win1, win2], [one], [], ['win2']],
  ['nothing while all are listed', [win1, win2], [one, listed('win2')], [], []],
  ['all nodes when nothing is listed', [win1, win2], [], [], ['win1', 'win2']],
  ['no node of a Machine', [nodeOf('m', [], { [nodeLabel.os]: 'windows' })], [], [], []],
  ['no Linux node, whatever it claims', [nodeOf('l', [], { [nodeLabel.byoh]: 'true' })], [], [], []],
  ['no node with another value of the label', [nodeOf('x', [], { ...byoh, [nodeLabel.byoh]: 'false' })], [], [], []],
  ['no node whose entry cannot be parsed', [win2], [one], ['10.0.0.2'], []],
  ['no node whose name does not resolve', [win2], [one], ['win2.example.com'], []],
  ['no node whose full name is listed in short', [nodeOf('x', [host('win2.corp.local')])], [one], ['WIN2'], []],
  ['no node that DNS knows by a failed entry', [nodeOf('x', [ip('10.0.0.3'), host('x')])], [], ['win3'], []],
  ['no node by its name alone', [nodeOf('win2', [ip('10.0.0.2'), host('other')])], [], ['win2'], []],
  ['a node beside a mistyped entry', [win1, win2], [one], ['wni3.example.com'], ['win2']],
  ['a node beside an entry for another address', [win2], [], ['10.0.0.22'], ['win2']],
  ['a node whose name is part of a failed entry', [win2], [], ['win22.example.com', 'xwin2'], ['win2']],
  ['no nameless node beside an unresolved entry', [nodeOf('x', [ip('10.0.0.2')])], [], ['alias.example.com'], []],
  ['a nameless node beside a bad entry with an address', [nodeOf('x', [ip('10.0.0.2')])], [], ['10.0.0.7'], ['x']],
  ['a nameless node that nothing is listed for', [nodeOf('x', [ip('10.0.0.2'), ip('fd00::2')])], [one], [], ['x']],
];
for (const [title, nodes, instances, failed, want] of removals) {
  test(`removes ${title}`, () => {
    const decisions = decideRemovals(nodes, { instances, failures: failed.map(address => ({ address })) }, ptr);
    expect(decisions.filter(item => item.do === 'remove').map(item => item.node)).toEqual(want);
  });
}

test('says why a node stays or goes', () => {
  const entries = { instances: [one], failures: [{ address: 'win2.example.com' }] };
  const win3 = nodeOf('win3', [ip('10.0.0.33'), host('win3')]);
  const nameless = nodeOf('n', [ip('10.0.0.34')]);
  expect(decideRemovals([win1, win2, win3, nameless], entries, {})).toEqual([
    { node: 'win1', do: 'keep', why: 'it is listed in windows-instances' },
    { node: 'win2', do: 'keep', why: 'it may be win2.example.com, whose entry could not be read or resolved' },
    { node: 'win3', do: 'remove', why: 'no entry of windows-instances belongs to it' },
    {
      node: 'n',
      do: 'keep',
      why: 'it reports no host name and may be win2.example.com, whose entry could not be read or resolved',
    },
  ]);
});

const someNode = fc
  .tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: 1, max: 6 }))
  .map(([name, last]) => nodeOf(name, [ip(`10.0.1.${last}`), host(`${name}.example.com`)]));
const someEntry = fc.oneof(
  fc.integer({ min: 1, max: 6 }).map(last => listed(`10.0.1.${last}`, `10.0.1.${last}`)),
  fc.constantFrom('a', 'b.example.com', 'alias').map(name => listed(name)),
);

test('an entry that fails never causes the removal of a node that stayed while it worked by name or address', () => {
  fc.assert(
    fc.property(fc.array(someNode), fc.array(someEntry), fc.array(someEntry), (nodes, good, failing) => {
      const removed = (instances: ListedInstance[], failures: ListedInstance[]) =>
        decideRemovals(nodes, { instances, failures }, {}).filter(item => item.do === 'remove');
      const whole = removed([...good, ...failing], []);
      const broken = removed(good, failing);
      return broken.every(item => whole.some(other => other.node === item.node));
    }),
    { numRuns: 1000 },
  );
});

test('a listed node is never removed', () => {
  fc.assert(
    fc.property(fc.array(someNode), fc.array(someEntry), (nodes, instances) =>
      decideRemovals(nodes, { instances, failures: [] }, {}).every((item, index) => {
        const addresses = nodes[index]?.addresses ?? [];
        return (item.do === 'keep') === nodeHasInstance(addresses, instances, {});
      }),
    ),
    { numRuns: 500 },
  );
});

const orphanCases: [string, NodeView | undefined, ListedInstance[], string[], 'delete' | 'keep', RegExp][] = [
  ['goes when it never became a node', undefined, [one], ['win9'], 'delete', /entry of windows-instances is gone/],
  ['goes when nothing is listed', win2, [], [], 'delete', /is gone/],
  ['goes when others are listed', win2, [one], [], 'delete', /is gone/],
  ['is taken over by another entry', win1, [one], [], 'delete', /another entry/],
  ['is taken over although a third entry failed', win1, [one], ['win1.example.com'], 'delete', /another entry/],
  ['stays while a failed entry has its name', win2, [one], ['win2.example.com'], 'keep', /may be win2\.example\.com/],
  ['goes when its node is no BYOH node', nodeOf('win2', win2.addresses, {}), [], ['win2'], 'delete', /is gone/],
];
for (const [title, node, instances, failed, want, why] of orphanCases) {
  test(`an instance without an entry ${title}`, () => {
    const failures = failed.map(address => ({ address }));
    const orphan = decideOrphan(node, { instances, failures }, ptr);
    expect(orphan).toEqual({ do: want, why: expect.stringMatching(why) });
  });
}
