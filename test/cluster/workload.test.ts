import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findCondition } from '../../src/base/condition.ts';
import { microTimestamp } from '../../src/base/clock.ts';
import { nodeLabel } from '../../src/contract/names.ts';
import type { Client } from '../../src/kube/client.ts';
import { Drainer } from '../../src/kube/drain/drain.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { leases, nodes } from '../../src/kube/resources.ts';
import { type Cluster, startCluster } from '../kit/cluster/cluster.ts';
import { until } from '../kit/until.ts';
import { startWorkload, type Workload } from '../kit/winhost/workload.ts';

/** What the lab needs for upgrades beside hosts: pods with a budget, and a cluster that notices silent kubelets. */

let cluster: Cluster;
let client: Client;
let workload: Workload;
const names = ['one', 'two'];
const heartbeats = new Set(names);
let beating = Promise.resolve();

beforeAll(async () => {
  cluster = await startCluster({
    controllers: ['nodelifecycle', 'replicaset'],
    controllerManagerFlags: ['--node-monitor-grace-period=10s', '--node-monitor-period=500ms'],
  });
  client = createClient(cluster.adminConfig);
  for (const name of names) await register(name);
  beating = beat();
  workload = await startWorkload(client, { minor: cluster.minor, namespace: 'shop', replicas: 2 });
});

afterAll(async () => {
  heartbeats.clear();
  await beating;
  await workload?.[Symbol.asyncDispose]();
  await client?.close();
  await cluster?.stop();
});

async function register(name: string): Promise<void> {
  const metadata = { name, labels: { [nodeLabel.os]: 'windows', 'kubernetes.io/hostname': name } };
  const conditions = [{ type: 'Ready', status: 'True' as const }];
  await client.create(leases, { metadata: { name, namespace: 'kube-node-lease' }, spec: { holderIdentity: name } });
  await client.create(nodes, { metadata });
  await client.patch(nodes, name, { type: 'merge', body: { status: { conditions } } }, { subresource: 'status' });
}

/** The heartbeats of kubelets. */
async function beat(): Promise<void> {
  for (; heartbeats.size > 0; await delay(500)) await Promise.all([...heartbeats].map(renew));
}

async function renew(name: string): Promise<void> {
  const spec = { renewTime: microTimestamp(Date.now()) };
  await client.patch(leases, name, { type: 'merge', body: { spec } }, { namespace: 'kube-node-lease' });
}

const ready = async (name: string) =>
  findCondition((await client.get(nodes, name)).status?.conditions, 'Ready')?.status;

test('pods spread over the Nodes, and a drain moves them one by one within the budget', async () => {
  await workload.complete();
  expect(await workload.nodesInUse()).toEqual(names);
  await client.patch(nodes, 'one', { type: 'merge', body: { spec: { unschedulable: true } } });
  await new Drainer({ client, timeoutMs: 30_000, retryMs: 200, pollMs: 100 }).drain('one');
  await workload.complete();
  expect(await workload.nodesInUse()).toEqual(['two', 'two']);
  expect(workload.fewestReady).toBe(1);
  expect(workload.errors).toEqual([]);
});

test('a Node without heartbeats becomes Unknown, and its pods are not ready any more', async () => {
  heartbeats.delete('two');
  await until(async () => (await ready('two')) === 'Unknown');
  await until(async () => (await workload.nodesInUse()).length === 0);
});
