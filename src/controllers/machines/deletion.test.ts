import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { configured, machine, node, ready, version } from '../../../test/kit/machine-views.ts';
import type { OutsideBudget } from '#node/rollout/budget.ts';
import { deletionAllowed, isHealthyMachine, isUnfinished, type MachineView } from './decide.ts';

const otherKey = { ...configured, [nodeAnnotation.pubKeyHash]: 'other' };

const health: [string, Partial<MachineView>, unfinished: string[], boolean][] = [
  ['a running machine with a finished node', {}, [], true],
  ['a machine beside one that is not finished', {}, ['m2'], true],
  ['not a machine that is not finished', {}, ['m1'], false],
  ['not a machine without node reference', { nodeRef: undefined }, [], false],
  ['not a machine in another phase with a node', { phase: 'Provisioned' }, [], false],
  ['not a machine without phase', { phase: undefined }, [], false],
  ['not a deleting machine', { deleting: true }, [], false],
  ['not a machine whose node is missing', { nodeRef: { name: 'gone', uid: '' } }, [], false],
  ['not a machine whose node was recreated', { nodeRef: { name: 'n1', uid: 'old' } }, [], false],
  ['a machine whose reference has no UID', { nodeRef: { name: 'n1', uid: '' } }, [], true],
];
for (const [title, change, names, want] of health) {
  test(`healthy is ${title}, whatever is written on its Node`, () => {
    for (const annotations of [configured, otherKey, {}]) {
      const fleet = { nodes: [node(1, annotations)], unfinished: new Set(names) };
      expect(isHealthyMachine({ ...ready, ...change }, fleet)).toBe(want);
    }
  });
}

const begun = { host: { name: 'n1', addresses: [] } };
const records: [string, WindowsInstanceStatus, boolean][] = [
  ['a host that nothing is recorded of is not ours to finish', {}, false],
  ['nor is one that has not let us in', { phase: 'Failed' }, false],
  ['a host that has begun to join is unfinished', { ...begun, phase: 'Configuring' }, true],
  ['one with a version is finished', { ...begun, version }, false],
  ['one of another version, too', { ...begun, version: 'v0' }, false],
  ['it stays finished while it is set up again', { ...begun, version, nodeUID: 'u1', phase: 'Configuring' }, false],
  ['and while it does not answer', { ...begun, version, nodeUID: 'u1', phase: 'Failed' }, false],
  ['one whose Node was made again is unfinished', { ...begun, version, nodeUID: 'former' }, true],
];
for (const [title, status, want] of records) {
  test(`by the record: ${title}`, () => expect(isUnfinished(ready, status)).toBe(want));
}

const all = [machine(1), machine(2), machine(3)];
const nodes = [node(1), node(2), node(3)];
const deletions: [string, MachineView, MachineView[], number | undefined, NodeView[], true | string, string?][] = [
  ['a machine while all others are healthy', machine(1), all, 3, nodes, true],
  ['the only machine of its set', machine(1), [machine(1)], 1, [node(1)], true],
  ['a machine of a set of one, though another is being made', machine(1), [machine(1), machine(2)], 1, [node(1)], true],
  ['a machine that never became a node', machine(1, { nodeRef: undefined }), all, 3, nodes, true],
  ['a machine whose node was never finished', machine(1), all, 3, [node(1)], true, 'm1'],
  ['not a machine that takes the version off its Node', machine(1), all, 3, [node(1, {}), node(2)], 'limit'],
  ['a machine beside more machines than wanted', machine(1), [...all, machine(4)], 3, [...nodes, node(4)], true],
  [
    'a machine beside unhealthy ones of other sets',
    machine(1),
    [...all, machine(4, { machineSet: 'x' })],
    3,
    nodes,
    true,
  ],
  ['a machine beside one without owner', machine(1), [...all, machine(4, { machineSet: undefined })], 3, nodes, true],
  ['not while another has no node', machine(1), all, 3, [node(1), node(2)], 'limit'],
  ['not while another is not finished', machine(1), all, 3, nodes, 'limit', 'm3'],
  [
    'a machine beside one that takes the version off its Node',
    machine(1),
    all,
    3,
    [node(1), node(2), node(3, {})],
    true,
  ],
  [
    'not while another is being deleted',
    machine(1),
    [machine(1), machine(2), machine(3, { deleting: true })],
    3,
    nodes,
    'limit',
  ],
  ['not while another is being made', machine(1), [machine(1), machine(2)], 3, nodes, 'limit'],
  [
    'not while another has a node but does not run',
    machine(1),
    [machine(1), machine(2), machine(3, { phase: 'Provisioned' })],
    3,
    nodes,
    'limit',
  ],
  [
    'not while another runs without node reference',
    machine(1),
    [machine(1), machine(2), machine(3, { nodeRef: undefined })],
    3,
    nodes,
    'limit',
  ],
  ['not a deleting machine', machine(1, { deleting: true }), all, 3, nodes, 'deleting'],
  ['not a machine without owner', machine(1, { machineSet: undefined }), all, 3, nodes, 'owner'],
  ['not the new machine without owner', machine(1, { machineSet: undefined, nodeRef: undefined }), all, 1, [], 'owner'],
  ['not a machine whose set is gone', machine(1), all, undefined, nodes, 'owner'],
  ['not a machine of a set that wants none', machine(1), [machine(1)], 0, [node(1)], 'owner'],
];
for (const [title, one, machines, replicas, known, want, unfinished = ''] of deletions) {
  test(`allows to delete ${title}`, () => {
    const fleet = { machines, replicas, nodes: known, unfinished: new Set([unfinished]) };
    const deletion = deletionAllowed(one, fleet);
    expect(deletion.allowed ? true : deletion.because).toBe(want);
    if (!deletion.allowed) expect(deletion.why).toMatch(/\S/);
  });
}

