import { X509Certificate } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WindowsInstance } from '../../src/cluster/windows-instance-resource.ts';
import { parseReport, reportName } from '../../src/contract/agent-report.ts';
import { file } from '../../src/contract/paths.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { configMaps, events, nodes } from '../../src/kube/resources.ts';
import { bootIdOf } from '../../src/sandbox/machines/host/state.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';
import { skippingClock } from '../kit/skipping-clock.ts';

/** The operator is away for three certificate lifetimes, while all nodes stay in service. */

const lifeMs = 24 * 3_600_000;
const lives = 3;
const count = 4;
const clock = skippingClock();
const patient = { timeout: 90_000, interval: 100 };

let sandbox: Sandbox;
let operator: SandboxOperator;
let admin: Client;
let before: WindowsInstance[];
let boots: string[];
const cordoned = new Set<string>();
const watching = new AbortController();

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: count - 1, machines: 1, speed: 20, clock });
  operator = startOperator(sandbox, { clock });
  await operator.allReady(count);
  boots = sandbox.hosts.map(({ state }) => bootIdOf(state));
});
afterAll(async () => {
  watching.abort();
  await admin?.close();
  await operator?.stop();
  await sandbox?.stop();
});

const hasCertificate = ({ status }: WindowsInstance) => Date.parse(status?.agent?.certificateEnds ?? '') > clock.now();

/** Records every Node that is ever cordoned. */
async function watchNodes(): Promise<void> {
  while (!watching.signal.aborted) {
    const { items } = await admin.list(nodes);
    for (const { metadata, spec } of items) if (spec?.unschedulable === true) cordoned.add(metadata.name ?? '');
    await delay(20);
  }
}

async function certificateEnds(name: string): Promise<number> {
  const text = (await sandbox.host(name).files.read(file.agentCertificate)) ?? '';
  return new X509Certificate(text).validToDate.getTime();
}

test('the operator records the expiry of each agent certificate', async () => {
  await expect.poll(async () => (await operator.instances()).every(hasCertificate), patient).toBe(true);
  before = await operator.instances();
  await operator.stop();
});

test('certificates and tokens of agents expire while the operator is away', async () => {
  for (let life = 0; life < lives; life += 1) {
    clock.skip(lifeMs);
    await delay(500);
  }
  for (const { spec } of sandbox.hosts) expect(await certificateEnds(spec.name)).toBeLessThan(clock.now());
});

test('the returned operator reconnects every agent without drain or reboot', async () => {
  admin = createClient(loadKubeconfig(sandbox.kubeconfigFor()));
  const watched = watchNodes();
  watched.catch(() => undefined);
  operator = startOperator(sandbox, { clock });
  await expect.poll(async () => (await operator.instances()).filter(hasCertificate).length, patient).toBe(count);
  const now = await operator.allReady(count);
  for (const { metadata, status } of now) {
    const old = before.find(each => each.metadata.name === metadata.name);
    expect(status?.agent?.keyHash).not.toBe(old?.status?.agent?.keyHash);
    expect([status?.node, status?.hostKey]).toEqual([old?.status?.node, old?.status?.hostKey]);
  }
  expect(sandbox.hosts.map(({ state }) => bootIdOf(state))).toEqual(boots);
  expect([...cordoned]).toEqual([]);
});

test('every agent writes its report again', async () => {
  const { namespace } = sandbox;
  const names = (await operator.instances()).map(({ status }) => reportName(status?.node ?? ''));
  for (const name of names) {
    await admin.patch(configMaps, name, { type: 'merge', body: { data: { version: '' } } }, { namespace });
  }
  const versions = async () => {
    clock.skip(60_000);
    const reports = await Promise.all(names.map(name => admin.get(configMaps, name, { namespace })));
    return reports.map(({ data }) => parseReport(data).version);
  };
  await expect.poll(versions, patient).toEqual(names.map(() => operator.version));
});

test('events show what happened', async () => {
  const all = await Promise.all(
    [sandbox.namespace, 'openshift-machine-api'].map(namespace => admin.list(events, { namespace })),
  );
  const reasons = all.flatMap(({ items }) => items).map(({ reason }) => reason);
  expect(reasons.filter(reason => reason === 'AgentReconnected').length).toBeGreaterThan(0);
});
