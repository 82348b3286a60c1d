import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WindowsInstance } from '../../src/cluster/windows-instance-resource.ts';
import { file } from '../../src/contract/paths.ts';
import { KubeconfigFile } from '../../src/agent/identity/kubeconfig-file.ts';
import { silentLog } from '../../src/base/log.ts';
import type { Client } from '../../src/kube/client.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { configMaps, nodes, secrets } from '../../src/kube/resources.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { skippingClock } from '../kit/skipping-clock.ts';

/** On Azure a Node stays tainted until cloud-node-manager on its host initializes it with its own identity. */

const clock = skippingClock();
const patient = { timeout: 90_000, interval: 100 };
const taint = { key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' };
const lifeMs = 24 * 3_600_000;

let sandbox: Sandbox;
let operator: SandboxOperator;
let node = '';

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: 1, machines: 1, platform: 'Azure', speed: 20, clock });
  // The lease must survive hours of skipped time.
  const lease = { leaseDurationMs: 1e9, renewDeadlineMs: 9e8, retryPeriodMs: 2000 };
  operator = startOperator(sandbox, { platform: 'Azure', clock, settings: { lease } });
  const [first] = await operator.allReady(2);
  node = first?.status?.node ?? '';
});
afterAll(async () => {
  await operator?.stop();
  await sandbox?.stop();
});

const taintsOf = async (name: string) =>
  ((await operator.client.get(nodes, name)).spec?.taints ?? []).map(({ key }) => key);
const instanceOf = async () => (await operator.instances()).find(({ status }) => status?.node === node);
const endsMs = (instance: WindowsInstance | undefined) =>
  Date.parse(instance?.status?.cloudNode?.certificateEnds ?? '');

test('cloud-node-manager removes the taint of every Node', async () => {
  for (const { status } of await operator.instances()) {
    await expect.poll(() => taintsOf(status?.node ?? ''), patient).not.toContain(taint.key);
  }
});

test('cloud-node-manager works after two lifetimes of its certificate', async () => {
  await expect.poll(async () => endsMs(await instanceOf()), patient).toBeGreaterThan(clock.now());
  const firstEndMs = endsMs(await instanceOf());
  // Half a lifetime at a time, when agents renew.
  for (let step = 0; step < 5; step += 1) {
    const before = endsMs(await instanceOf());
    clock.skip(lifeMs * 0.75);
    await expect.poll(async () => endsMs(await instanceOf()), patient).toBeGreaterThan(before);
    await delay(100);
  }
  expect(clock.now()).toBeGreaterThan(firstEndMs + 2 * lifeMs);
  const { spec, metadata } = await operator.client.get(nodes, node);
  const taints = [...(spec?.taints ?? []), taint];
  const body = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { taints } };
  await operator.client.patch(nodes, node, { type: 'merge', body });
  expect(await taintsOf(node)).toContain(taint.key);
  await expect.poll(() => taintsOf(node), patient).not.toContain(taint.key);
});

/** An attacker on the host, with the certificate of cloud-node-manager. */
async function thief(): Promise<Client> {
  const { files } = sandbox.host('win-1');
  const kubeconfig = new KubeconfigFile(file.cloudNodeKubeconfig, { files, clock, log: silentLog });
  return createClient(await kubeconfig.connection(), { clock });
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 200,
    (error: { code?: number }) => error.code,
  );

test('the identity can write only its own Node', async () => {
  const client = await thief();
  try {
    const patch = { type: 'merge', body: { metadata: { labels: { mine: 'yes' } } } } as const;
    expect(await codeOf(client.get(nodes, 'win-1'))).toBe(200);
    const others = (await operator.client.list(nodes)).items.map(({ metadata }) => metadata.name ?? '');
    for (const other of others.filter(name => name !== 'win-1')) {
      expect(await codeOf(client.patch(nodes, other, patch))).toBe(403);
      expect(await codeOf(client.get(nodes, other))).toBe(403);
    }
    expect(await codeOf(client.list(nodes))).toBe(403);
    expect(await codeOf(client.delete(nodes, 'win-1'))).toBe(403);
    expect(await codeOf(client.list(secrets, { namespace: sandbox.namespace }))).toBe(403);
    expect(await codeOf(client.list(configMaps, { namespace: sandbox.namespace }))).toBe(403);
  } finally {
    await client.close();
  }
});
