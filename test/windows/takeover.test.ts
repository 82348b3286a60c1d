import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import {
  agentName,
  configMapName,
  managedDescription,
  nodeAnnotation,
  nodeLabel,
  secretName,
  serviceName,
} from '../../src/contract/names.ts';
import { file } from '../../src/contract/paths.ts';
import { servicesConfigMapName } from '../../src/contract/version.ts';
import { parsePrivateKey } from '../../src/host/keys/private-key.ts';
import { authorizedKey } from '../../src/host/keys/public-key.ts';
import { configMaps, nodes, secrets } from '../../src/kube/resources.ts';
import { payloadFor } from '../../src/node/payload.ts';
import { turnIntoGoCluster } from '../../src/sandbox/go-operator/cluster.ts';
import { endGoOperator } from '../kit/go-cluster.ts';
import { goPodName, goVersion } from '../../src/sandbox/go-operator/objects.ts';
import { allowedOf, ownRights, textOf, wideRights } from '../kit/agent-reviews.ts';
import { AgentService } from '../kit/winhost/agent-service.ts';
import { type GoTraces, turnIntoGoWindowsHost } from '../kit/winhost/go-host.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { openPrograms } from '../kit/winhost/open-programs.ts';
import { watchOutages } from '../kit/winhost/outage.ts';
import { subnetOf } from '../kit/winhost/real-doubles.ts';
import { platform, type RealScene, startRealScene } from '../kit/winhost/real-scene.ts';
import { seeServices } from '../kit/winhost/sight.ts';
import { startWorkload, type Workload } from '../kit/winhost/workload.ts';

/** A host of the Go operator, taken over by the operator as a process and the agent as its .exe. */

let scene: RealScene;
let host: WindowsHost;
let workload: Workload;
let traces: GoTraces;
let bootsBefore = 0;

beforeAll(async () => {
  scene = await startRealScene(inject('agentProgram'), { controllers: ['nodelifecycle', 'replicaset'] });
  host = await scene.lab.createHost({ name: 'win-1', containers: 'Enabled' });
  await host.lab.setOverlay(subnetOf(host.address));
  const { admin, namespace, cluster } = scene;
  const metadata = { name: configMapName.rollout, namespace };
  await admin.create(configMaps, { metadata, data: { soak: '1s' } });
  await scene.givePrivateKey();
  await scene.list([host.address]);
  const before = await scene.startOperator('before');
  await scene.ready([host.address], before);
  await before.kill();
  traces = await turnIntoGoWindowsHost(host, scene);
  const line = authorizedKey(parsePrivateKey(scene.privateKey).publicKey);
  await turnIntoGoCluster(admin, [{ name: host.name, address: host.address, pin: 'configmap' }], {
    apiServerUrl: cluster.url,
    namespace,
    authorizedKey: line,
  });
  workload = await startWorkload(admin, { minor: cluster.cluster.minor, namespace: 'shop', replicas: 1 });
  await workload.complete();
  bootsBefore = host.boots;
});
afterAll(async () => {
  await workload?.[Symbol.asyncDispose]();
  await scene?.[Symbol.asyncDispose]();
});

async function isTakenOver(): Promise<boolean> {
  const [{ status } = {}] = await scene.instances();
  return status?.phase === 'Ready' && status.version === scene.version && status.upgrade?.soaked !== undefined;
}

const services = Object.values(serviceName).filter(name => name !== serviceName.cloudNodeManager);

test('a host of the Go operator is taken over: out of service once, not rebooted, and only our programs run', async () => {
  const { admin, namespace, version } = scene;
  const seen = await seeServices(host);
  expect(services.map(name => seen[name]?.state)).toEqual(services.map(() => 'RUNNING'));
  expect(seen[agentName]?.state).toBe('RUNNING');
  const running = openPrograms(host).map(({ sha256 }) => sha256);
  expect([...traces.programs].filter(hash => running.includes(hash)).length).toBeGreaterThan(services.length);
  await using watch = watchOutages(admin);
  const operator = await scene.startOperator('after');
  await operator.waitForLog('Waiting for the owner of the legacy lock');
  await endGoOperator(admin, namespace);
  try {
    await expect.poll(isTakenOver, { timeout: 300_000, interval: 200 }).toBe(true);
  } catch (cause) {
    throw new Error(`${JSON.stringify(await scene.instances())}\n${operator.log}`, { cause });
  }
  expect(host.boots).toBe(bootsBefore);
  expect(host.lab.shutdowns()).toHaveLength(bootsBefore - 1);
  expect(watch.outages.map(({ node }) => node)).toEqual([host.name]);
  const [outage] = watch.outages;
  console.log(`out of service for ${(outage?.uncordonedMs ?? NaN) - (outage?.cordonedMs ?? NaN)} ms`);
  const { metadata, spec } = await admin.get(nodes, host.name);
  expect(metadata.annotations?.[nodeAnnotation.version]).toBe(version);
  expect([spec?.unschedulable ?? false, metadata.labels?.[nodeLabel.upgrading]]).toEqual([false, undefined]);
  await workload.complete();
});

test('every program, service and credential is ours', async () => {
  const programs = payloadFor(platform).map(({ directory, name }) => [`${directory}\\${name}`, scene.payload[name]]);
  const hashes = programs.map(([path = '']) => [path, hashOf(path)]);
  expect(hashes).toEqual(programs);
  expect(openPrograms(host).filter(({ sha256 }) => traces.programs.has(sha256))).toEqual([]);
  const seen = await seeServices(host);
  for (const name of [...services, agentName])
    expect([name, seen[name]?.state, seen[name]?.description]).toEqual([name, 'RUNNING', managedDescription(name)]);
  expect(seen[agentName]?.command).toContain(`--node ${host.name}`);
  expect(new AgentService(host).pids()).toHaveLength(1);
  expect(traces.certificates.filter(path => host.drive.exists(path))).toEqual([]);
  expect(host.drive.read(file.agentKubeconfig)).not.toContain('wicd-client-current.pem');
  expect([host.lab.unexpected(), host.lab.scripts()]).toEqual([[], []]);
});

test('nothing of the old rights is left', async () => {
  const { admin, namespace, version } = scene;
  const find = (name: string) => admin.find(configMaps, name, { namespace });
  await expect.poll(() => find(servicesConfigMapName(goVersion)), { timeout: 60_000 }).toBeUndefined();
  const token = () => admin.find(secrets, secretName.agentToken, { namespace });
  await expect.poll(token, { timeout: 60_000 }).toBeUndefined();
  expect(JSON.stringify(await find(configMapName.leaderLock))).not.toContain(goPodName);
  const place = { namespace, node: host.name, other: 'east-master-0' };
  await expect.poll(() => allowedOf(admin, wideRights(place)), { timeout: 30_000 }).toEqual([]);
  const needed = ownRights(place, version);
  expect(await allowedOf(admin, needed)).toEqual(needed.map(textOf));
});

function hashOf(path: string): string | undefined {
  if (!host.drive.exists(path)) return undefined;
  return createHash('sha256')
    .update(readFileSync(host.drive.path(path)))
    .digest('hex');
}
