import { expect, test } from 'vitest';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { InstanceCondition } from '#contract/windows-instance/resource.ts';
import { type Decision, decide } from './decide.ts';

const node = (annotations: Record<string, string> = {}): NodeView => ({
  name: 'win-5',
  uid: 'u',
  labels: {},
  annotations,
  addresses: [],
  ready: true,
  unschedulable: false,
});
const instance = (
  over: Partial<InstanceObject['spec']> = {},
  metadata: InstanceObject['metadata'] = {},
): InstanceObject => ({
  metadata: { name: 'win-5', ...metadata },
  spec: { address: '10.0.0.5', ...over },
});
const deleted = { deletionTimestamp: '2026-03-01T12:00:00Z' };
const { version, desiredVersion, cordoned } = nodeAnnotation;

const nowMs = Date.parse('2026-03-01T12:00:00Z');

const cases: [string, InstanceObject, NodeView | undefined, Decision['do']][] = [
  ['configures a host without a Node', instance(), undefined, 'configure'],
  ['configures a Node that nobody has finished', instance(), node({ [desiredVersion]: 'v2' }), 'configure'],
  [
    'configures a Node of which only an older version is desired',
    instance(),
    node({ [desiredVersion]: 'v1' }),
    'configure',
  ],
  ['reports a Node of this version', instance(), node({ [version]: 'v2' }), 'report'],
  ['reports a Node of another version, and leaves it as it is', instance(), node({ [version]: 'v1' }), 'report'],
  ['reports a Node with an empty version like any other', instance(), node({ [version]: '' }), 'report'],
  [
    'releases a Node that was finished and is still held back',
    instance(),
    node({ [version]: 'v2', [cordoned]: '' }),
    'release',
  ],
  ['does not release a Node of another version', instance(), node({ [version]: 'v1', [cordoned]: '' }), 'report'],
  ['goes on with a Node that is held back and not finished', instance(), node({ [cordoned]: '' }), 'configure'],
  ['leaves a host alone that is about to go', instance({}, deleted), undefined, 'leave'],
  ['leaves a Node alone whose instance is about to go', instance({}, deleted), node({ [version]: 'v2' }), 'leave'],
  ['does nothing to a paused host', instance({ paused: true }), undefined, 'pause'],
  ['does nothing to a paused Node', instance({ paused: true }), node({ [version]: 'v2', [cordoned]: '' }), 'pause'],
  ['leaves a paused host that is about to go', instance({ paused: true }, deleted), undefined, 'leave'],
  ['configures a host that is said not to be paused', instance({ paused: false }), undefined, 'configure'],
];
for (const [name, object, seen, want] of cases) {
  test(name, () => expect(decide({ instance: object, node: seen, version: 'v2', nowMs }).do).toBe(want));
}

test('says why it leaves a host alone', () => {
  const decision = decide({ instance: instance({}, deleted), node: undefined, version: 'v2', nowMs });
  expect(decision).toEqual({ do: 'leave', why: 'it is being deleted' });
});

const minute = 60_000;
const notReady = (agoMs: number, over: Partial<InstanceCondition> = {}): InstanceObject => ({
  ...instance(),
  status: {
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        reason: 'NodeNotReady',
        message: 'm',
        lastTransitionTime: new Date(nowMs - agoMs).toISOString(),
        ...over,
      },
    ],
  },
});
const back = node({ [version]: 'v2' });

const away: [string, InstanceObject, NodeView, Decision['do']][] = [
  ['reports a Node that was away for a moment', notReady(9 * minute), back, 'report'],
  [
    'goes the way again with a host that was away for longer than its agent is known',
    notReady(10 * minute),
    back,
    'configure',
  ],
  ['waits for a host that is still away', notReady(600 * minute), { ...back, ready: false }, 'report'],
  ['leaves a host of another version to an upgrade', notReady(600 * minute), node({ [version]: 'v1' }), 'report'],
  [
    'reports a long join that was cut short at its end',
    notReady(600 * minute, { reason: 'Configuring' }),
    back,
    'report',
  ],
  [
    'reports a Node that is as ready as it was',
    notReady(600 * minute, { status: 'True', reason: 'Joined' }),
    back,
    'report',
  ],
  [
    'does nothing to a paused host that was away',
    { ...notReady(600 * minute), spec: { address: 'a', paused: true } },
    back,
    'pause',
  ],
  [
    'reports a Node when it is not told since when it was away',
    notReady(0, { lastTransitionTime: 'x' }),
    back,
    'report',
  ],
];
for (const [name, object, seen, want] of away) {
  test(name, () => expect(decide({ instance: object, node: seen, version: 'v2', nowMs }).do).toBe(want));
}
