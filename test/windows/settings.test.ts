import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { agentEvent } from '../../src/contract/agent-report.ts';
import { agentName, nodeAnnotation, proxyVariables, serviceName } from '../../src/contract/names.ts';
import { dir, file } from '../../src/contract/paths.ts';
import { nodes } from '../../src/kube/resources.ts';
import { TestCa } from '../kit/certificates.ts';
import { AgentService } from '../kit/winhost/agent-service.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { ManualLabOperator, type Wanted } from '../kit/winhost/operator.ts';
import { type Scene, startScene } from '../kit/winhost/scene.ts';
import { addRoot, agentLog, seeRoots, seeServices, seeVariables, thumbprint } from '../kit/winhost/sight.ts';
import { installedAgent } from '../kit/installed-agent.ts';

/** Proxy variables and trusted certificates: changed before a reboot, in effect after it, removed when not desired. */

const password = 'pa55-of-the-proxy';
const proxy = {
  HTTP_PROXY: `http://user:${password}@proxy.test:3128`,
  HTTPS_PROXY: `http://user:${password}@proxy.test:3129`,
  NO_PROXY: '.cluster.local,.svc,10.96.0.0/16,apiserver.test',
};
const [clusterCa, second, adminCa] = [
  new TestCa('clusterCa'),
  new TestCa('second'),
  new TestCa('was there before'),
].map(({ cert }) => cert) as [string, string, string];
const bundle = `# of the image registry\n${clusterCa}\n${adminCa}`;

let scene: Scene;
let operator: ManualLabOperator;
/** Joins first and gets a proxy later. */
let host: WindowsHost;
let node: string;
/** Joins a cluster that has a proxy. */
let newcomer: WindowsHost;
let newcomerNode: string;
let newcomerOperator: ManualLabOperator;
const requests = new Map<string, number>();
const ending = new AbortController();

beforeAll(async () => {
  scene = await startScene(inject('agentProgram'));
  operator = scene.operator;
  followMarks().catch(() => undefined);
  newcomerOperator = new ManualLabOperator(operator.deps, '11.0.0-1111111');
  await newcomerOperator.publish({ proxy, trustedCa: bundle });
  [host, newcomer] = await Promise.all([scene.lab.createHost(), scene.lab.createHost()]);
  await addRoot(host, adminCa);
  const begun = async () => {
    await newcomerOperator.stage(newcomer);
    await newcomerOperator.bootstrap(newcomer);
    newcomerNode = await newcomerOperator.findNode(newcomer);
    await newcomerOperator.desire(newcomerNode);
    await newcomerOperator.installAgentService(newcomer);
  };
  [node] = await Promise.all([operator.join(host), begun()]);
});
afterAll(() => {
  ending.abort();
  return scene?.[Symbol.asyncDispose]();
});

/** Watches Nodes and counts how often the reboot annotation was set. */
async function followMarks(): Promise<void> {
  const marked = new Set<string>();
  for await (const { object } of scene.cluster.client.watch(nodes, { timeoutSeconds: 1800, signal: ending.signal })) {
    const { name = '', annotations = {} } = object.metadata;
    const has = nodeAnnotation.rebootRequired in annotations;
    if (has && !marked.has(name)) requests.set(name, (requests.get(name) ?? 0) + 1);
    if (has) marked.add(name);
    else marked.delete(name);
  }
}

const hasMark = async (name: string) => nodeAnnotation.rebootRequired in (await operator.annotations(name));
const untilMark = (name: string) =>
  operator.waitFor('reboot-required', async () => ((await hasMark(name)) ? true : undefined));
const variablesOf = async (where: WindowsHost) => {
  const all = await seeVariables(where);
  return Object.fromEntries(proxyVariables.flatMap(name => (name in all ? [[name, all[name]]] : [])));
};

/**
 * Publishes the desired settings and waits until the host requests a reboot. The agent is stopped meanwhile: between the
 * changes of certificates and variables it would request a reboot for only one of them.
 */
async function want(wanted: Wanted, meanwhile: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  const agent = new AgentService(host);
  await agent.stop();
  await meanwhile();
  await operator.publishTo(host, wanted);
  await agent.start();
  await untilMark(node);
}

async function otherServices(): Promise<Awaited<ReturnType<typeof seeServices>>> {
  const { [agentName]: _agent, ...others } = await seeServices(host);
  return others;
}

/** The part of the operator: reboots the host and removes the annotation. */
async function rebootFor(where: WindowsHost, name: string): Promise<string> {
  const { bootId, answer } = await operator.reboot(where);
  expect(answer).toEqual({ rebooting: true, inSeconds: 0 });
  await where.run('ver');
  // After the agent has reported in the new boot.
  const isOver = async () => ((await operator.report(name)).bootId === bootId ? undefined : true);
  await operator.waitFor('a report of the new boot', isOver, 90_000);
  return bootId;
}

/** Names of the tested variables in each service. */
function environmentOf(where: WindowsHost): Record<string, string[] | undefined> {
  const names = Object.values(serviceName).filter(name => name !== serviceName.cloudNodeManager);
  return Object.fromEntries(names.map(name => [name, where.lab.serviceEvents(name).at(-1)?.environment.toSorted()]));
}
const everywhere = (variables: readonly string[]) =>
  Object.fromEntries(Object.keys(environmentOf(host)).map(name => [name, variables]));

test('writes changes to registry and certificate store and requests a reboot first', async () => {
  const before = await otherServices();
  await want({ proxy, trustedCa: bundle }, () => operator.forgetVersion(node));
  expect(await variablesOf(host)).toEqual(proxy);
  expect(await seeRoots(host)).toEqual([thumbprint(clusterCa), thumbprint(adminCa)].toSorted());
  expect(await otherServices()).toEqual(before);
  expect(await operator.annotations(node)).not.toHaveProperty([nodeAnnotation.version]);
});

