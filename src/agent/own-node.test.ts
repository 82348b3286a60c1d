import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { nodeLabel } from '#contract/names.ts';
import { findOwnNode, type LocalAddress } from './own-node.ts';

const windows = { [nodeLabel.os]: 'windows' };
const linux = { [nodeLabel.os]: 'linux' };
const local = (...addresses: string[]): LocalAddress[] =>
  addresses.map(address => ({ address, cidr: `${address}/24` }));

interface TestNode {
  name: string;
  labels: Record<string, string>;
  addresses: { type: string; address: string }[];
}
const node = (
  name: string,
  labels: Record<string, string>,
  ...addresses: [type: string, address: string][]
): TestNode => ({
  name,
  labels,
  addresses: addresses.map(([type, address]) => ({ type, address })),
});

const found: [string, TestNode[], LocalAddress[], string, string][] = [
  ['the Windows node with our address', [node('a', windows, ['InternalIP', '10.0.0.1'])], local('10.0.0.1'), '', 'a'],
  ['a node without labels', [node('a', {}, ['', '10.0.0.1'])], local('10.0.0.1'), '', 'a'],
  ['a node by another type of address', [node('a', windows, ['ExternalIP', '10.0.0.1'])], local('10.0.0.1'), '', 'a'],
  [
    'the node of the second address',
    [node('a', windows, ['InternalIP', '10.0.0.2'])],
    local('10.0.0.1', '10.0.0.2'),
    '',
    'a',
  ],
  [
    'the node of an address mapped into IPv6',
    [node('a', windows, ['InternalIP', '10.0.0.1'])],
    local('::FFFF:10.0.0.1'),
    '',
    'a',
  ],
  [
    'the Windows node before a Linux node with the same address',
    [node('l', linux, ['InternalIP', '10.0.0.1']), node('w', windows, ['', '10.0.0.1'])],
    local('10.0.0.1'),
    '',
    'w',
  ],
  [
    'the labelled node before one without labels',
    [node('x', {}, ['InternalIP', '10.0.0.1']), node('w', windows, ['InternalIP', '10.0.0.1'])],
    local('10.0.0.1'),
    '',
    'w',
  ],
  [
    'the node with an InternalIP before one with another type',
    [node('x', windows, ['ExternalIP', '10.0.0.1']), node('w', windows, ['InternalIP', '10.0.0.1'])],
    local('10.0.0.1'),
    '',
    'w',
  ],
  [
    'the InternalIP of a later address before another type of the first',
    [node('x', windows, ['ExternalIP', '10.0.0.1']), node('w', windows, ['InternalIP', '10.0.0.2'])],
    local('10.0.0.1', '10.0.0.2'),
    '',
    'w',
  ],
  [
    'of two equal nodes the one with our host name',
    [node('old', windows, ['InternalIP', '10.0.0.1']), node('win1.example.com', windows, ['InternalIP', '10.0.0.1'])],
    local('10.0.0.1'),
    'WIN1',
    'win1.example.com',
  ],
  [
    'of two equal nodes the one that reports our host name',
    [
      node('x', windows, ['InternalIP', '10.0.0.1']),
      node('y', windows, ['InternalIP', '10.0.0.1'], ['Hostname', 'win1']),
    ],
    local('10.0.0.1'),
    'win1',
    'y',
  ],
  [
    'the address before the host name',
    [node('win1', windows, ['InternalIP', '10.0.0.9']), node('other', windows, ['InternalIP', '10.0.0.1'])],
    local('10.0.0.1'),
    'win1',
    'other',
  ],
  [
    'of two equal nodes the one of our first address',
    [node('b', windows, ['InternalIP', '10.0.0.2']), node('a', windows, ['InternalIP', '10.0.0.1'])],
    local('10.0.0.1', '10.0.0.2'),
    '',
    'a',
  ],
  [
    'of two nodes alike the first',
    [node('a', windows, ['InternalIP', '10.0.0.1']), node('b', windows, ['InternalIP', '10.0.0.1'])],
    local('10.0.0.1'),
    '',
    'a',
  ],
];
for (const [title, nodes, addresses, hostName, want] of found) {
  test(`finds ${title}`, () => expect(findOwnNode(nodes, addresses, hostName).name).toBe(want));
}

