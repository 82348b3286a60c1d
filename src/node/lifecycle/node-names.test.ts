import { expect, test } from 'vitest';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { boundNode, dialedAddresses, specNames } from '#cluster/windows-instance-resource.ts';
import type { NodeView } from '#contract/node.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { nodeList } from '../../../test/kit/node-list.ts';
import { NodeNames } from './node-names.ts';

const instance = (
  name: string,
  status?: WindowsInstanceStatus,
  metadata: WindowsInstance['metadata'] = {},
): WindowsInstance => ({
  metadata: { name, namespace: 'wmco', uid: `uid-${name}`, creationTimestamp: '2026-03-01T12:00:00Z', ...metadata },
  spec: { address: name, username: 'Administrator' },
  ...(status && { status }),
});
const called = (name: string): WindowsInstanceStatus => ({ host: { name, addresses: [] } });

function bench(...first: WindowsInstance[]) {
  let all = first;
  const names = new NodeNames({
    holders: name => all.filter(each => boundNode(each) === name),
    named: name => all.filter(each => specNames(each).includes(name)),
    find: ({ metadata }) => all.find(each => each.metadata.name === metadata.name),
  });
  const become = (...now: WindowsInstance[]) => (all = now);
  const claim = (name: string, by: WindowsInstance) => names.claim(name, by)?.metadata.name;
  return { claim, become, names };
}
const [a, b] = [instance('a'), instance('b')];

const at = (...addresses: string[]) => ({ addresses: addresses.map(address => ({ type: 'InternalIP', address })) });
const dialedAt = (ipv4: string): WindowsInstanceStatus => ({ ipv4, host: { name: 'x', addresses: ['10.9.9.9'] } });
const [plain, resolved, leaving] = [
  instance('10.0.0.5'),
  instance('win-6.example.com', dialedAt('10.0.0.6')),
  instance('10.0.0.7'),
];
const hosts: [about: string, addresses: string[], by: WindowsInstance, want: string | undefined][] = [
  ['the instance with its address', ['win-5', '10.0.0.5'], a, '10.0.0.5'],
  ['the instance whose name has its address', ['10.0.0.6'], a, 'win-6.example.com'],
  ['no other one with its own address', ['10.0.0.5'], plain, undefined],
  ['none that is leaving', ['10.0.0.7'], a, undefined],
  ['none by what a host reports', ['10.9.9.9'], a, undefined],
  ['none at an unknown address', ['10.0.0.8'], a, undefined],
];
for (const [about, addresses, by, want] of hosts) {
  test(`by the addresses that it reports a Node belongs to ${about}`, () => {
    const all = [plain, resolved, leaving];
    const names = new NodeNames({
      holders: () => [],
      named: () => [],
      find: () => undefined,
      dialed: ipv4 => all.filter(each => dialedAddresses(each).includes(ipv4)),
      isLeaving: each => each === leaving,
    });
    expect(names.hostOf(at(...addresses), by)).toBe(want);
  });
}

test('a name is free until it is claimed, and stays with the first', () => {
  const { claim } = bench(a, b);
  expect([claim('win', a), claim('win', b), claim('win', a), claim('other', b)]).toEqual([
    undefined,
    'a',
    undefined,
    undefined,
  ]);
});

test('of two that claim a name at the same moment the second hears of the first, before any record is seen', () => {
  const { claim } = bench(a, b);
  expect([claim('win', b), claim('win', a)]).toEqual([undefined, 'b']);
});

const ends: [string, WindowsInstance[]][] = [
  ['is gone', [b]],
  ['was made anew', [instance('a', undefined, { uid: 'other' }), b]],
  ['turned out to have another name', [instance('a', called('else')), b]],
];
for (const [name, now] of ends) {
  test(`a claim ends when its instance ${name}`, () => {
    const { claim, become } = bench(a, b);
    claim('win', a);
    become(...now);
    expect(claim('win', b)).toBeUndefined();
  });
}

test('a record holds a name, whoever claims it', () => {
  const { claim } = bench(instance('a', called('win')), b);
  expect([claim('win', b), claim('win', a)]).toEqual(['a', undefined]);
});

test('the node in the status of an earlier operator holds its name, too', () => {
  const { claim } = bench(instance('a', { node: 'win' }), b);
  expect(claim('win', b)).toBe('a');
});

test('a record that came goes before a claim', () => {
  const { claim, become } = bench(a, b);
  claim('win', a);
  become(a, instance('b', called('win')));
  expect([claim('win', a), claim('win', b)]).toEqual(['b', undefined]);
});

const elder = { creationTimestamp: '2026-02-01T12:00:00Z' };
const pairs: [string, WindowsInstance[], string][] = [
  ['the elder', [instance('a', called('win')), instance('b', called('win'), elder)], 'b'],
  ['the first by name, of two of one age', [instance('b', called('win')), instance('a', called('win'))], 'a'],
];
for (const [name, all, keeps] of pairs) {
  test(`of two records with one name ${name} keeps it`, () => {
    const { claim } = bench(...all);
    for (const each of all) {
      expect(claim('win', each)).toBe(each.metadata.name === keeps ? undefined : keeps);
    }
  });
}

