import { expect, test } from 'vitest';
import { nodeLabel } from '#contract/names.ts';
import { findCondition } from '#base/condition.ts';
import type { KubeResource } from '#kube/resource.ts';
import { leases, type Node, nodes } from '#kube/resources.ts';
import { quiet, startLocalApi } from '../../../../test/kit/local-api.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { createNodeMonitor } from './node-monitor.ts';

async function scene() {
  const clock = manualClock();
  const api = await startLocalApi([createNodeMonitor(clock)], clock);
  const node = (name = 'win-1') => api.get(nodes, { namespace: '', name }) as Node | undefined;
  let beats = 0;
  const made = {
    api,
    node,
    ready: (name?: string) => findCondition(node(name)?.status?.conditions, 'Ready'),
    taints: (name?: string) => (node(name)?.spec?.taints ?? []).map(({ key, effect }) => `${key}:${effect}`),
    async add(name = 'win-1', os = 'windows', status = 'True') {
      const conditions = [
        { type: 'Ready', status },
        { type: 'DiskPressure', status: 'False' },
      ];
      const metadata = { name, labels: { [nodeLabel.os]: os } };
      api.create(nodes, { metadata, spec: { taints: [osTaint] }, status: { conditions } } as KubeResource);
      await quiet(api);
    },
    async beat(name = 'win-1') {
      beats += 1;
      const key = { namespace: 'kube-node-lease', name };
      const present = api.get(leases, key);
      // The time in it comes from the clock of the host.
      const spec = { renewTime: `2020-01-01T00:00:${String(beats % 60).padStart(2, '0')}.000000Z` };
      if (present === undefined) api.create(leases, { metadata: key, spec } as KubeResource);
      else api.replace(leases, { ...present, spec } as KubeResource);
      await quiet(api);
    },
    async setReady(status: string, name = 'win-1') {
      const present = node(name);
      const conditions = [{ type: 'Ready', status }];
      api.replace(nodes, { ...present, status: { ...present?.status, conditions } } as KubeResource, {
        subresource: 'status',
      });
      await quiet(api);
    },
    async setUnschedulable(unschedulable: boolean, name = 'win-1') {
      const present = node(name);
      api.replace(nodes, { ...present, spec: { ...present?.spec, unschedulable } } as KubeResource);
      await quiet(api);
    },
    async wait(ms: number) {
      await clock.advance(ms);
      await quiet(api);
    },
    [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
  };
  return made;
}

const osTaint = { key: 'os', value: 'Windows', effect: 'NoSchedule' };
const own = 'os:NoSchedule';

test('a Node with a renewed lease keeps its status', async () => {
  await using made = await scene();
  await made.add();
  for (let turn = 0; turn < 10; turn += 1) {
    await made.beat();
    await made.wait(30_000);
  }
  expect(made.ready()).toMatchObject({ status: 'True' });
});

test('a Node without a renewal for more than 40 s becomes Unknown', async () => {
  await using made = await scene();
  await made.add();
  await made.beat();
  await made.wait(40_000);
  expect(made.ready()?.status).toBe('True');
  await made.wait(10_000);
  expect(made.ready()).toMatchObject({
    status: 'Unknown',
    reason: 'NodeStatusUnknown',
    message: 'Kubelet stopped posting node status.',
  });
  expect(findCondition(made.node()?.status?.conditions, 'DiskPressure')?.status).toBe('Unknown');
});

test('the clock of the host does not matter, only that its word changes', async () => {
  await using made = await scene();
  await made.add();
  for (let turn = 0; turn < 5; turn += 1) {
    await made.beat();
    await made.wait(35_000);
  }
  expect(made.ready()?.status).toBe('True');
});

test('one that never spoke is silent from the beginning', async () => {
  await using made = await scene();
  await made.add();
  await made.wait(60_000);
  expect(made.ready()?.status).toBe('Unknown');
});

test('a Node that renews its lease again keeps the status of its kubelet', async () => {
  await using made = await scene();
  await made.add();
  await made.wait(60_000);
  await made.beat();
  await made.setReady('True');
  await made.wait(30_000);
  expect([made.ready()?.status, made.taints()]).toEqual(['True', [own]]);
});

test('Linux Nodes are never marked Unknown', async () => {
  await using made = await scene();
  await made.add('linux', 'linux');
  await made.wait(600_000);
  expect(made.ready('linux')?.status).toBe('True');
});

const states: [string, string[]][] = [
  ['True', [own]],
  ['False', [own, 'node.kubernetes.io/not-ready:NoSchedule']],
  ['Unknown', [own, 'node.kubernetes.io/unreachable:NoSchedule']],
];
for (const [status, want] of states) {
  test(`a Node with Ready=${status} gets matching taints and keeps others`, async () => {
    await using made = await scene();
    await made.add();
    await made.beat();
    await made.setReady(status);
    expect(made.taints()).toEqual(want);
  });
}

test('taints are removed with their reason', async () => {
  await using made = await scene();
  await made.add('win-1', 'windows', 'False');
  expect(made.taints()).toContain('node.kubernetes.io/not-ready:NoSchedule');
  await made.setReady('True');
  expect(made.taints()).toEqual([own]);
});

test('a Node that was cordoned has a taint for it, until it is not', async () => {
  await using made = await scene();
  await made.add();
  await made.setUnschedulable(true);
  expect(made.taints()).toEqual([own, 'node.kubernetes.io/unschedulable:NoSchedule']);
  await made.setUnschedulable(false);
  expect(made.taints()).toEqual([own]);
});

test('Linux nodes lose the taint of their first moments, too', async () => {
  await using made = await scene();
  await made.add('linux', 'linux');
  expect(made.taints('linux')).toEqual([own]);
});

test('does not write without a change', async () => {
  await using made = await scene();
  await made.add();
  await made.beat();
  const before = made.node()?.metadata.resourceVersion;
  await made.wait(30_000);
  expect(made.node()?.metadata.resourceVersion).toBe(before);
});

test('a new Node of the same name does not inherit the lease of the old one', async () => {
  await using made = await scene();
  await made.add();
  await made.wait(30_000);
  made.api.delete(nodes, { namespace: '', name: 'win-1' });
  await made.wait(30_000);
  await made.add();
  await made.wait(30_000);
  expect(made.ready()?.status).toBe('True');
});
