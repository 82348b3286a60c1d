import { expect, test } from 'vitest';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { evidenceOf } from './evidence.ts';

const own = '11.0.0-abc';
const identity = (keyHash: string) => ({ keyHash, installed: '2026-03-01T12:00:00Z' });
const instanceWith = (
  status?: WindowsInstanceStatus,
  spec: Partial<WindowsInstance['spec']> = {},
): WindowsInstance => ({
  metadata: { name: 'win-1', namespace: 'wmco' },
  spec: { address: '10.0.0.1', username: 'Administrator', ...spec },
  ...(status && { status }),
});

test('gives the record of an instance as evidence', () => {
  const tokens = [{ id: 'JTI=1', use: 'agent' as const, expires: '2026-03-01T13:00:00Z' }];
  const status: WindowsInstanceStatus = {
    node: 'win-1.corp',
    ipv4: '10.0.0.7',
    version: own,
    host: { name: 'win-1.corp', addresses: ['10.0.0.1'] },
    tokens,
    agent: identity('a'),
    cloudNode: identity('c'),
  };
  expect(evidenceOf(instanceWith(status, { servingNames: ['alias'] }), own)).toEqual({
    label: 'WindowsInstance wmco/win-1',
    isMachine: false,
    node: 'win-1.corp',
    addresses: ['10.0.0.1'],
    servingNames: ['alias'],
    tokens,
    agentKeyHash: 'a',
    cloudKeyHash: 'c',
    hasFormerAgent: false,
  });
});

test('an instance without a record is no evidence for any Node', () => {
  expect(evidenceOf(instanceWith(undefined, { address: 'win-1.corp', hostname: 'win-1' }), own)).toMatchObject({
    node: '',
    addresses: [],
    tokens: [],
    agentKeyHash: undefined,
    hasFormerAgent: false,
  });
});

test('the name read from the host counts before that of an earlier Node', () => {
  const host = { name: 'new', addresses: [] };
  expect(evidenceOf(instanceWith({ node: 'old', host }), own).node).toBe('new');
  expect(evidenceOf(instanceWith({ node: 'old' }), own).node).toBe('old');
});

test('knows the hosts of Machines', () => {
  const machine = { source: { kind: 'Machine' as const, name: 'm' } };
  expect(evidenceOf(instanceWith(undefined, machine), own).isMachine).toBe(true);
});

const formers: [string, WindowsInstanceStatus, boolean][] = [
  ['another version without a key', { version: '10.0.0-x' }, true],
  ['another version with a key', { version: '10.0.0-x', agent: identity('a') }, false],
  ['this version without a key', { version: own }, false],
  ['no version', {}, false],
];
for (const [title, status, want] of formers) {
  test(`${want ? 'takes' : 'does not take'} ${title} for an agent of the Go operator`, () =>
    expect(evidenceOf(instanceWith(status), own).hasFormerAgent).toBe(want));
}