const machine = (name?: string): WindowsInstance => ({
  ...a,
  spec: { address: 'x', username: 'Administrator', source: { kind: 'Machine', ...(name !== undefined && { name }) } },
});
const machines: [string, WindowsInstance, readonly string[] | undefined][] = [
  ['those that the cloud has given it', machine('m-1'), ['m-1.internal', 'M-1']],
  ['any, where the cloud gives none', machine('m-2'), undefined],
  ['any, for a Machine without a name', machine(), undefined],
  ['any, for a host that is no Machine', a, undefined],
];
for (const [name, object, want] of machines) {
  test(`names that a Node may have: ${name}`, () => {
    const machines = { of: (of: string) => (of === 'm-1' ? ['m-1.internal', 'M-1'] : []), withName: () => [] };
    const names = new NodeNames({ holders: () => [], named: () => [], find: () => undefined, machines });
    expect(names.machineNames(object)).toEqual(want);
  });
}

test('names are not compared where there are no Machines', () => {
  const names = new NodeNames({ holders: () => [], named: () => [], find: () => undefined });
  expect(names.machineNames(machine('m-1'))).toBeUndefined();
});

const nodeAt = (name: string, address: string, labels: Record<string, string> = {}): NodeView => ({
  name,
  uid: '',
  labels,
  annotations: {},
  addresses: [{ type: 'InternalDNS', address }],
  ready: true,
  unschedulable: false,
});
const holders: [about: string, name: string, want: string | undefined][] = [
  ['nobody', 'win-9', undefined],
  ['the instance itself', 'a', undefined],
  ['another instance, as its address', 'b', 'WindowsInstance b'],
  ['another instance, as a serving name', 'alias.corp', 'WindowsInstance c'],
  ['another instance, as its spec.hostname', 'web-1', 'WindowsInstance c'],
  ['another Machine', 'machine-2.internal', 'Machine machine-2'],
  ['its own Machine', 'machine-1.internal', undefined],
  ['a control plane', 'cp-1.corp', 'Node cp-1'],
  ['another Node by its own words alone', 'squat.corp', undefined],
];
for (const [about, name, want] of holders) {
  test(`a name that is one of ${about}`, () => {
    const spec = { address: '10.0.0.3', username: 'Administrator', hostname: 'WEB-1', servingNames: ['alias.corp'] };
    const c = { ...instance('c'), spec };
    const own = { ...a, spec: { ...a.spec, source: { kind: 'Machine' as const, name: 'machine-1' } } };
    const machines = {
      of: () => [],
      withName: (wanted: string) => ['machine-1', 'machine-2'].filter(each => `${each}.internal` === wanted),
    };
    const all = [own, b, c];
    const named = (name: string) => all.filter(each => specNames(each).includes(name));
    const names = new NodeNames({ holders: () => [], named, find: () => undefined, machines });
    const nodes = [
      nodeAt('cp-1', 'cp-1.corp', { 'node-role.kubernetes.io/control-plane': '' }),
      nodeAt('ghost', 'squat.corp'),
    ];
    expect(names.ownerOf(name, own, nodeList(...nodes))).toBe(want);
  });
}

test('a name of instances that give up their host passes to their successor, and to no other', () => {
  const [leaving, staying] = [instance('leaving', called('win')), instance('staying', called('other'))];
  const all = [leaving, staying, a, b];
  const names = new NodeNames({
    holders: name => all.filter(each => boundNode(each) === name),
    named: name => (name === 'win' ? [leaving] : []),
    find: ({ metadata }) => all.find(each => each.metadata.name === metadata.name),
    isLeaving: each => each === leaving,
  });
  const same = () => true;
  expect(names.predecessors('win', a, () => false)).toEqual([]);
  expect(names.predecessors('other', a, same)).toEqual([]);
  expect(names.predecessors('win', leaving, same)).toEqual([]);
  const predecessors = names.predecessors('win', a, same);
  expect(predecessors).toEqual([leaving]);
  expect([names.claim('win', a)?.metadata.name, names.ownerOf('win', a, nodeList())]).toEqual([
    'leaving',
    'WindowsInstance leaving',
  ]);
  expect([names.claim('win', a, predecessors), names.ownerOf('win', a, nodeList(), predecessors)]).toEqual([
    undefined,
    undefined,
  ]);
  expect(names.claim('win', b, predecessors)).toBe(a);
});

test('deletes a predecessor, where that is possible', async () => {
  const discarded: WindowsInstance[] = [];
  const none = { holders: () => [], named: () => [], find: () => undefined };
  const { signal } = new AbortController();
  await new NodeNames({ ...none, discard: async each => void discarded.push(each) }).discard(a, signal);
  await new NodeNames(none).discard(b, signal);
  expect(discarded).toEqual([a]);
});
