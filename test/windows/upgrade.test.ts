import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { configMapName, nodeAnnotation, nodeLabel } from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import type { WindowsInstanceStatus } from '../../src/contract/windows-instance/resource.ts';
import { configMaps, nodes } from '../../src/kube/resources.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { nextOperator } from '../kit/winhost/next-operator.ts';
import { openPrograms } from '../kit/winhost/open-programs.ts';
import { stepMs, watchOutages } from '../kit/winhost/outage.ts';
import { subnetOf } from '../kit/winhost/real-doubles.ts';
import type { OperatorProcess } from '../kit/winhost/real-operator.ts';
import { type RealScene, startRealScene } from '../kit/winhost/real-scene.ts';
import { changedPrograms, type Release } from '../kit/winhost/releases.ts';
import { startWorkload, type Workload } from '../kit/winhost/workload.ts';

/** Two hosts with a workload, upgraded by a new release of the operator. */

let scene: RealScene;
let operator: OperatorProcess;
let workload: Workload;
let hosts: WindowsHost[] = [];
const limitMs = 240_000;

beforeAll(async () => {
  scene = await startRealScene(inject('agentProgram'), { controllers: ['nodelifecycle', 'replicaset'] });
  hosts = await Promise.all(['win-1', 'win-2'].map(createHost));
  // So that the second host is upgraded soon after the first.
  const metadata = { name: configMapName.rollout, namespace: scene.namespace };
  await scene.admin.create(configMaps, { metadata, data: { soak: '5s' } });
  await scene.givePrivateKey();
  await scene.list(hosts.map(({ address }) => address));
  operator = await scene.startOperator('first');
  await scene.ready(addresses(), operator);
  const { minor } = scene.cluster.cluster;
  workload = await startWorkload(scene.admin, { minor, namespace: 'shop', replicas: 2 });
  await workload.complete();
});
afterAll(async () => {
  await workload?.[Symbol.asyncDispose]();
  await scene?.[Symbol.asyncDispose]();
});

async function createHost(name: string): Promise<WindowsHost> {
  const host = await scene.lab.createHost({ name, containers: 'Enabled' });
  await host.lab.setOverlay(subnetOf(host.address));
  return host;
}

const addresses = () => hosts.map(({ address }) => address);

async function statusOf({ address }: WindowsHost): Promise<WindowsInstanceStatus> {
  return (await scene.instances()).find(({ metadata }) => metadata.name === address)?.status ?? {};
}

/** Ends the operator and starts that of another release, as a new pod would. */
async function replaceOperator(release: Release): Promise<void> {
  await operator.kill();
  operator = await nextOperator(scene, release.version, release);
}

async function untilStatus(host: WindowsHost, isSo: (status: WindowsInstanceStatus) => boolean): Promise<void> {
  for (const endMs = performance.now() + limitMs; ; await delay(200)) {
    const status = await statusOf(host);
    if (isSo(status)) return;
    if (performance.now() < endMs) continue;
    throw new Error(`${host.name} does not get there: ${JSON.stringify(status)}\n${operator.log}`);
  }
}

const runsVersion = (version: string) => (status: WindowsInstanceStatus) =>
  status.version === version && status.phase === 'Ready' && status.upgrade?.ready !== undefined;

test('UPG: one node at a time gets the new programs, with seconds out of service, and keeps the former ones', async () => {
  const release = await scene.makeRelease({ version: '11.1.0-def5678', behavior: 'works' });
  const former = changedPrograms(scene.release, release);
  await using watch = watchOutages(scene.admin);
  await replaceOperator(release);
  for (const host of hosts) await untilStatus(host, runsVersion(release.version));
  for (const host of hosts) {
    const outage = watch.outages.find(({ node }) => node === host.name);
    const drainMs = await stepMs(scene, host.address, 'drain');
    const restMs = (outage?.uncordonedMs ?? NaN) - (outage?.cordonedMs ?? NaN) - drainMs;
    console.log(`${host.name}: ${restMs} ms out of service beyond a drain of ${drainMs} ms (target: 30 s)`);
    expect(restMs).toBeGreaterThan(0);
    expect(openPrograms(host).filter(({ sha256 }) => former.has(sha256))).toEqual([]);
    expect(host.drive.read(file.previousSet)).toContain(scene.version);
    const { metadata, spec } = await scene.admin.get(nodes, host.name);
    expect(metadata.annotations?.[nodeAnnotation.version]).toBe(release.version);
    expect([spec?.unschedulable ?? false, metadata.labels?.[nodeLabel.upgrading]]).toEqual([false, undefined]);
  }
  await workload.complete();
  expect([workload.fewestReady >= 1, workload.errors]).toEqual([true, []]);
}, 600_000);
