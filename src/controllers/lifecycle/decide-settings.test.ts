import { expect, test } from 'vitest';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { journeyNames, type WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { type Decision, decide } from './decide.ts';

/** Settings that have changed, on hosts in the middle of something else. */

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const host = { name: 'win-5', addresses: ['10.0.0.5'] };
const agent = { keyHash: 'a', installed: '2026-03-01T11:00:00Z', certificateEnds: '2026-03-01T13:00:00Z' };
const instance = (): WindowsInstance => ({
  metadata: { name: 'win-5' },
  spec: { address: '10.0.0.5', username: 'Administrator' },
  status: { host, agent },
});
const node = (annotations: Record<string, string>): NodeView => ({
  name: 'win-5',
  uid: 'u',
  labels: {},
  annotations,
  addresses: [],
  ready: true,
  unschedulable: false,
});
const { version } = nodeAnnotation;
const all = new Set(journeyNames);
const configured = node({ [version]: 'v2' });

const soaking = { from: 'v1', to: 'v2', staged: 'x', activated: 'x', ready: 'x' };
const unsettled: [string, WindowsInstanceStatus, NodeView | undefined, Decision['do']][] = [
  [
    'a host that waits for its upgrade gets files, but keeps its services',
    { version: 'v1' },
    node({ [version]: 'v1' }),
    'refresh',
  ],
  ['a node that soaks gets files', { version: 'v2', upgrade: soaking }, configured, 'refresh'],
  [
    'a host in the middle of a failed upgrade gets nothing',
    { version: 'v1', upgrade: { ...soaking, failed: { code: 'X', message: '', at: '' }, fromAgent: 'a' } },
    node({ [version]: 'v1' }),
    'wait',
  ],
];
test.each(unsettled)('%s', (_, status, seen, want) => {
  const known = { ...instance(), status: { ...instance().status, ...status } };
  const gates = { upgrade: 'budget', rollback: 'budget' };
  const facts = { instance: known, node: seen, version: 'v2', problem: undefined, nowMs, journeys: all, gates };
  const decision = decide({ ...facts, desired: { fileHash: 'b', servicesHash: 'b' }, given: {} });
  expect(decision.do === 'report' ? 'wait' : decision.do).toBe(want);
});

test('services are not restarted while a node soaks, nor with the services of another version', () => {
  for (const status of [{ version: 'v2', upgrade: soaking }, { version: 'v1' }]) {
    const known = { ...instance(), status: { ...instance().status, ...status } };
    const facts = { instance: known, node: configured, version: 'v2', problem: undefined, nowMs, journeys: all };
    const gates = { upgrade: 'budget' };
    expect(decide({ ...facts, gates, desired: { servicesHash: 'b' }, given: {} }).do).toBe('report');
  }
});

const failed = { code: 'X', message: '', at: '' };
test.each([
  ['was staged for another version', { from: 'v2', to: 'v3', staged: 'x' }],
  ['went back from another version', { ...soaking, from: 'v2', to: 'v3', failed, rolledBack: 'x' }],
])('a host of this version that %s has its services restarted', (_, upgrade) => {
  const known = { ...instance(), status: { ...instance().status, version: 'v2', upgrade } };
  const facts = { instance: known, node: configured, version: 'v2', problem: undefined, nowMs, journeys: all };
  expect(decide({ ...facts, desired: { servicesHash: 'b' }, given: { servicesHash: 'a' } }).do).toBe('restart');
});

test('a host whose services use a proxy that is gone keeps its files until they do not', () => {
  const known = { ...instance(), status: { ...instance().status, version: 'v2', upgrade: soaking } };
  const facts = { instance: known, node: configured, version: 'v2', problem: undefined, nowMs, journeys: all };
  const desired = { fileHash: 'b', servicesHash: 'b', hasProxy: false };
  expect(decide({ ...facts, desired, given: { fileHash: 'a', servicesHash: 'a', hasProxy: true } }).do).toBe('report');
  expect(decide({ ...facts, desired, given: { fileHash: 'a', servicesHash: 'b', hasProxy: true } }).do).toBe('refresh');
});

test('an agent of the Go operator is replaced before it gets anything', () => {
  const known = { ...instance(), status: { host, version: 'v1' } };
  const facts = {
    instance: known,
    node: node({ [version]: 'v1' }),
    version: 'v2',
    problem: undefined,
    nowMs,
    journeys: all,
  };
  expect(decide({ ...facts, gates: { upgrade: 'budget' }, desired: { fileHash: 'b' }, given: {} }).do).toBe('report');
});
