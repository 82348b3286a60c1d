import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { attempt } from '#base/errors.ts';
import { type Ipv4Answers, resolveInstances, usernameForNode } from './instances.ts';
import type { NodeView } from './node.ts';

const node = (name: string, ...addresses: string[]): NodeView => ({
  name,
  uid: '',
  labels: {},
  annotations: {},
  addresses: addresses.map(address => ({ type: 'InternalIP', address })),
  ready: true,
  unschedulable: false,
});

const resolved = (data: Record<string, string>, answers: Ipv4Answers = {}, nodes: NodeView[] = []) => {
  const { instances, failures } = resolveInstances(data, answers, nodes);
  return {
    instances: instances.map(one => [one.address, one.ipv4, one.username, one.node?.name]),
    failures: failures.map(one => [one.address, one.error.code]),
  };
};

test('no entries give no instances', () => expect(resolved({})).toEqual({ instances: [], failures: [] }));

test('an address needs no DNS, even where DNS has another answer', () => {
  expect(resolved({ '10.0.0.1': 'username=core' }, { '10.0.0.1': '10.9.9.9' })).toEqual({
    instances: [['10.0.0.1', '10.0.0.1', 'core', undefined]],
    failures: [],
  });
});

const answers: [string, Ipv4Answers, boolean][] = [
  ['an IPv4 address', { 'win-1': '10.0.0.1' }, true],
  ['no answer', {}, false],
  ['an answer without address', { 'win-1': null }, false],
  ['an answer that is undefined', { 'win-1': undefined }, false],
  ['an empty answer', { 'win-1': '' }, false],
  ['an IPv6 address', { 'win-1': 'fd00::1' }, false],
  ['a name', { 'win-1': 'win-2' }, false],
  ['an answer for another name', { 'win-2': '10.0.0.1' }, false],
];
for (const [name, known, isGood] of answers) {
  test(`${name} from DNS: ${isGood ? 'an instance' : 'not resolved'}`, () => {
    const got = resolved({ 'win-1': 'username=core' }, known);
    expect(got).toEqual(
      isGood
        ? { instances: [['win-1', '10.0.0.1', 'core', undefined]], failures: [] }
        : { instances: [], failures: [['win-1', 'INSTANCE_ADDRESS_UNRESOLVED']] },
    );
  });
}

test('the error for a name that does not resolve names it', () => {
  const [failure] = resolveInstances({ 'win-1': 'username=core' }, {}, []).failures;
  expect(failure?.error.message).toBe('windows-instances: win-1 does not resolve to an IPv4 address');
  expect(failure?.error.remedy).toContain('DNS record');
});

test('names that every object inherits do not resolve by accident', () => {
  const data = { constructor: 'username=a', toString: 'username=b', valueOf: 'username=c' };
  expect(resolved(data).failures.map(([, code]) => code)).toEqual(Array(3).fill('INSTANCE_ADDRESS_UNRESOLVED'));
  expect(() => usernameForNode(data, 'win-1', {})).toThrow('no entry for node win-1');
});

test('of an address and a name that are one host the first is used and the second reported', () => {
  const data = { '10.0.0.1': 'username=a', 'win-1': 'username=b', 'win-2': 'username=c' };
  expect(resolved(data, { 'win-1': '10.0.0.1', 'win-2': '10.0.0.2' })).toEqual({
    instances: [
      ['10.0.0.1', '10.0.0.1', 'a', undefined],
      ['win-2', '10.0.0.2', 'c', undefined],
    ],
    failures: [['win-1', 'INSTANCE_DUPLICATE']],
  });
});

test('a name takes the place of its address when the entry of the address is bad', () => {
  expect(resolved({ '10.0.0.1': 'junk', 'win-1': 'username=b' }, { 'win-1': '10.0.0.1' })).toEqual({
    instances: [['win-1', '10.0.0.1', 'b', undefined]],
    failures: [['10.0.0.1', 'INSTANCE_ENTRY_MALFORMED']],
  });
});

