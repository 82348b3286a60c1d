import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { nodes } from '#kube/resources.ts';
import { JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { uploadAgent, takeInventory } from './agent-program.ts';
import { cleanUp, needsCleanup, type CleanupFacts } from './cleanup.ts';
import { connect } from './connect.ts';
import { prepareFiles } from './prepare-files.ts';

const service = (name: string, isManaged = true) => ({ name, state: 'running', command: '', isManaged });
const node = { name: 'win-5' } as NodeView;
const ours = { services: [service('kubelet')], stagedVersion: 'v2' };

const remains: [string, Partial<CleanupFacts>, boolean][] = [
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

const annotated = (annotations: Record<string, string>) => ({
  metadata: { name: 'win-5', labels: { 'kubernetes.io/os': 'windows' }, annotations },
});

/** A host on which another version runs, just before it is cleaned. */
async function benchWith(annotations: Record<string, string>): Promise<JourneyBench> {
  const lab = new JourneyBench({ record: { host: { name: 'win-5', addresses: [] } } });
  lab.putNode(annotated(annotations));
  await lab.take(connect, prepareFiles, uploadAgent);
  lab.host.faults.answer = (verb, data) =>
    verb === 'inventory' ? { ...data, stagedVersion: 'v1', services: ours.services } : data;
  await lab.take(takeInventory);
  return lab;
}
const marksOf = (lab: JourneyBench) => lab.api.peek(nodes, 'win-5')?.metadata.annotations;

test('takes the version of the agent that is gone from the Node: the next one is waited for by it', async () => {
  const lab = await benchWith({ [nodeAnnotation.version]: 'v1', other: 'stays' });
  await lab.take(cleanUp);
  expect(lab.host.verbs().at(-1)).toBe('cleanup');
  expect(marksOf(lab)).toEqual({ other: 'stays' });
});

test('clears the version in the report first, so that it does not come back to the Node', async () => {
  const lab = await benchWith({ other: 'stays' });
  await lab.take(cleanUp);
  const patches = lab.api.calls.filter(
    ({ verb, resource }) => verb === 'patch' && resource !== 'windowsinstances/status',
  );
  expect(patches.map(({ resource, body }) => [resource, body])).toEqual([
    ['configmaps', { data: { version: '' } }],
    ['nodes', { metadata: { annotations: { [nodeAnnotation.version]: null } } }],
  ]);
});
