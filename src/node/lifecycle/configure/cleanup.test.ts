import { expect, test } from 'vitest';
import type { NodeView } from '#contract/node.ts';
import { needsCleanup, type Remains } from './cleanup.ts';

const service = (name: string, isManaged = true) => ({ name, state: 'running', command: '', isManaged });
const node = { name: 'win-5' } as NodeView;
const ours = { services: [service('kubelet')], stagedVersion: 'v2' };

const remains: [string, Partial<Remains>, boolean][] = [
  ['nothing from a fresh host', { inventory: { services: [], stagedVersion: '' } }, false],
  ['nothing of somebody else', { inventory: { services: [service('kubelet', false)], stagedVersion: '' } }, false],
  ['nothing from a Node that this version has set up', { node }, false],
  ['nothing that this journey has set up, while its Node comes', { awaitsNode: true }, false],
  ['what has lost its Node', {}, true],
  ['what another version has set up', { node, inventory: { ...ours, stagedVersion: 'v1' } }, true],
  [
    'what another version has set up, in the middle of a journey',
    { awaitsNode: true, inventory: { ...ours, stagedVersion: 'v1' } },
    true,
  ],
  ['what the Go operator has set up', { node, inventory: { ...ours, stagedVersion: '' } }, true],
  [
    'a single service that is left',
    { inventory: { services: [service('x', false), service('left')], stagedVersion: 'v1' } },
    true,
  ],
];
for (const [name, over, want] of remains) {
  test(`removes ${name}`.replace('removes nothing', 'takes nothing'), () => {
    expect(needsCleanup({ inventory: ours, node: undefined, version: 'v2', awaitsNode: false, ...over })).toBe(want);
  });
}
