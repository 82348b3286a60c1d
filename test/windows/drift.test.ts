import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import type { ServiceConfig } from '../../src/agent/ports.ts';
import { nodeAnnotation, serviceName } from '../../src/contract/names.ts';
import { dir, file } from '../../src/contract/paths.ts';
import { findCondition } from '../../src/base/condition.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { ManualLabOperator } from '../kit/winhost/operator.ts';
import { type Scene, startScene } from '../kit/winhost/scene.ts';
import { agentLog, passesOf, type SeenServices, seeServices } from '../kit/winhost/sight.ts';
import { ServiceLab } from './programs/service-lab-host.ts';

/** The next pass of the agent fixes changes on the host and touches nothing else. */

const { containerd, kubelet, exporter, hybridOverlay, csiProxy, kubeProxy } = serviceName;

let scene: Scene;
let host: WindowsHost;
let node: string;
let windows: ServiceLab;
/** A host without events that would trigger a pass. */
let quietHost: WindowsHost;
let quietStory: Promise<void>;

beforeAll(async () => {
  scene = await startScene(inject('agentProgram'));
  // With debug logging the command of the hybrid overlay contains a log level to change.
  await scene.operator.publish({ debug: true });
  [host, quietHost] = await Promise.all([scene.lab.createHost(), scene.lab.createHost()]);
  windows = new ServiceLab(host);
  await windows.install();
  // A separate ConfigMap, so that changes of the other one trigger no pass.
  const quietOperator = new ManualLabOperator(scene.operator.deps, '11.0.0-0000000');
  await quietOperator.publish();
  [node] = await Promise.all([scene.operator.join(host), quietOperator.join(quietHost)]);
  quietStory = crashUnnoticed();
  quietStory.catch(() => undefined);
});
afterAll(() => scene?.[Symbol.asyncDispose]());

async function crashUnnoticed(): Promise<void> {
  await quietHost.run('taskkill /f /im csi-proxy.exe');
  const isBack = async () => (runs(quietHost, csiProxy) === 2 ? true : undefined);
  await scene.operator.waitFor('the timer of the agent', isBack, 150_000);
}

/** How often a service has been running. */
function runs(where: WindowsHost, service: string): number {
  return where.lab.serviceEvents(service).filter(({ event }) => event === 'running').length;
}

const replaced = (path: string, change: (text: string) => string) => async () =>
  host.drive.write(path, change(host.drive.read(path) ?? ''));
const stop = (...services: string[]) => services.map(name => `sc.exe stop ${name}`).join(' & ');

/** Replaces `sc.exe config`, which Wine does not support. */
async function reconfigure(name: string, change: (config: ServiceConfig) => Partial<ServiceConfig>): Promise<void> {
  const config = { ...((await windows.listed(name))?.config as ServiceConfig), recovery: undefined };
  const changed = { ...config, ...change(config) };
  expect(changed).not.toEqual(config);
  await windows.values(['configure', name, changed]);
}

interface Harm {
  what: string;
  do: () => Promise<unknown>;
  /** Services that are restarted, in the order of their start. */
  restarted: string[];
}

const harms: Harm[] = [
  {
    what: 'the command of a service that another one depends on (NODE-09)',
    do: () =>
      reconfigure(hybridOverlay, ({ command }) => ({ command: command.replace('--loglevel 5', '--loglevel 6') })),
    restarted: [hybridOverlay, kubeProxy],
  },
  {
    what: 'the command of the service on which nearly all depend',
    do: () => reconfigure(containerd, ({ command }) => ({ command: `${command} --service-name containerd` })),
    restarted: [containerd, kubelet, hybridOverlay, kubeProxy],
  },
  {
    what: 'dependencies, one taken away and one added',
    do: async () => {
      await reconfigure(kubeProxy, () => ({ dependencies: [] }));
      await reconfigure(csiProxy, () => ({ dependencies: [kubelet] }));
    },
    restarted: [csiProxy, kubeProxy],
  },
  {
    what: 'a description and a start type, without restarts',
    do: () => reconfigure(kubelet, () => ({ description: 'mine', startType: 'manual' })),
    restarted: [],
  },
  { what: 'a killed process', do: () => host.run('taskkill /f /im csi-proxy.exe'), restarted: [csiProxy] },
  {
    what: 'a killed process that another program had started',
    do: () => host.run('taskkill /f /im kubelet.exe'),
    restarted: [kubelet],
  },
  {
    what: 'a deleted service',
    do: () => host.run(`sc.exe stop ${exporter} && sc.exe delete ${exporter}`),
    restarted: [exporter],
  },
  {
    what: 'a stopped dependency with all that need it, as "net stop containerd /y" leaves them',
    do: () => host.exec(stop(kubeProxy, hybridOverlay, kubelet, containerd)),
    restarted: [containerd, kubelet, hybridOverlay, kubeProxy],
  },
  {
    what: 'the program of a service',
    do: replaced(file.csiProxy, text => `${text} and more`),
    restarted: [csiProxy],
  },
  {
    what: 'a configuration that the operator wrote',
    do: replaced(file.kubeletConfig, text => text.replace('250', '1')),
    restarted: [kubelet, hybridOverlay, kubeProxy],
  },
  {
    what: 'a configuration that the agent wrote itself',
    do: replaced(file.kubeProxyConfig, text => text.replace('kernelspace', 'iptables')),
    restarted: [kubeProxy],
  },
  {
    what: 'a CA bundle that is cut short, which changes no certificate',
    do: () => host.drive.write(file.caBundle, '-----BEGIN CERTIFICATE-----\nMIIB'),
    restarted: [],
  },
  { what: 'a deleted file that no command names', do: () => host.drive.remove(file.kubeletCa), restarted: [] },
];

