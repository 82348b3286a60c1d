import { isIP } from 'node:net';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { removedTaint } from './names.ts';
import { findNodeByAddress, isWindowsNode, type NodeAddress, readNode, usableAddress } from './node.ts';
import { readObject } from './object.ts';

const object = (members: object) =>
  readObject({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'win-1', uid: 'u-1' }, ...members });
const read = (members: object) => readNode(object(members));
const ip = (address: string): NodeAddress => ({ type: 'InternalIP', address });
const dns = (address: string): NodeAddress => ({ type: 'InternalDNS', address });
const external = (address: string): NodeAddress => ({ type: 'ExternalIP', address });

test('reads a whole Node', () => {
  const node = read({
    metadata: { name: 'win-1', uid: 'u-1', labels: { a: '1' }, annotations: { b: '2' } },
    spec: { unschedulable: true },
    status: {
      addresses: [ip('10.0.0.1'), { type: 'Hostname', address: 'WIN-1' }],
      conditions: [
        { type: 'MemoryPressure', status: 'False' },
        { type: 'Ready', status: 'True', message: 'kubelet is posting ready status' },
      ],
      nodeInfo: { kubeletVersion: 'v1.36.2' },
    },
  });
  expect(node).toEqual({
    name: 'win-1',
    uid: 'u-1',
    labels: { a: '1' },
    annotations: { b: '2' },
    addresses: [ip('10.0.0.1'), { type: 'Hostname', address: 'WIN-1' }],
    ready: true,
    readyMessage: 'kubelet is posting ready status',
    unschedulable: true,
    kubeletVersion: 'v1.36.2',
  });
});

test('recognizes a Node whose host was removed by force by its taint', () => {
  const taints = [{ key: 'os', effect: 'NoSchedule' }, { ...removedTaint }];
  expect(read({ spec: { taints } }).isRemoved).toBe(true);
  expect(read({ spec: { taints: taints.slice(0, 1) } }).isRemoved).toBeUndefined();
});

test('parses a new Node without status', () => {
  expect(read({})).toEqual({
    name: 'win-1',
    uid: 'u-1',
    labels: {},
    annotations: {},
    addresses: [],
    ready: false,
    readyMessage: '',
    unschedulable: false,
  });
});

test('a Node without heartbeat is silent', () => {
  const of = (status: string) => read({ status: { conditions: [{ type: 'Ready', status }] } }).isSilent;
  expect(['True', 'False', 'Unknown'].map(of)).toEqual([undefined, undefined, true]);
});

const conditions: [string, object[] | null, boolean][] = [
  ['no conditions', null, false],
  ['an empty list', [], false],
  ['Ready is True', [{ type: 'Ready', status: 'True' }], true],
  ['Ready is False', [{ type: 'Ready', status: 'False' }], false],
  ['Ready is Unknown', [{ type: 'Ready', status: 'Unknown' }], false],
  ['another condition is True', [{ type: 'DiskPressure', status: 'True' }], false],
  ['a condition without members', [{}], false],
];
for (const [name, list, want] of conditions) {
  test(`${name}: ${want ? 'ready' : 'not ready'}`, () =>
    expect(read({ status: { conditions: list } }).ready).toBe(want));
}

const malformed: [string, object, string][] = [
  ['addresses', { status: { addresses: 'x' } }, 'Node win-1: status.addresses is "x", not a list'],
  [
    'an address',
    { status: { addresses: [{ address: 5 }] } },
    'Node win-1: status.addresses[0].address is 5, not a string',
  ],
  ['conditions', { status: { conditions: {} } }, 'Node win-1: status.conditions is {}, not a list'],
  ['the cordon', { spec: { unschedulable: 'yes' } }, 'Node win-1: spec.unschedulable is "yes", not true or false'],
];
for (const [name, members, message] of malformed) {
  test(`names the Node, the field and the value when ${name} cannot be read`, () => {
    expect(attempt(() => read(members))).toMatchObject({ ok: false, error: { code: 'FIELD_INVALID', message } });
  });
}

