import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { agentEvent } from '../../src/contract/agent-report.ts';
import { agentName, nodeAnnotation, proxyVariables, serviceName } from '../../src/contract/names.ts';
import { dir, file } from '../../src/contract/paths.ts';
import { nodes } from '../../src/kube/resources.ts';
import { TestCa } from '../kit/certificates.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { ManualLabOperator, type Wanted } from '../kit/winhost/operator.ts';
import { type Scene, startScene } from '../kit/winhost/scene.ts';
import {
  addRoot,
  agentLog,
  seeRoots,
  seeServices,
  seeServiceVariables,
  seeVariables,
  thumbprint,
} from '../kit/winhost/sight.ts';

/**
 * Proxy variables and trusted certificates: set, changed and removed while the host stays up. Windows adds the variables of
 * a service to those of its own boot; Wine stores them and ignores them, so that services see variables after a boot only.
 */

const { kubeProxy } = serviceName;
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
const ending = new AbortController();
const marked: string[] = [];
/** A variable of an administrator in one of our services. */
const own = { OWN: 'of-the-administrator' };

beforeAll(async () => {
  scene = await startScene(inject('agentProgram'));
  operator = scene.operator;
  followMarks().catch(() => undefined);
  newcomerOperator = new ManualLabOperator(operator.deps, '11.0.0-1111111');
  await newcomerOperator.publish({ proxy, trustedCa: bundle });
  [host, newcomer] = await Promise.all([scene.lab.createHost(), scene.lab.createHost()]);
  await addRoot(host, adminCa);
  [node, newcomerNode] = await Promise.all([operator.join(host), newcomerOperator.join(newcomer)]);
  const key = `HKLM\\SYSTEM\\CurrentControlSet\\Services\\${serviceName.csiProxy}`;
  await host.run(`reg add ${key} /v Environment /t REG_MULTI_SZ /d OWN=${own.OWN} /f`);
});
afterAll(() => {
  ending.abort();
  return scene?.[Symbol.asyncDispose]();
});

/** Watches Nodes, and notes those that require a reboot. */
async function followMarks(): Promise<void> {
  for await (const { object } of scene.cluster.client.watch(nodes, { timeoutSeconds: 1800, signal: ending.signal })) {
    const { name = '', annotations = {} } = object.metadata;
    if (nodeAnnotation.rebootRequired in annotations) marked.push(name);
  }
}

const variablesOf = async (where: WindowsHost) => {
  const all = await seeVariables(where);
  return Object.fromEntries(proxyVariables.flatMap(name => (name in all ? [[name, all[name]]] : [])));
};
const configured = (where: WindowsHost) => agentLog(where).split('Host is configured').length;

/** Publishes the desired settings and waits until they are applied. */
async function want(wanted: Wanted, isApplied: () => Promise<boolean>): Promise<void> {
  await operator.publishTo(host, wanted);
  await operator.waitFor('settings that are applied', async () => ((await isApplied()) ? true : undefined));
  const passes = configured(host);
  await operator.nudge(node);
  await operator.waitFor('another pass', async () => (configured(host) > passes ? true : undefined));
}

async function pidsOf(where: WindowsHost): Promise<Record<string, number>> {
  const { [agentName]: _agent, ...others } = await seeServices(where);
  return Object.fromEntries(
    Object.entries(others).map(([name, { state, pid }]) => [name, state === 'RUNNING' ? pid : 0]),
  );
}

/** Services whose process is another one than before. */
async function restarted(before: Record<string, number>): Promise<string[]> {
  const now = await pidsOf(host);
  expect(Object.values(now)).not.toContain(0);
  return Object.keys(now).filter(name => now[name] !== before[name]);
}

const names = Object.values(serviceName).filter(name => name !== serviceName.cloudNodeManager);
/** Names of the tested variables that each service sees. */
function seenBy(where: WindowsHost): Record<string, string[] | undefined> {
  return Object.fromEntries(names.map(name => [name, where.lab.serviceEvents(name).at(-1)?.environment.toSorted()]));
}
const everywhere = <T>(value: T) => Object.fromEntries(names.map(name => [name, value]));
const rootsOf = (...certificates: string[]) => certificates.map(thumbprint).toSorted();
const untouched = () => expect([host.boots, host.lab.shutdowns(), marked]).toEqual([1, [], []]);

test('PRX-01, CA-02: a new proxy and certificate reach registry, store and services without a reboot', async () => {
  const before = await pidsOf(host);
  await want({ proxy, trustedCa: bundle }, async () => (await operator.report(node)).variablesBoot !== '');
  expect(await variablesOf(host)).toEqual(proxy);
  expect(await seeServiceVariables(host)).toEqual({
    ...everywhere(proxy),
    [serviceName.csiProxy]: { ...own, ...proxy },
  });
  expect(await seeRoots(host)).toEqual(rootsOf(clusterCa, adminCa));
  expect((await restarted(before)).toSorted()).toEqual(names.toSorted());
  const { version, variablesBoot, bootId, rebootRequired } = await operator.report(node);
  expect([version, variablesBoot, rebootRequired]).toEqual([operator.version, bootId, false]);
  untouched();
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
  expect(host.drive.read(file.importedCerts)).toEqual(imported);
});

