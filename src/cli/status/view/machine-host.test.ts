import { expect, test } from 'vitest';
import { machineLabel } from '#contract/names.ts';
import { instanceOf, machineOf, nodeOf, viewOf } from '../../../../test/kit/status-views.ts';
import { hostViews } from './cluster-hosts.ts';
import type { ClusterView } from './host-view.ts';

const short = (view: ClusterView) =>
  hostViews(view).map(({ name, phase, tone, problem }) => [name, phase, tone, problem?.code]);

const phases: [phase: string | undefined, want: string, tone: string, code: string | undefined][] = [
  [undefined, 'Pending', 'busy', undefined],
  ['Provisioning', 'Provisioning', 'busy', undefined],
  ['Provisioned', 'Provisioned', 'busy', undefined],
  ['Failed', 'Failed', 'bad', 'MachineFailed'],
  ['Running', 'Running', 'bad', 'MachineWithoutNode'],
];
for (const [phase, want, tone, code] of phases) {
  test(`a Machine in phase ${phase ?? '(none)'} without an instance is ${want}`, () => {
    expect(short(viewOf({ machines: [machineOf('m1', phase)] }))).toEqual([['m1', want, tone, code]]);
  });
}

const set = { metadata: { name: 'winworker', uid: 'set-1' } };
const owner = { apiVersion: 'machine.openshift.io/v1beta1', kind: 'MachineSet', name: 'winworker', uid: 'set-1' };
const running = machineOf('m1', 'Running', { ownerReferences: [owner] });
const evidence: [what: string, over: Partial<ClusterView>, remedy: RegExp][] = [
  ['everything was read and its Node is gone', { machineSets: [set] }, /kubectl delete machine m1/],
  ['no MachineSet replaces it', {}, /No MachineSet replaces this Machine/],
  [
    'another set of the same name exists',
    { machineSets: [{ metadata: { ...set.metadata, uid: 'x' } }] },
    /No MachineSet/,
  ],
  ['no operator is running', { isOperatorRunning: false }, /Start the operator in namespace ns/],
  ['Nodes could not be read', { unread: ['nodes'] }, /permission to list Nodes/],
  ['its Node exists', { nodes: [nodeOf('node-m1')] }, /check the log of the operator/],
];
for (const [what, over, remedy] of evidence) {
  test(`the remedy for a Running Machine without an instance when ${what}`, () => {
    const [host] = hostViews(viewOf({ machines: [running], ...over }));
    expect(host?.problem?.remedy).toMatch(remedy);
    if (what !== 'everything was read and its Node is gone')
      expect(host?.problem?.remedy).not.toMatch(/kubectl delete/);
  });
}

test('a Machine has its address, and a remedy when it failed', () => {
  const [host] = hostViews(viewOf({ machines: [machineOf('m1', 'Failed')] }));
  expect(host).toMatchObject({ address: '10.0.0.7', source: { kind: 'Machine', name: 'm1' } });
  expect(host?.problem?.remedy).toContain('kubectl describe machine m1 -n openshift-machine-api');
});

test('the problem of a failed Machine has the reason of its provider', () => {
  const machine = machineOf('m1', 'Failed');
  const status = { ...machine.status, errorReason: 'InvalidConfiguration', errorMessage: 'no such image' };
  const [host] = hostViews(viewOf({ machines: [{ ...machine, status }] }));
  expect(host?.problem?.message).toBe('Machine m1 has failed: InvalidConfiguration: no such image');
});

test('a Machine that is being deleted is Deleting', () => {
  const machine = machineOf('m1', 'Running', { deletionTimestamp: '2026-03-01T12:00:00Z' });
  expect(short(viewOf({ machines: [machine] }))).toEqual([['m1', 'Deleting', 'busy', undefined]]);
});

test('a Machine with an instance is one host; an ignored Machine is none', () => {
  const instances = [instanceOf('m1', undefined, { source: { kind: 'Machine', name: 'm1' } })];
  const ignored = machineOf('m2', 'Running', { labels: { [machineLabel.ignore]: 'true' } });
  expect(short(viewOf({ instances, machines: [machineOf('m1', 'Provisioned'), ignored] }))).toEqual([
    ['m1', 'Pending', 'busy', undefined],
  ]);
});

test('does not confuse Machines and entries of the same name', () => {
  const view = viewOf({ instances: [instanceOf('m1')], machines: [machineOf('m1', 'Provisioning')] });
  expect(hostViews(view)).toHaveLength(2);
});
