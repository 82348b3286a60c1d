import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { condition, instanceOf, nodeOf, statuses, viewOf } from '../../../../test/kit/status-views.ts';
import { hostViews } from './cluster-hosts.ts';

const user = 'username=Administrator';
const short = (view: Parameters<typeof hostViews>[0]) =>
  hostViews(view).map(({ name, phase, tone, problem }) => [name, phase, tone, problem?.code]);

test('an empty cluster has no hosts', () => expect(hostViews(viewOf())).toEqual([]));

test('an entry with an instance is one host', () => {
  const instances = [instanceOf('10.0.0.1')];
  expect(short(viewOf({ instances, entries: { '10.0.0.1': user } }))).toEqual([
    ['10.0.0.1', 'Pending', 'busy', undefined],
  ]);
});

test('an entry without an instance is Pending with a note', () => {
  const [host] = hostViews(viewOf({ entries: { 'Win1.Example.com.': user } }));
  expect(host).toMatchObject({ name: 'win1.example.com', phase: 'Pending', source: { name: 'Win1.Example.com.' } });
  expect(host?.note).toBe('listed in windows-instances; waiting for the operator');
});

test('the instance of an entry is found however its name is spelled', () => {
  const instances = [
    instanceOf('win1.example.com', undefined, { source: { kind: 'ConfigMap', name: 'Win1.example.com' } }),
  ];
  expect(hostViews(viewOf({ instances, entries: { 'WIN1.example.com': user } }))).toHaveLength(1);
});

const badEntries: [name: string, entry: Record<string, string>, code: string][] = [
  ['an address that is none', { bad_name: user }, 'INSTANCE_ADDRESS_INVALID'],
  ['an IPv6 address', { 'fd00::1': user }, 'INSTANCE_ADDRESS_INVALID'],
  ['a value of another form', { '10.0.0.1': 'password=geheim' }, 'INSTANCE_ENTRY_MALFORMED'],
  ['an empty user', { '10.0.0.1': 'username=' }, 'INSTANCE_USERNAME_INVALID'],
];
for (const [name, entries, code] of badEntries) {
  test(`${name} becomes a rejected host, without its value`, () => {
    const [host] = hostViews(viewOf({ entries }));
    expect(host).toMatchObject({ phase: 'Rejected', tone: 'bad', problem: { code }, instance: undefined });
    expect(host?.problem?.remedy).toMatch(/\.$/);
    expect(JSON.stringify(host)).not.toContain('geheim');
  });
}

test('an invalid entry with an instance is one host', () => {
  const view = viewOf({ instances: [instanceOf('10.0.0.1')], entries: { '10.0.0.1': 'nonsense' } });
  expect(short(view)).toEqual([['10.0.0.1', 'Pending', 'busy', undefined]]);
});

test('a second entry of the same host is listed beside the instance of the first', () => {
  const instances = [instanceOf('win1', undefined, { source: { kind: 'ConfigMap', name: 'WIN1' } })];
  const view = viewOf({ instances, entries: { WIN1: user, win1: user } });
  expect(short(view)).toEqual([
    ['win1', 'Pending', 'busy', undefined],
    ['win1', 'Duplicate', 'bad', 'INSTANCE_DUPLICATE'],
  ]);
});

test('an invalid entry does not hide others', () => {
  const entries = { bad_name: user, '10.0.0.2': user, '10.0.0.1': 'x' };
  expect(short(viewOf({ entries })).map(([name, phase]) => [name, phase])).toEqual([
    ['10.0.0.1', 'Rejected'],
    ['10.0.0.2', 'Pending'],
    ['bad_name', 'Rejected'],
  ]);
});

test('sorts hosts by name, numbers as numbers', () => {
  const names = ['10.0.0.12', '10.0.0.9', 'win-10', 'win-2'];
  const instances = names.toReversed().map(name => instanceOf(name));
  expect(hostViews(viewOf({ instances })).map(({ name }) => name)).toEqual([
    '10.0.0.9',
    '10.0.0.12',
    'win-2',
    'win-10',
  ]);
});

test('every entry of any ConfigMap is listed once or has an instance', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string()), entries => {
      expect(hostViews(viewOf({ entries }))).toHaveLength(Object.keys(entries).length);
    }),
    { numRuns: 1000 },
  );
});

test('a Ready host whose kubelet cannot be reached works, with advice', () => {
  const conditions = [
    ...statuses.ready.conditions,
    condition('KubeletReachable', 'False', 'KUBELET_UNREACHABLE', 'Open it.'),
  ];
  const instances = [instanceOf('10.0.0.1', { ...structuredClone(statuses.ready), conditions })];
  expect(hostViews(viewOf({ instances, nodes: [nodeOf('win-1')] }))).toMatchObject([
    {
      phase: 'Ready',
      tone: 'good',
      note: 'kubelet not reachable',
      problem: { code: 'KUBELET_UNREACHABLE', message: 'Open it.' },
    },
  ]);
});