test('PRX-03 superseded: another value restarts the services instead of the host', async () => {
  const before = await pidsOf(host);
  const other = { ...proxy, NO_PROXY: `${proxy.NO_PROXY},more.test` };
  const isApplied = async () => (await seeServiceVariables(host))[kubeProxy]?.['NO_PROXY'] === other.NO_PROXY;
  await want({ proxy: other, trustedCa: `${second}\n${adminCa}` }, isApplied);
  expect(await variablesOf(host)).toEqual(other);
  expect(await seeServiceVariables(host)).toEqual({
    ...everywhere(other),
    [serviceName.csiProxy]: { ...own, ...other },
  });
  expect(await seeRoots(host)).toEqual(rootsOf(second, adminCa));
  expect((await restarted(before)).toSorted()).toEqual(names.toSorted());
  untouched();
});

test('CA-02: another certificate alone is imported soon after its file is placed, and restarts nothing', async () => {
  const before = await pidsOf(host);
  const other = { ...proxy, NO_PROXY: `${proxy.NO_PROXY},more.test` };
  const startMs = performance.now();
  await operator.stageTexts(host, { proxy: other, trustedCa: `${clusterCa}\n${adminCa}` });
  const isImported = async () => ((await seeRoots(host)).includes(thumbprint(clusterCa)) ? true : undefined);
  await operator.waitFor('the new certificate', isImported);
  console.log(`imported ${Math.round(performance.now() - startMs)} ms after the upload began`);
  expect(performance.now() - startMs).toBeLessThan(60_000);
  expect([await seeRoots(host), await restarted(before)]).toEqual([rootsOf(clusterCa, adminCa), []]);
});

test('PRX-04, CA-02: what is no longer wanted goes, and what others have set stays', async () => {
  const before = await pidsOf(host);
  await want({}, async () => !('HTTP_PROXY' in ((await seeServiceVariables(host))[kubeProxy] ?? {})));
  expect([await variablesOf(host), await seeServiceVariables(host)]).toEqual([{}, { [serviceName.csiProxy]: own }]);
  expect([await seeRoots(host), host.drive.read(file.importedCerts)]).toEqual([rootsOf(adminCa), '']);
  expect((await restarted(before)).toSorted()).toEqual(names.toSorted());
  expect(seenBy(host)).toEqual(everywhere([]));
  untouched();
});

test('reports a reboot that the operator did not order, and none that it did', async () => {
  const unplanned = async () =>
    (await operator.report(node)).events.filter(({ reason }) => reason === agentEvent.unplannedReboot);
  expect(await unplanned()).toEqual([]);
  const { confirmedBoot } = await operator.report(node);
  await host.reboot();
  const isConfirmed = async () => ((await operator.report(node)).confirmedBoot === confirmedBoot ? undefined : true);
  await operator.waitFor('a confirmation in the new boot', isConfirmed, 90_000);
  expect(await unplanned()).toEqual([expect.objectContaining({ type: 'Warning' })]);
});

test('PRX-01: a host joins a cluster with a proxy without a reboot', async () => {
  expect([await variablesOf(newcomer), await seeServiceVariables(newcomer)]).toEqual([proxy, everywhere(proxy)]);
  expect(await seeRoots(newcomer)).toEqual(rootsOf(clusterCa, adminCa));
  expect([newcomer.boots, marked]).toEqual([1, []]);
});

test('PRX-04: a variable that Windows gives to services since its boot is emptied for them', async () => {
  const { confirmedBoot } = await operator.report(newcomerNode);
  await newcomerOperator.reboot(newcomer);
  const isOver = async () => (await operator.report(newcomerNode)).confirmedBoot !== confirmedBoot || undefined;
  await operator.waitFor('a confirmation in the new boot', isOver, 90_000);
  expect((await operator.report(newcomerNode)).variablesBoot).toBe('');
  expect(seenBy(newcomer)).toEqual(everywhere([...proxyVariables].toSorted()));
  await newcomerOperator.publishTo(newcomer, {});
  const empty = Object.fromEntries(proxyVariables.map(name => [name, '']));
  const isEmptied = async () => (await seeServiceVariables(newcomer))[kubeProxy]?.['HTTP_PROXY'] === '' || undefined;
  await operator.waitFor('emptied variables', isEmptied);
  expect([await variablesOf(newcomer), await seeServiceVariables(newcomer)]).toEqual([{}, everywhere(empty)]);
  expect(newcomer.boots).toBe(2);
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