for (const { what, do: harm, restarted } of harms) {
  test(`one pass fixes: ${what}`, async () => {
    const [before, files] = [await seeServices(host), fileTexts()];
    await harm();
    const passes = passesOf(host);
    await scene.operator.nudge(node);
    const wanted = withNewProcesses(before, restarted);
    await vi.waitFor(async () => expect([await seeServices(host), fileTexts()]).toEqual([wanted, files]), patient);
    // A running pass may come first, and readiness of the Node triggers another one.
    expect(passesOf(host) - passes).toBeLessThanOrEqual(restarted.includes(kubelet) ? 4 : 2);
    const started = restarted.map(name => host.lab.serviceEvents(name).at(-1)?.time ?? '');
    expect(started).toEqual(started.toSorted());
  });
}

const patient = { timeout: 40_000, interval: 400 };

/** Waits for a pass that finds the desired state. */
async function passAfter(passes: number, isWanted: () => boolean): Promise<void> {
  const look = async () => (passesOf(host) > passes && isWanted() ? true : undefined);
  await scene.operator.waitFor('a pass of the agent', look, 30_000).catch(error => {
    throw new Error(`${error}\n${agentLog(host).split('\n').slice(-20).join('\n')}`);
  });
}

function withNewProcesses(before: SeenServices, restarted: readonly string[]): SeenServices {
  const entries = Object.entries(before).map(([name, seen]) => {
    const pid = expect.toSatisfy(now => now > 0 && now !== seen.pid) as number;
    return [name, restarted.includes(name) ? { ...seen, pid } : seen] as const;
  });
  return Object.fromEntries(entries);
}

const watchedFiles = [
  file.csiProxy,
  file.kubeletConfig,
  file.kubeProxyConfig,
  file.cniConfig,
  file.caBundle,
  file.kubeletCa,
];
const fileTexts = () => watchedFiles.map(path => host.drive.read(path));

test('reports repaired files', async () => {
  const paths = [file.csiProxy, file.kubeletConfig, file.kubeletCa, file.caBundle];
  await scene.operator.waitFor('all events', async () => {
    const events = await remarksOf(node);
    const repairs = events.filter(({ reason }) => reason === 'FileRepaired').map(({ message }) => message);
    return paths.every(path => repairs.some(message => message.includes(path))) ? true : undefined;
  });
});

test('reports services that it started, and nothing about those that it restarted itself', async () => {
  const started = (await remarksOf(node)).filter(({ reason }) => reason === 'ServiceStarted');
  expect(started.map(({ message }) => message)).toContain(
    `Started services that were not running: ${[containerd, kubelet, hybridOverlay, kubeProxy].join(', ')}`,
  );
  expect(started.filter(({ message }) => message.includes(exporter))).toEqual([]);
});

test('the Node is ready again', async () => {
  const isReady = async () =>
    findCondition((await scene.operator.node(node)).status?.conditions, 'Ready')?.status === 'True' ? true : undefined;
  await scene.operator.waitFor('a Node that is ready', isReady);
  expect((await scene.operator.annotations(node))[nodeAnnotation.version]).toBe(scene.operator.version);
});

const remarksOf = async (name: string) => (await scene.operator.report(name)).events;

test('CA-06: reports a removed version again and deletes old certificates of the overlay', async () => {
  const [before, passes] = [await seeServices(host), passesOf(host)];
  for (let day = 10; day < 20; day += 1) {
    await host.drive.write(`${dir.cniConfig}\\ovnkube-client-2026-01-${day}-00-00-00.pem`, 'old');
  }
  await scene.operator.forgetVersion(node);
  await scene.operator.nudge(node);
  await scene.operator.waitForVersion(node);
  await passAfter(passes, () => true);
  const left = host.drive.list(dir.cniConfig).filter(name => name.startsWith('ovnkube-client-'));
  expect(left).toEqual(['ovnkube-client-2026-01-18-00-00-00.pem', 'ovnkube-client-2026-01-19-00-00-00.pem']);
  expect(await seeServices(host)).toEqual(before);
});

test('reports an invalid ConfigMap and changes nothing', async () => {
  const before = await seeServices(host);
  await scene.operator.publishData({ services: '[{"name":"containerd"', files: '[]' });
  const hasTold = async () =>
    (await remarksOf(node)).find(
      ({ type, message }) => type === 'Warning' && message.includes('services') && !message.includes('does not exist'),
    );
  expect(await scene.operator.waitFor('a event', hasTold)).toMatchObject({ reason: 'ConfigurationFailure' });
  expect(await seeServices(host)).toEqual(before);
  const passes = passesOf(host);
  await scene.operator.publish({ debug: true });
  await passAfter(passes, () => agentLog(host).trimEnd().split('\n').at(-1)?.includes('Host is configured') ?? false);
  expect(await seeServices(host)).toEqual(before);
});

test('repairs drift while the Node waits for a reboot', async () => {
  const before = await seeServices(host);
  await host.run('taskkill /f /im csi-proxy.exe');
  const passes = passesOf(host);
  await scene.operator.annotate(node, { [nodeAnnotation.rebootRequired]: '' });
  await passAfter(passes, () => host.lab.serviceEvents(csiProxy).at(-1)?.event === 'running');
  expect(await seeServices(host)).toEqual(withNewProcesses(before, [csiProxy]));
  await scene.operator.annotate(node, { [nodeAnnotation.rebootRequired]: null });
});

test('restarts a crashed service within two minutes without an event', async () => {
  await quietStory;
  expect((await seeServices(quietHost))[csiProxy]).toMatchObject({ state: 'RUNNING' });
  expect([host.lab.unexpected(), quietHost.lab.unexpected()]).toEqual([[], []]);
});