test('selects the first Node with the resolved address of any type', () => {
  const external = { ...node('win-b'), addresses: [{ type: 'ExternalIP', address: '10.0.0.2' }] };
  const nodes = [node('linux', '10.0.0.9'), node('win-a', 'fd00::1', '10.0.0.1'), external, node('late', '10.0.0.1')];
  const data = { '10.0.0.1': 'username=a', 'win-b.example.com': 'username=b', '10.0.0.3': 'username=c' };
  expect(resolved(data, { 'win-b.example.com': '10.0.0.2' }, nodes).instances.map(([, , , name]) => name)).toEqual([
    'win-a',
    undefined,
    'win-b',
  ]);
});

test('a Node that reports only the name is not found, because the address decides', () => {
  const nodes = [node('win-1', 'win-1')];
  expect(resolved({ 'win-1': 'username=a' }, { 'win-1': '10.0.0.1' }, nodes).instances[0]?.[3]).toBeUndefined();
});

const one = { '10.0.0.1': 'username=core' };
const users: [string, Record<string, string>, string | undefined, Record<string, string>, string][] = [
  ['by the record of its host', one, 'win-1', { '10.0.0.1': 'win-1' }, 'core'],
  ['beside other entries', { ...one, '10.0.0.2': 'username=b' }, 'n', { '10.0.0.1': 'm', '10.0.0.2': 'n' }, 'b'],
  ['beside bad entries', { '10.0.0.1': 'junk', '10.0.0.2': 'username=b' }, 'n', { '10.0.0.2': 'n' }, 'b'],
  ['trimmed', { '10.0.0.1': 'username=core\n' }, 'n', { '10.0.0.1': 'n' }, 'core'],
  [
    'by a good entry where another for the same host is bad',
    { '10.0.0.1': 'junk', 'win-1': 'username=b' },
    'n',
    { '10.0.0.1': 'n', 'win-1': 'n' },
    'b',
  ],
  ['not without a Node', one, undefined, { '10.0.0.1': 'n' }, 'INSTANCE_NOT_LISTED'],
  ['not without entries', {}, 'n', { '10.0.0.1': 'n' }, 'INSTANCE_NOT_LISTED'],
  ['not without a record', one, 'n', {}, 'INSTANCE_NOT_LISTED'],
  ['not by an address', one, '10.0.0.1', {}, 'INSTANCE_NOT_LISTED'],
  ['not by part of the name', one, 'win', { '10.0.0.1': 'win-1' }, 'INSTANCE_NOT_LISTED'],
  ['not from a malformed entry', { '10.0.0.1': 'junk' }, 'n', { '10.0.0.1': 'n' }, 'INSTANCE_ENTRY_MALFORMED'],
  ['not from an empty one', { '10.0.0.1': 'username=' }, 'n', { '10.0.0.1': 'n' }, 'INSTANCE_USERNAME_INVALID'],
];
for (const [name, data, of, recorded, want] of users) {
  test(`finds the user of a Node ${name}`, () => {
    const result = attempt(() => usernameForNode(data, of, recorded));
    expect(result.ok ? result.value : result.error.code).toBe(want);
  });
}

test('the error for a Node that is not listed names ConfigMap and Node', () => {
  const [listed, none] = ['win-1', undefined].map(name => attempt(() => usernameForNode({}, name, {})));
  expect(listed).toMatchObject({ error: { message: 'windows-instances: no entry for node win-1' } });
  expect(none).toMatchObject({ error: { message: 'windows-instances: no entry for node (none)' } });
});

const junk = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('10.0.0.1', 'win-1', 'WIN-1', '__proto__', 'constructor', '::1', '', '.', '1.2', '10.0.0.1.'),
);
const value = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string().map(text => `username=${text}`),
);
const map = fc.array(fc.tuple(junk, value), { maxLength: 6 }).map(list => Object.fromEntries(list));
const answersOf = fc.dictionary(junk, fc.oneof(fc.ipV4(), fc.constantFrom('', 'x', '::1', null, '10.0.0.1')));

test('every entry becomes an instance or a failure for any DNS answers, and no address is used twice', () => {
  fc.assert(
    fc.property(map, answersOf, (data, known) => {
      const { instances, failures } = resolveInstances(data, known, [node('n', '10.0.0.1')]);
      expect([...instances, ...failures].map(one => one.address).toSorted()).toEqual(Object.keys(data).toSorted());
      expect(new Set(instances.map(one => one.ipv4)).size).toBe(instances.length);
      attempt(() => usernameForNode(data, '10.0.0.1', known as Record<string, string>));
    }),
    { numRuns: 2000 },
  );
});
