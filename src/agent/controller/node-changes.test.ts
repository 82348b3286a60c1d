import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import type { Node } from '#kube/resources.ts';
import { nodeChanges } from './node-changes.ts';

const { version, desiredVersion, desiredServices, rebootRequired, hybridOverlaySubnet } = nodeAnnotation;
const node = (annotations: Record<string, string> = {}, over: Partial<Node> = {}): Node => ({
  metadata: { name: 'win-1', annotations, resourceVersion: '1' },
  ...over,
});
const status = (ready: string, heartbeat = '') => ({
  status: { conditions: [{ type: 'Ready', status: ready, lastHeartbeatTime: heartbeat }] },
});

const cases: [name: string, old: Node, now: Node, isWorthAPass: boolean][] = [
  ['a desired version that comes', node(), node({ [desiredVersion]: 'v1' }), true],
  ['a desired version that changes', node({ [desiredVersion]: 'v1' }), node({ [desiredVersion]: 'v2' }), true],
  ['settings that are released', node({ [desiredServices]: 'a' }), node({ [desiredServices]: 'b' }), true],
  ['a reboot that is asked for', node(), node({ [rebootRequired]: '' }), true],
  ['a reboot that is over', node({ [rebootRequired]: '' }), node(), true],
  ['a subnet that commands are made of', node(), node({ [hybridOverlaySubnet]: '10.132.1.0/24' }), true],
  ['annotations that come where there were none', { metadata: { name: 'win-1' } }, node({ a: 'b' }), true],
  ['a Node that becomes ready', node({}, status('False')), node({}, status('True')), true],
  ['a Node that is no longer ready', node({}, status('True')), node({}, status('Unknown')), true],
  ['the version that comes from our report', node(), node({ [version]: 'v1' }), false],
  ['a version that was taken away, to be reported again', node({ [version]: 'v1' }), node(), true],
  ['a sign of life', node({}, status('True', '12:00')), node({}, status('True', '12:05')), false],
  ['another order of annotations', node({ a: 'b', c: 'd' }), node({ c: 'd', a: 'b' }), false],
  ['a label', node(), { metadata: { ...node().metadata, labels: { a: 'b' } } }, false],
  ['a taint', node(), node({}, { spec: { unschedulable: true } }), false],
  ['nothing', node({ a: 'b' }), node({ a: 'b' }), false],
];
for (const [name, old, now, isWorthAPass] of cases) {
  test(`${isWorthAPass ? 'reconciles on' : 'ignores'} ${name}`, () =>
    expect(nodeChanges.updated?.(old, now)).toBe(isWorthAPass));
}

test('reconciles when a Node is created or deleted', () => {
  expect([nodeChanges.added?.(node()), nodeChanges.deleted?.(node())]).toEqual([true, true]);
});