const budgets: [title: string, maxUnavailable: number, working: number, want: OutsideBudget | 'limit'][] = [
  ['the whole set works', 1, 4, { machineSet: 'set', nodes: [], missing: 0 }],
  ['one Machine is missing', 1, 3, 'limit'],
  ['one is missing and two may be', 2, 3, { machineSet: 'set', nodes: [], missing: 1 }],
  ['three are missing and the last would follow', 9, 1, 'limit'],
  ['two are missing and more may be', 9, 2, { machineSet: 'set', nodes: [], missing: 2 }],
];
for (const [title, maxUnavailable, working, want] of budgets) {
  test(`with a budget of ${maxUnavailable}: ${title}`, () => {
    const machines = Array.from({ length: working }, (_, index) => machine(index + 1));
    const known = machines.map((_, index) => node(index + 1));
    const fleet = { machines, replicas: 4, nodes: known, unfinished: new Set<string>(), maxUnavailable };
    const deletion = deletionAllowed(machine(1), fleet);
    expect(deletion.allowed ? deletion.outside : deletion.because).toEqual(want);
  });
}

test('names the Nodes of Machines that are not healthy, because the budget may count them already', () => {
  const fleet = { machines: all, replicas: 3, nodes, unfinished: new Set(['m3']), maxUnavailable: 2 };
  expect(deletionAllowed(machine(1), fleet)).toEqual({
    allowed: true,
    outside: { machineSet: 'set', nodes: ['n3'], missing: 0 },
  });
});

test('a Machine without a working node needs no grant', () => {
  const fleet = { machines: all, replicas: 3, nodes, unfinished: new Set(['m1']) };
  expect(deletionAllowed(machine(1), fleet)).toEqual({ allowed: true });
});

test('never brings a set below all but one working node by its own deletions', () => {
  const someMachine = fc.record({
    phase: fc.constantFrom('Running', 'Provisioned'),
    deleting: fc.boolean(),
    finished: fc.boolean(),
    marked: fc.boolean(),
  });
  fc.assert(
    fc.property(
      fc.array(someMachine, { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 2, max: 6 }),
      (fleet, replicas) => {
        const machines = fleet.map(({ phase, deleting }, index) => machine(index, { phase, deleting }));
        const known = fleet.map((one, index) => node(index, one.marked ? configured : {}));
        const unfinished = new Set(
          machines.filter((_, index) => fleet[index]?.finished === false).map(one => one.name),
        );
        const state = { machines, replicas, nodes: known, unfinished };
        const healthy = machines.filter(one => isHealthyMachine(one, state));
        const deletable = healthy.filter(one => deletionAllowed(one, state).allowed);
        return deletable.length === 0 || healthy.length >= replicas;
      },
    ),
    { numRuns: 1000 },
  );
});
