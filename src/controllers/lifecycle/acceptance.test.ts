import { expect, test } from 'vitest';
import { type InstanceObject, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { until } from '../../../test/kit/agent-bench.ts';
import { type JoinLab, namespace, startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import { type Decision, decide } from './decide.ts';

type Accepted = 'absent' | 'True' | 'False';
const condition = (status: Exclude<Accepted, 'absent'>, reason: string) => ({
  type: instanceCondition.accepted,
  status,
  reason,
  message: 'x',
  lastTransitionTime: '2026-03-01T12:00:00Z',
});
const version = 'v2';
const node = (annotations: Record<string, string>): NodeView => ({
  name: 'win-5',
  uid: 'u',
  labels: {},
  annotations,
  addresses: [],
  ready: true,
  unschedulable: false,
});
const finished = node({ [nodeAnnotation.version]: version });

const cases: [about: string, accepted: Accepted, reason: string, of: NodeView | undefined, want: Decision['do']][] = [
  ['sets up a host of which nothing is said', 'absent', '', undefined, 'configure'],
  ['sets up a host that is accepted', 'True', 'Accepted', undefined, 'configure'],
  ['leaves a host that is not', 'False', 'INSTANCE_ENTRY_MALFORMED', undefined, 'leave'],
  ['leaves a host that is not, in the middle of its way', 'False', 'PRIVATE_KEY_MISSING', node({}), 'leave'],
  ['tells how the node is of one whose entry broke', 'False', 'INSTANCE_ENTRY_MALFORMED', finished, 'report'],
  ['tells nothing of a node that another instance speaks of', 'False', 'INSTANCE_DUPLICATE', finished, 'leave'],
];
for (const [about, accepted, reason, of, want] of cases) {
  test(about, () => {
    const conditions = accepted === 'absent' ? [] : [condition(accepted, reason)];
    const agent = { keyHash: 'a', installed: '2026-03-01T12:00:00Z' };
    const status = { conditions, agent };
    const instance: InstanceObject = { metadata: { name: 'win-5' }, spec: { address: 'x' }, status };
    const decision = decide({ instance, node: of, version, nowMs: 0 });
    expect(decision.do).toBe(want);
    if (decision.do === 'leave') expect(decision.why).toContain(reason);
  });
}

async function say(lab: JoinLab, accepted: Exclude<Accepted, 'absent'>): Promise<void> {
  const { conditions = [] } = (await lab.instance()).status ?? {};
  const others = conditions.filter(({ type }) => type !== instanceCondition.accepted);
  const body = { status: { conditions: [...others, condition(accepted, 'INSTANCE_DUPLICATE')] } };
  await lab.client.patch(windowsInstances, 'win-5', { type: 'merge', body }, { namespace, subresource: 'status' });
}

test('a host is left alone until it is accepted', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  await lab.add();
  await say(lab, 'False');
  lab.start();
  await until(async () => lab.logged.messages('info').includes('Skipping host'));
  expect(host.connectionCount).toBe(0);
  await say(lab, 'True');
  await until(async () => (await lab.instance()).status?.phase === 'Ready');
  expect(host.connectionCount).toBe(1);
});

test('a journey ends when its host turns out to be that of another', async () => {
  const lab = await startJoinLab();
  lab.behaviour.noNode = true;
  const host = lab.host();
  lab.start();
  await lab.add();
  await until(async () => (await lab.instance()).status?.step === 'find node');
  await say(lab, 'False');
  await until(async () => lab.logged.messages('info').includes('Skipping host'));
  expect(host.openConnections).toBe(0);
});
