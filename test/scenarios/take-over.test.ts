import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { textFromBase64 } from '../../src/base/bytes.ts';
import type { PayloadRelease } from '../../src/bin/sandbox-factory.ts';
import {
  agentName,
  configMapName,
  namespaceName,
  nodeAnnotation,
  nodeLabel,
  secretKey,
  secretName,
  serviceName,
} from '../../src/contract/names.ts';
import { dir, file } from '../../src/contract/paths.ts';
import { servicesConfigMapName } from '../../src/contract/version.ts';
import type { Client } from '../../src/kube/client.ts';
import { loadKubeconfig } from '../../src/kube/config/load-kubeconfig.ts';
import { createClient } from '../../src/kube/http-client.ts';
import { configMaps, nodes, secrets } from '../../src/kube/resources.ts';
import { machines, proxyConfigs } from '../../src/kube/resources-openshift.ts';
import type { KubeResource } from '../../src/kube/resource.ts';
import { goVersion } from '../../src/sandbox/go-operator/objects.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { allowedOf, formerRights, ownRights, textOf, wideRights } from '../kit/agent-reviews.ts';
import { fastClock } from '../kit/fast-clock.ts';
import { endGoOperator, installOwnOperator, ownPodName, turnIntoGoSandbox } from '../kit/go-cluster.ts';
import { hostState } from '../kit/host-state.ts';
import { setOf } from '../kit/host-set.ts';
import { mostOutOfService } from '../kit/node-history.ts';
import { startNodeWorkload } from '../kit/node-workload.ts';
import { tokenKubeconfig } from '../kit/operator-scene.ts';
import { administratorOf, type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';

/** This operator replaces the Go operator on a cluster whose nodes work. */

const ours: PayloadRelease = { version: '11.0.0-ours' };
const maxUnavailable = 2;
const speed = 20;
const clock = fastClock(speed);
/** Must survive a clock that makes waits short. */
const lease = { leaseDurationMs: 3e6, renewDeadlineMs: 2e6, retryPeriodMs: 2000 };
const timeout = 300_000;

interface Scene extends AsyncDisposable {
  sandbox: Sandbox;
  client: Client;
  start(): SandboxOperator;
}

/** Hosts that are nodes, and this operator installed. A test turns them into those of the Go operator. */
async function startCluster(size: { hosts: number; machines: number }, proxy?: Record<string, string>): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const sandbox = stack.adopt(await startSandbox({ ...size, speed: 2, clock }), each => each.stop());
  const { client } = stack.use(administratorOf(sandbox));
  const { namespace } = sandbox;
  const data = { maxUnavailable: `${maxUnavailable}`, first: '1', soak: '1s' };
  await client.create(configMaps, { metadata: { name: configMapName.rollout, namespace }, data });
  if (proxy !== undefined) {
    const status = { httpProxy: proxy['HTTP_PROXY'], noProxy: proxy['NO_PROXY'] };
    await client.create(proxyConfigs, { metadata: { name: 'cluster' }, status } as KubeResource);
    const metadata = { name: configMapName.trustedCa, namespace };
    await client.create(configMaps, { metadata, data: { 'ca-bundle.crt': '# injected\n' } });
  }
  {
    await using before = startOperator(sandbox, { clock, settings: { lease } });
    await before.allReady(size.hosts + size.machines);
  }
  const own = await installOwnOperator(sandbox, client);
  const all = stack.move();
  return {
    sandbox,
    client,
    start: () =>
      startOperator(sandbox, {
        clock,
        release: ours,
        kubeconfig: own.kubeconfig,
        settings: { lease, podName: ownPodName },
      }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Those that hosts showed, by Node. */
async function hostKeys(client: Client): Promise<Map<string, string>> {
  const { items } = await client.list(nodes, { labelSelector: `${nodeLabel.os}=windows` });
  return new Map(
    items.map(({ metadata: { name = '', annotations } }) => [name, annotations?.[nodeAnnotation.sshHostKey] ?? '']),
  );
}

const isTakenOver = async (operator: SandboxOperator, count: number) =>
  (await operator.instances()).filter(
    ({ status }) =>
      status?.phase === 'Ready' && status.version === ours.version && status.upgrade?.soaked !== undefined,
  ).length === count;

async function untilTakenOver(operator: SandboxOperator, count: number): Promise<void> {
  try {
    await expect.poll(() => isTakenOver(operator, count), { timeout: 150_000, interval: 100 }).toBe(true);
  } catch (cause) {
    const seen = (await operator.instances()).map(({ metadata, status }) => [metadata.name, status]);
    throw new Error(JSON.stringify(seen), { cause });
  }
}

/** Everything of the Go operator that must be gone, and what has its place. */
async function expectNothingLeft({ client, sandbox }: Scene, { namespace }: Sandbox): Promise<void> {
  const find = (name: string) => client.find(configMaps, name, { namespace });
  const owners = (await find(configMapName.leaderLock))?.metadata.ownerReferences ?? [];
  expect(owners.map(({ name }) => name)).toEqual([ownPodName]);
  await expect.poll(() => find(servicesConfigMapName(goVersion)), { timeout: 30_000 }).toBeUndefined();
  const tokenSecret = () => client.find(secrets, secretName.agentToken, { namespace });
  await expect.poll(tokenSecret, { timeout: 30_000 }).toBeUndefined();
  const names = sandbox.hosts.map(({ spec }) => spec.name);
  for (const [index, node] of names.entries()) {
    const place = { namespace, node, other: names[(index + 1) % names.length] ?? '' };
    await expect.poll(() => allowedOf(client, wideRights(place)), { timeout: 30_000 }).toEqual([]);
    const needed = ownRights(place, ours.version);
    expect(await allowedOf(client, needed)).toEqual(needed.map(textOf));
  }
}

test('six nodes of the Go operator are taken over: each drained once, none rebooted or replaced, nothing of it left', {
  timeout,
}, async () => {
  await using scene = await startCluster({ hosts: 3, machines: 3 });
  const { sandbox, client } = scene;
  const { namespace, hosts } = sandbox;
  const keys = await hostKeys(client);
  await turnIntoGoSandbox(sandbox, client);
  const machinesBefore = (await client.list(machines, { namespace: namespaceName.machineApi })).items;
  const wide = hosts.flatMap(({ spec }) => wideRights({ namespace, node: spec.name, other: 'linux-worker-0' }));
  expect(await allowedOf(client, wide)).toEqual(wide.map(textOf));
  const lasting = await client.get(secrets, secretName.agentToken, { namespace });
  const lastingToken = textFromBase64(lasting.data?.[secretKey.token] ?? '') ?? '';
  const boots = () => hosts.map(({ state, stats }) => [state.boots, stats.reboots]);
  const bootsBefore = boots();
  const before = await Promise.all(hosts.map(hostState));
  await using workload = await startNodeWorkload(client);
  await workload.complete();
  const connections = () => hosts.map(({ stats }) => stats.connections);
  const connectionsBefore = connections();

  await using operator = scene.start();
  await expect.poll(() => operator.lines.join('')).toContain('Waiting for the owner of the legacy lock');
  await delay(1000);
  // As long as the pod of the Go operator exists, nothing is touched.
  expect([connections(), await operator.instances()]).toEqual([connectionsBefore, []]);
  expect((await Promise.all(hosts.map(hostState))).map(({ files }) => files)).toEqual(before.map(({ files }) => files));

  await endGoOperator(client, namespace);
  await untilTakenOver(operator, hosts.length);
  await workload.complete();
  expect(boots()).toEqual(bootsBefore);
  const once = { cordons: 1, evictions: 1, strays: 0 };
  expect(workload.stories()).toEqual(Object.fromEntries(hosts.map(({ spec }) => [spec.name, once])));
  expect(mostOutOfService(workload.nodeEvents)).toBeLessThanOrEqual(maxUnavailable);

  const machinesAfter = (await client.list(machines, { namespace: namespaceName.machineApi })).items;
  expect(machinesAfter.map(({ metadata }) => metadata.uid)).toEqual(machinesBefore.map(({ metadata }) => metadata.uid));
  for (const host of hosts) {
    expect(await setOf(host)).toMatchObject({ runs: ours.version, agent: ours.version, wrong: [] });
    const names = await host.files.list(dir.agentCerts);
    expect(names.filter(name => /^wicd-client-\d/.test(name))).toEqual([]);
    const [agent] = (await host.services.list()).filter(({ name }) => name === agentName);
    expect(agent).toMatchObject({
      state: 'running',
      config: { command: expect.stringContaining(`--node ${host.spec.name}`) },
    });
    const { metadata } = await client.get(nodes, host.spec.name);
    expect(metadata.annotations?.[nodeAnnotation.version]).toBe(ours.version);
    expect(metadata.annotations?.[nodeAnnotation.sshHostKey]).toBe(keys.get(host.spec.name));
    expect(await host.files.read(file.agentKubeconfig)).not.toContain(lastingToken);
  }
  await expectNothingLeft(scene, sandbox);
  // The token of the Secret that is gone opens nothing.
  const stolen = createClient(loadKubeconfig(tokenKubeconfig(sandbox, lastingToken)));
  await expect(stolen.list(nodes)).rejects.toMatchObject({ code: 401 });
  await stolen.close();
});

test('a cluster with a proxy: hosts that have its variables already are not rebooted', { timeout }, async () => {
  const proxy = { HTTP_PROXY: 'http://proxy.example.com:3128', NO_PROXY: '.cluster.local,10.0.0.0/8' };
  await using scene = await startCluster({ hosts: 2, machines: 0 }, proxy);
  const { sandbox, client } = scene;
  const seen = () =>
    sandbox.hosts.map(({ state, stats }) => [state.variables['HTTP_PROXY'], state.boots, stats.reboots]);
  await turnIntoGoSandbox(sandbox, client, proxy);
  await endGoOperator(client, sandbox.namespace);
  const before = seen();
  expect(before.map(([value]) => value)).toEqual([proxy.HTTP_PROXY, proxy.HTTP_PROXY]);
  await using operator = scene.start();
  await untilTakenOver(operator, 2);
  expect(seen()).toEqual(before);
  await expectNothingLeft(scene, sandbox);
});

test('a dead host keeps what its agent needs, others do not; and what was interrupted goes on', {
  timeout,
}, async () => {
  await using scene = await startCluster({ hosts: 4, machines: 1 });
  const { sandbox, client } = scene;
  const { namespace, hosts } = sandbox;
  const keys = await hostKeys(client);
  await turnIntoGoSandbox(sandbox, client);
  const [dead, other, half] = ['win-2', 'win-3', 'win-4'];
  sandbox.host(dead).switchOff();
  await setMarks(client, other, { [nodeAnnotation.sshHostKey]: keys.get(dead) ?? '' });
  await interruptUpgrade(scene, half);
  await endGoOperator(client, namespace);
  const ready = (names: string[]) => async (operator: SandboxOperator) =>
    (await operator.instances()).filter(
      ({ status }) => status?.version === ours.version && names.includes(status.node ?? ''),
    ).length === names.length;
  {
    await using first = scene.start();
    const isBegun = async () =>
      (await first.instances()).some(({ status }) => status?.upgrade?.activated !== undefined);
    await expect.poll(isBegun, { timeout: 60_000, interval: 20 }).toBe(true);
  }
  await using operator = scene.start();
  await expect.poll(() => ready(['win-1', half, 'winworker-1'])(operator), { timeout: 120_000 }).toBe(true);
  const { spec } = await client.get(nodes, half);
  expect(spec?.unschedulable ?? false).toBe(false);
  // Only the agents of the two hosts that could not be reached keep what they need.
  const place = (node: string) => ({ namespace, node, other: 'win-1' });
  for (const node of [dead, other]) {
    const needed = formerRights(place(node));
    await expect.poll(() => allowedOf(client, needed), { timeout: 30_000 }).toEqual(needed.map(textOf));
    const foreign = wideRights(place(node)).filter(({ name, verb }) => name === 'win-1' && verb !== 'get');
    expect(await allowedOf(client, foreign)).toEqual([]);
  }
  for (const node of ['win-1', half, 'winworker-1']) {
    const agents = wideRights({ ...place(node), other: dead }).filter(({ who }) => who.user.endsWith(`:${node}`));
    await expect.poll(() => allowedOf(client, agents), { timeout: 30_000 }).toEqual([]);
  }
  expect(await client.find(secrets, secretName.agentToken, { namespace })).toBeDefined();
  expect(await client.find(configMaps, servicesConfigMapName(goVersion), { namespace })).toBeDefined();
  const [refused] = (await operator.instances()).filter(
    ({ status }) => status?.ipv4 === sandbox.host(other).spec.address,
  );
  expect(JSON.stringify(refused?.status)).toContain('was configured with another SSH host key');

  await setMarks(client, other, { [nodeAnnotation.sshHostKey]: keys.get(other) ?? '' });
  sandbox.host(dead).switchOn();
  await expect
    .poll(() => ready(hosts.map(host => host.spec.name))(operator), { timeout: 180_000, interval: 200 })
    .toBe(true);
  await expectNothingLeft(scene, sandbox);
  expect(hosts.map(({ spec: { name }, stats }) => [name, stats.reboots])).toEqual(
    hosts.map(({ spec: { name } }) => [name, name === dead ? 1 : 0]),
  );
});

test('nodes that claim to have the new version already are taken over like others: drained once, within the budget', {
  timeout,
}, async () => {
  await using scene = await startCluster({ hosts: 3, machines: 0 });
  const { sandbox, client } = scene;
  await turnIntoGoSandbox(sandbox, client);
  const names = sandbox.hosts.map(({ spec }) => spec.name);
  // As any agent of the Go operator can write it on every Node.
  const claim = { [nodeAnnotation.version]: ours.version, [nodeAnnotation.desiredVersion]: ours.version };
  for (const name of names) await setMarks(client, name, claim);
  await using workload = await startNodeWorkload(client);
  await workload.complete();
  await endGoOperator(client, sandbox.namespace);
  await using operator = scene.start();
  await untilTakenOver(operator, names.length);
  await workload.complete();
  const once = { cordons: 1, evictions: 1, strays: 0 };
  expect(workload.stories()).toEqual(Object.fromEntries(names.map(name => [name, once])));
  expect(mostOutOfService(workload.nodeEvents)).toBeLessThanOrEqual(maxUnavailable);
  await expectNothingLeft(scene, sandbox);
});

async function setMarks(client: Client, node: string, annotations: Record<string, string | null>): Promise<void> {
  await client.patch(nodes, node, { type: 'merge', body: { metadata: { annotations } } });
}

/** The Go operator has drained the Node and removed its services, and then its pod was ended. */
async function interruptUpgrade({ client, sandbox }: Scene, name: string): Promise<void> {
  const host = sandbox.host(name);
  for (const service of [agentName, ...Object.values(serviceName)]) host.removeService(service);
  const labels = { [nodeLabel.upgrading]: 'true' };
  const annotations = { [nodeAnnotation.version]: null };
  const body = { metadata: { labels, annotations }, spec: { unschedulable: true } };
  await client.patch(nodes, name, { type: 'merge', body });
}
