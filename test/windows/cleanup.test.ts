import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { managedTag, nodeAnnotation, serviceName } from '../../src/contract/names.ts';
import { dir, file } from '../../src/contract/paths.ts';
import { nodes } from '../../src/kube/resources.ts';
import { TestCa } from '../kit/certificates.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import type { ManualLabOperator } from '../kit/winhost/operator.ts';
import { type Scene, startScene } from '../kit/winhost/scene.ts';
import { addRoot, seeRoots, seeServices, seeVariables, thumbprint } from '../kit/winhost/sight.ts';
import { difference, type Snapshot, takeSnapshot } from '../kit/winhost/snapshot.ts';
import { installedAgent } from '../kit/installed-agent.ts';

/** Cleanup removes exactly what the agent installed, with any part of the cluster missing. */

const { containerd, kubelet, exporter, hybridOverlay, csiProxy, kubeProxy } = serviceName;
const lastFirst = [kubeProxy, csiProxy, hybridOverlay, exporter, kubelet, containerd];
const proxy = { HTTP_PROXY: 'http://proxy.test:3128', NO_PROXY: '.svc,apiserver.test' };
const [clusterCa, adminCa] = [new TestCa('clusterCa').cert, new TestCa('adminCa').cert];
/** A service of another program that depends on one of ours. */
const foreign = 'backup';

let scene: Scene;
let operator: ManualLabOperator;
/** Has its own variables, certificates and services, and loses the API server. */
let lonely: WindowsHost;
let lonelyNode: string;
let pristine: Snapshot;
/** Configured and cleaned up alternately. */
let host: WindowsHost;
let node: string;
/** Has a service that does not stop. */
let stubborn: WindowsHost;
let stubbornStory: Promise<Answer>;

beforeAll(async () => {
  scene = await startScene(inject('agentProgram'));
  operator = scene.operator;
  await operator.publish({ proxy, trustedCa: `${clusterCa}\n${adminCa}` });
  [lonely, host, stubborn] = (await Promise.all([1, 2, 3].map(() => scene.lab.createHost()))) as [
    WindowsHost,
    WindowsHost,
    WindowsHost,
  ];
  await furnish(lonely);
  pristine = await takeSnapshot(lonely);
  stubbornStory = cleanStubborn();
  stubbornStory.catch(() => undefined);
  [lonelyNode, node] = await Promise.all([operator.join(lonely), operator.join(host)]);
  await lonely.run(`sc.exe start ${foreign}`);
});
afterAll(() => scene?.[Symbol.asyncDispose]());

/** Objects of an administrator, and the agent with its unpacked native part. */
async function furnish(where: WindowsHost): Promise<void> {
  await addRoot(where, adminCa);
  const key = 'HKLM\\SYSTEM\\CurrentControlSet\\Control\\Session Manager\\Environment';
  await where.run(`reg add "${key}" /v NO_PROXY /d of-the-administrator /f`);
  await where.run(`sc.exe create ${foreign} binPath= "C:\\lab\\programs\\service.exe" depend= ${kubelet}`);
  await where.drive.copyIn(operator.deps.agent, file.agent);
  await where.run(installedAgent.inventory());
}

const hasMark = async (name: string, mark: keyof typeof nodeAnnotation) =>
  nodeAnnotation[mark] in (await operator.annotations(name));

interface Answer {
  code: number;
  ms: number;
  answer: unknown;
}

async function clean(where: WindowsHost, more = ''): Promise<Answer> {
  const startMs = performance.now();
  const { code, stdout } = await operator.cleanup(where, more);
  return { code, ms: Math.round(performance.now() - startMs), answer: JSON.parse(stdout) };
}

const done = (answer: object) => ({
  code: 0,
  ms: expect.any(Number),
  answer: { removed: [], keptSettings: false, rebootNeeded: false, clusterReached: true, ...answer },
});

async function cleanStubborn(): Promise<Answer> {
  await operator.stage(stubborn);
  await operator.bootstrap(stubborn);
  await stubborn.lab.setFault(containerd, 'ignore-stop', 0);
  return clean(stubborn);
}

/** Names of our running programs. */
async function programsOn(where: WindowsHost): Promise<string[]> {
  const known = ['containerd', 'kubelet', 'windows_exporter', 'hybrid-overlay', 'csi-proxy', 'kube-', 'windows-inst'];
  const names = (await where.run('tasklist')).split('\n').map(line => line.slice(0, 25).trim());
  return names.filter(name => known.some(begin => name.startsWith(begin)));
}

const proxyOn = async (where: WindowsHost) => {
  const { HTTP_PROXY, NO_PROXY } = await seeVariables(where);
  return { HTTP_PROXY, NO_PROXY };
};