test('applies no other changes until the reboot', async () => {
  const before = await seeServices(host);
  const looks = agentLog(host).split('is waiting for a reboot').length;
  await host.run('taskkill /f /im csi-proxy.exe');
  await operator.nudge(node);
  await operator.waitFor('a look', async () =>
    agentLog(host).split('is waiting for a reboot').length > looks ? true : undefined,
  );
  expect(await seeServices(host)).toMatchObject({ ...before, [serviceName.csiProxy]: { state: 'STOPPED', pid: 0 } });
  expect([requests.get(node), await operator.annotations(node)]).toEqual([
    1,
    expect.not.objectContaining({ [nodeAnnotation.version]: expect.anything() }),
  ]);
});

test('the agent starts after the reboot, finishes and reports the version', async () => {
  const boots = host.boots;
  const bootId = await rebootFor(host, node);
  await operator.waitForVersion(node);
  expect(environmentOf(host)).toEqual(everywhere([...proxyVariables].toSorted()));
  expect(Object.values(await seeServices(host)).map(({ state }) => state)).toEqual(Array(7).fill('RUNNING'));
  expect(await host.run(installedAgent.reboot(bootId, 0))).toContain('already rebooted');
  expect([host.boots, host.lab.shutdowns().length]).toEqual([boots + 1, 1]);
  expect([await hasMark(node), requests.get(node)]).toEqual([false, 1]);
});

test('reports a truncated bundle and changes nothing', async () => {
  const [before, roots, imported] = [
    await seeServices(host),
    await seeRoots(host),
    host.drive.read(file.importedCerts),
  ];
  const cut = bundle.slice(0, bundle.length - 40);
  await operator.publishTo(host, { proxy, trustedCa: cut });
  expect(host.drive.read(file.caBundle)).toContain(cut);
  await operator.waitFor('a event', async () => {
    const { events } = await operator.report(node);
    return events.find(({ reason }) => reason === 'CertificateReadError');
  });
  expect([await seeServices(host), await seeRoots(host), await variablesOf(host)]).toEqual([before, roots, proxy]);
  expect([host.drive.read(file.importedCerts), await hasMark(node)]).toEqual([imported, false]);
});

test('other values replace the old ones, with another reboot', async () => {
  await want({ proxy: { ...proxy, NO_PROXY: `${proxy.NO_PROXY},more.test` }, trustedCa: `${second}\n${adminCa}` });
  expect(await variablesOf(host)).toEqual({ ...proxy, NO_PROXY: `${proxy.NO_PROXY},more.test` });
  expect(await seeRoots(host)).toEqual([thumbprint(second), thumbprint(adminCa)].toSorted());
});

test('values reverted before the reboot are gone after it, and a previous certificate stays', async () => {
  // The desired settings may change while the host waits for the reboot.
  await operator.publishTo(host, {});
  await rebootFor(host, node);
  await untilMark(node);
  expect(await variablesOf(host)).toEqual({});
  expect(await seeRoots(host)).toEqual([thumbprint(adminCa)]);
  await operator.forgetVersion(node);
  await rebootFor(host, node);
  await operator.waitForVersion(node);
  expect(environmentOf(host)).toEqual(everywhere([]));
  expect([host.drive.read(file.importedCerts), await hasMark(node), requests.get(node)]).toEqual(['', false, 3]);
});

test('reports a reboot that the operator did not order, and none that it did', async () => {
  const unplanned = async () =>
    (await operator.report(node)).events.filter(({ reason }) => reason === agentEvent.unplannedReboot);
  // Its version was confirmed in this boot, which the operator ordered.
  expect(await unplanned()).toEqual([]);
  const { confirmedBoot } = await operator.report(node);
  await host.reboot();
  const isConfirmed = async () => ((await operator.report(node)).confirmedBoot === confirmedBoot ? undefined : true);
  await operator.waitFor('a confirmation in the new boot', isConfirmed, 90_000);
  expect(await unplanned()).toEqual([expect.objectContaining({ type: 'Warning' })]);
});

test('a host joining a cluster with a proxy is rebooted once before it has a version', async () => {
  await untilMark(newcomerNode);
  expect(await variablesOf(newcomer)).toEqual(proxy);
  expect(await seeRoots(newcomer)).toEqual([thumbprint(clusterCa), thumbprint(adminCa)].toSorted());
  const services = Object.keys(await seeServices(newcomer));
  expect(services).toEqual([serviceName.containerd, serviceName.kubelet, agentName]);
  await rebootFor(newcomer, newcomerNode);
  await newcomerOperator.waitForVersion(newcomerNode);
  expect(environmentOf(newcomer)).toEqual(everywhere([...proxyVariables].toSorted()));
  expect([newcomer.boots, requests.get(newcomerNode)]).toEqual([2, 1]);
});

test('no log, report or Node contains the password of the proxy', async () => {
  const logs = [host, newcomer].flatMap(where =>
    where.drive.list(dir.agentLog).map(name => where.drive.read(`${dir.agentLog}\\${name}`)),
  );
  const objects = await Promise.all([
    ...[node, newcomerNode].map(name => operator.node(name)),
    ...[node, newcomerNode].map(name => operator.report(name)),
  ]);
  expect(logs.length).toBeGreaterThanOrEqual(2);
  for (const text of [...logs, ...objects.map(object => JSON.stringify(object))]) expect(text).not.toContain(password);
  expect([host.lab.unexpected(), newcomer.lab.unexpected()]).toEqual([[], []]);
});