const kinds: [string, Record<string, string>, boolean][] = [
  ['no labels', {}, false],
  ['Linux', { 'kubernetes.io/os': 'linux' }, false],
  ['Windows', { 'kubernetes.io/os': 'windows' }, true],
  ['Windows with a capital', { 'kubernetes.io/os': 'Windows' }, false],
];
for (const [name, labels, windows] of kinds) {
  test(`a Node with ${name} is ${windows ? '' : 'not '}Windows`, () => expect(isWindowsNode({ labels })).toBe(windows));
}

const usable: [string, NodeAddress[], string | undefined][] = [
  ['no addresses', [], undefined],
  ['an empty address', [ip('')], undefined],
  ['an address without type', [{ type: '', address: '' }], undefined],
  ['one IPv4', [ip('10.0.0.5')], '10.0.0.5'],
  ['the first of two', [ip('10.0.0.5'), ip('10.0.0.6')], '10.0.0.5'],
  ['an IPv6 only', [ip('::1')], undefined],
  ['an IPv6 before an IPv4', [ip('fd00::1'), ip('10.0.0.5')], '10.0.0.5'],
  ['an IPv6 with a zone before an IPv4', [ip('fe80::1%4'), ip('10.0.0.5')], '10.0.0.5'],
  ['a name', [dns('localhost')], 'localhost'],
  ['a name before an IPv4', [dns('win-1.local'), ip('10.0.0.5')], 'win-1.local'],
  ['an IPv4 before a name', [ip('10.0.0.5'), dns('win-1.local')], '10.0.0.5'],
  ['an empty name before an IPv4', [dns(''), ip('10.0.0.5')], '10.0.0.5'],
  ['external addresses only', [external('1.2.3.4'), { type: 'ExternalDNS', address: 'x' }], undefined],
  ['an external address first', [external('1.2.3.4'), ip('10.0.0.5')], '10.0.0.5'],
  ['the host name only', [{ type: 'Hostname', address: 'win-1' }], undefined],
];
for (const [name, addresses, want] of usable) {
  if (want !== undefined) test(`of ${name} uses ${want}`, () => expect(usableAddress(addresses)).toBe(want));
  else {
    test(`${name}: no usable address`, () => {
      const result = attempt(() => usableAddress(addresses, 'Node win-1'));
      expect(result).toMatchObject({
        ok: false,
        error: { code: 'NODE_ADDRESS_MISSING', message: 'Node win-1: no usable address' },
      });
      expect(result.ok ? '' : result.error.remedy).toContain('InternalIP');
    });
  }
}

test('never uses an IPv6 address or an external one', () => {
  const address = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain(), fc.constant(''));
  const type = fc.constantFrom('InternalIP', 'InternalDNS', 'ExternalIP', 'Hostname', '');
  fc.assert(
    fc.property(fc.array(fc.record({ type, address }), { maxLength: 6 }), addresses => {
      const result = attempt(() => usableAddress(addresses));
      if (result.ok) {
        expect(isIP(result.value)).not.toBe(6);
        expect(addresses.some(one => one.type.startsWith('Internal') && one.address === result.value)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

const nodes = [
  { name: 'one', addresses: [ip('127.0.0.1'), external('1.2.3.4')] },
  { name: 'two', addresses: [dns('localhost'), dns('Win-2.Example.com')] },
  { name: 'three', addresses: [ip('10.0.0.3'), ip('127.0.0.1'), ip('')] },
];
const finds: [string, string, string | undefined][] = [
  ['an internal address', '10.0.0.3', 'three'],
  ['an external address', '1.2.3.4', 'one'],
  ['a name', 'localhost', 'two'],
  ['a name in another case', 'WIN-2.example.COM', 'two'],
  ['a name with a dot at its end', 'win-2.example.com.', 'two'],
  ['the first of two Nodes', '127.0.0.1', 'one'],
  ['no beginning of an address', '10.0.0', undefined],
  ['no longer address', '10.0.0.33', undefined],
  ['no unknown address', 'random.networkaddress', undefined],
  ['no empty address', '', undefined],
  ['no dot', '.', undefined],
];
for (const [name, address, want] of finds) {
  test(`finds a Node by ${name}`, () => expect(findNodeByAddress(address, nodes)?.name).toBe(want));
}

test('finds no Node in an empty list', () => expect(findNodeByAddress('10.0.0.3', [])).toBeUndefined());