test('removes everything within the time limit without the API server', async () => {
  expect(await proxyOn(lonely)).toEqual(proxy);
  expect(await seeRoots(lonely)).toEqual([thumbprint(clusterCa), thumbprint(adminCa)].toSorted());
  expect((await seeServices(lonely, [foreign]))[foreign]?.state).toBe('RUNNING');
  scene.cluster.cut();
  try {
    await operator.removeAgentService(lonely);
    const answer = await clean(lonely);
    console.log(`cleaned without the API server in ${answer.ms} ms`);
    expect(answer).toEqual(done({ removed: lastFirst, rebootNeeded: true, clusterReached: false }));
    expect(answer.ms).toBeLessThan(90_000);
  } finally {
    scene.cluster.restore();
  }
  expect(await seeServices(lonely, [foreign])).toEqual({ [foreign]: expect.objectContaining({ state: 'STOPPED' }) });
  expect(await programsOn(lonely)).toEqual([]);
  expect(await proxyOn(lonely)).toEqual({ HTTP_PROXY: undefined, NO_PROXY: 'of-the-administrator' });
  expect(await seeRoots(lonely)).toEqual([thumbprint(adminCa)]);
  expect(await hasMark(lonelyNode, 'version')).toBe(true);
});

test('reports that a reboot is needed until the host was rebooted', async () => {
  const marks = await operator.annotations(lonelyNode);
  expect(await clean(lonely)).toEqual(done({ rebootNeeded: true }));
  await operator.reboot(lonely);
  expect(await clean(lonely)).toEqual(done({}));
  expect(await operator.annotations(lonelyNode)).toEqual(marks);
});

test('does not wait forever for an API server that does not answer', async () => {
  scene.cluster.freeze();
  try {
    const answer = await clean(lonely);
    expect(answer).toEqual(done({ clusterReached: false }));
    expect(answer.ms).toBeLessThan(90_000);
  } finally {
    scene.cluster.restore();
  }
});

test('the host is in the state before the join', async () => {
  await operator.removeDirectories(lonely);
  const left = difference(pristine, await takeSnapshot(lonely));
  // The kubelet keeps its certificates; C:\k with the agent is removed by the operator.
  const expected =
    /^added C:\\var(\\lib(\\kubelet(\\pki.*)?)?)?$|^removed C:\\k(\\windows-instance-config-daemon\.exe)?$/;
  expect(left.filter(line => !expected.test(line))).toEqual([]);
  expect(lonely.lab.unexpected()).toEqual([]);
});

test('--keep-settings keeps variables for the next configuration', async () => {
  await operator.removeAgentService(host);
  expect(await clean(host, ' --keep-settings')).toEqual(done({ removed: lastFirst, keptSettings: true }));
  expect([await seeServices(host), await programsOn(host), await proxyOn(host)]).toEqual([{}, [], proxy]);
  await operator.join(host);
  expect([host.boots, await hasMark(node, 'rebootRequired'), await proxyOn(host)]).toEqual([1, false, proxy]);
});

test('does not touch the Node, and a second run changes nothing', async () => {
  const marks = await operator.annotations(node);
  await operator.removeAgentService(host);
  expect(await clean(host)).toEqual(done({ removed: lastFirst, rebootNeeded: true }));
  expect([await seeServices(host), await programsOn(host), await proxyOn(host)]).toEqual([{}, [], {}]);
  expect(await operator.annotations(node)).toEqual(marks);
  const settled = await takeSnapshot(host);
  expect(await clean(host)).toEqual(done({ rebootNeeded: true }));
  expect(difference(settled, await takeSnapshot(host))).toEqual([]);
  await operator.reboot(host);
});

test('removes services without a Node, including tagged ones', async () => {
  await operator.bootstrap(host);
  await host.run(`sc.exe create left-over binPath= "C:\\lab\\programs\\service.exe"`);
  await host.run(`sc.exe description left-over "${managedTag} left-over" && sc.exe start left-over`);
  await scene.cluster.client.delete(nodes, node);
  expect(await clean(host)).toEqual(done({ removed: expect.toSatisfy(isLeftOverAnd(kubelet, containerd)) }));
  expect([await seeServices(host, ['left-over']), await programsOn(host)]).toEqual([{}, []]);
});

const isLeftOverAnd =
  (...names: string[]) =>
  (removed: string[]) =>
    JSON.stringify(removed.filter(name => name !== 'left-over')) === JSON.stringify(names) &&
    removed.includes('left-over');

test('removes tagged services without a services ConfigMap', async () => {
  await operator.bootstrap(host);
  node = await operator.findNode(host);
  await operator.unpublish();
  expect(await clean(host)).toEqual(done({ removed: [kubelet, containerd] }));
  expect([await seeServices(host), await programsOn(host)]).toEqual([{}, []]);
  expect([host.lab.unexpected(), host.drive.exists(`${dir.k}\\wicd-manifest.json`)]).toEqual([[], false]);
});

test('kills a service that does not stop within two minutes', async () => {
  const { code, ms, answer } = await stubbornStory;
  expect([code, answer]).toEqual([0, expect.objectContaining({ removed: [kubelet, containerd] })]);
  expect(ms).toBeGreaterThan(120_000);
  expect([await seeServices(stubborn), await programsOn(stubborn)]).toEqual([{}, []]);
  expect(stubborn.lab.serviceEvents(containerd).at(-1)?.event).toBe('ignores-stop');
}, 300_000);
