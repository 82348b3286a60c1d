import { expect, test } from 'vitest';
import type { MachineSet } from '#kube/resources-openshift.ts';
import { instanceOf, machineOf, nodeOf, statuses, viewOf } from '../../../../test/kit/status-views.ts';
import { hostViews } from './cluster-hosts.ts';
import type { ClusterView } from './host-view.ts';

const role = 'node-role.kubernetes.io/worker';
const setOf = (labels?: Record<string, string>): MachineSet => ({
  metadata: { name: 'winworker', namespace: 'openshift-machine-api' },
  spec: { template: { spec: { metadata: { ...(labels && { labels }) } } } },
});
const ownerReferences = [
  { apiVersion: 'machine.openshift.io/v1beta1', kind: 'MachineSet', name: 'winworker', uid: 'u' },
];
const instances = [
  instanceOf(
    'm1',
    { ...structuredClone(statuses.ready), node: 'node-m1' },
    { source: { kind: 'Machine', name: 'm1' } },
  ),
];
const machines = [machineOf('m1', 'Running', { ownerReferences })];
const withoutRole = [nodeOf('node-m1', { labels: { 'kubernetes.io/os': 'windows' } })];
const hostOf = (over: Partial<ClusterView>) =>
  hostViews(viewOf({ instances, machines, nodes: withoutRole, machineSets: [setOf()], ...over }))[0];

test('names the MachineSet that lacks the label, and how to add it', () => {
  const host = hostOf({});
  expect(host).toMatchObject({ phase: 'Ready', tone: 'good', note: 'no worker role' });
  expect(host?.problem?.message).toBe(
    `Node node-m1 has no worker role: MachineSet winworker lacks the label ${role} in spec.template.spec.metadata.labels`,
  );
  expect(host?.problem?.remedy).toContain(`kubectl label node node-m1 ${role}=`);
  const [, patch = '{}'] = /-p '([^']+)'/.exec(host?.problem?.remedy ?? '') ?? [];
  expect(JSON.parse(patch)).toEqual({ spec: { template: { spec: { metadata: { labels: { [role]: '' } } } } } });
});

const others: [what: string, over: Partial<ClusterView>, remedy: string | undefined][] = [
  ['the Node has the role', { nodes: [nodeOf('node-m1')] }, undefined],
  [
    'the MachineSet has the label',
    { machineSets: [setOf({ [role]: '' })] },
    `Run \`kubectl label node node-m1 ${role}=\`.`,
  ],
  ['there is no MachineSet', { machineSets: [] }, `Run \`kubectl label node node-m1 ${role}=\`.`],
  ['there is no Machine', { machines: [] }, `Run \`kubectl label node node-m1 ${role}=\`.`],
];
for (const [what, over, remedy] of others) {
  test(`the advice when ${what}`, () => expect(hostOf(over)?.problem?.remedy).toBe(remedy));
}