test('does without a host name', () => {
  expect(findOwnNode([node('a', {}, ['', '10.0.0.1'])], local('10.0.0.1')).name).toBe('a');
});

const missing: [string, TestNode[], LocalAddress[]][] = [
  ['without nodes', [], local('10.0.0.1')],
  ['without addresses', [node('a', windows, ['InternalIP', '10.0.0.1'])], []],
  ['with another address', [node('a', windows, ['InternalIP', '10.0.0.9'])], local('10.0.0.1')],
  ['with part of an address', [node('a', windows, ['InternalIP', '10.0.0.11'])], local('10.0.0.1')],
  ['on a Linux node', [node('a', linux, ['InternalIP', '10.0.0.1'])], local('10.0.0.1')],
  ['on a node of unknown system', [node('a', { [nodeLabel.os]: '' }, ['InternalIP', '10.0.0.1'])], local('10.0.0.1')],
  ['by loopback', [node('a', windows, ['InternalIP', '127.0.0.1'])], local('127.0.0.1')],
  ['by another loopback', [node('a', windows, ['InternalIP', '127.9.9.9'])], local('127.9.9.9')],
  ['by a link-local address', [node('a', windows, ['InternalIP', '169.254.1.1'])], local('169.254.1.1')],
  ['by IPv6', [node('a', windows, ['InternalIP', 'fd00::1'])], local('fd00::1')],
  ['by what is no address', [node('a', windows, ['InternalIP', 'Ethernet'])], local('Ethernet')],
  ['by an empty address', [node('a', windows, ['InternalIP', ''])], local('')],
  ['by what is no network', [node('a', windows, ['', '10.0.0.1'])], [{ address: '10.0.0.1', cidr: null }]],
  ['by its host name alone', [node('win1', windows, ['Hostname', 'win1'])], local('10.0.0.1')],
];
for (const [title, nodes, addresses] of missing) {
  test(`finds no node ${title}`, () => {
    const wanted = { code: 'NODE_NOT_FOUND', remedy: expect.stringMatching(/\S/) };
    expect(() => findOwnNode(nodes, addresses, 'win1')).toThrow(expect.objectContaining(wanted));
    expect(() => findOwnNode(nodes, addresses, 'win1')).toThrow(/unable to find associated node/);
  });
}

test('names the addresses it looked for', () => {
  expect(() => findOwnNode([], local('10.0.0.1', '127.0.0.1', '10.0.0.2'))).toThrow(/\(10\.0\.0\.1, 10\.0\.0\.2\)/);
  expect(() => findOwnNode([], local('127.0.0.1'))).toThrow(/\(it has none\)/);
});

test('never finds a node of another system or without our address', () => {
  const address = fc.constantFrom<string[]>('10.0.0.1', '10.0.0.2', '127.0.0.1', '169.254.0.1', 'fd00::1', '', 'x');
  const labels = fc.constantFrom(windows, linux, {});
  const someNode = fc
    .tuple(fc.constantFrom('a', 'b'), labels, fc.constantFrom('InternalIP', 'Hostname', ''), address)
    .map(([name, label, type, text]) => node(name, label, [type, text]));
  fc.assert(
    fc.property(fc.array(someNode), fc.array(address), (nodes, own) => {
      try {
        const { labels: label, addresses } = findOwnNode(nodes, local(...own));
        return label !== linux && addresses.some(item => item.address.startsWith('10.') && own.includes(item.address));
      } catch (error) {
        return error instanceof AppError;
      }
    }),
    { numRuns: 1000 },
  );
});
