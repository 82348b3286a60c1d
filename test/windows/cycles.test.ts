import { afterAll, afterEach, beforeAll, expect, inject, test } from 'vitest';
import type { InstalledService } from '../../src/agent/ports.ts';
import { agentName, managedTag, serviceName } from '../../src/contract/names.ts';
import { dir, file } from '../../src/contract/paths.ts';
import { certificateSigningRequests } from '../../src/kube/resources.ts';
import { AgentService } from '../kit/winhost/agent-service.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { type Scene, startScene } from '../kit/winhost/scene.ts';
import { difference, takeSnapshot } from '../kit/winhost/snapshot.ts';
import { ServiceLab } from './programs/service-lab-host.ts';

/** Starts and stops of the agent service at every moment. */

const stopLimitMs = 20_000;

let scene: Scene;
let host: WindowsHost;
let node: string;
let agent: AgentService;
let windows: ServiceLab;

beforeAll(async () => {
  scene = await startScene(inject('agentProgram'));
  host = await scene.lab.createHost();
  agent = new AgentService(host);
  windows = new ServiceLab(host);
  await windows.install();
  node = await scene.operator.join(host);
});
afterEach(async () => {
  scene.cluster.restore();
  await host.lab.clearFaults();
});
afterAll(() => scene?.[Symbol.asyncDispose]());

/** Process ids of the services that the agent manages. */
async function managedPids(): Promise<Record<string, number>> {
  const services = (await windows.value('list')) as InstalledService[];
  const managed = services.filter(({ name, config }) => config.description.includes(managedTag) && name !== agentName);
  return Object.fromEntries(managed.map(({ name, pid }) => [name, pid]));
}

/** Names of all running programs, without those of this SSH session. */
async function programs(): Promise<string[]> {
  const session = ['start.exe', 'wpump.exe', 'cmd.exe', 'tasklist.exe'];
  const lines = (await host.run('tasklist')).split('\n').slice(2);
  return lines
    .map(line => line.slice(0, 25).trim())
    .filter(name => !session.includes(name))
    .toSorted();
}

const count = (part: string) => agent.log().filter(line => line.includes(part)).length;
const passes = () => count('Host is configured');
const passAfter = (before: number) =>
  scene.operator.waitFor('a pass', async () => (passes() > before ? true : undefined));

/** CYCLES=200 for a longer trial. */
const cycleCount = Number(process.env['CYCLES'] ?? 60);

test(`${cycleCount} starts and stops succeed without leftovers, and the services keep running`, async () => {
  await agent.stop();
  const requests = async () => (await scene.cluster.client.listAll(certificateSigningRequests)).items.length;
  const [pids, running, files, asked] = [
    await managedPids(),
    await programs(),
    await takeSnapshot(host),
    await requests(),
  ];
  const [begun, ended] = [count('Starting program='), count('Stopped agent')];
  const startMs = performance.now();
  const cycles = await windows.cycle(agentName, cycleCount, [0, 0, 40, 80, 160, 320]);
  console.log(`${cycleCount} cycles in ${Math.round(performance.now() - startMs)} ms, ${timesOf(cycles)}`);
  expect(cycles.failures).toEqual([]);
  expect(cycles.stopMs).toHaveLength(cycleCount);
  expect(Math.max(...cycles.stopMs)).toBeLessThan(stopLimitMs);
  expect([count('Starting program=') - begun, count('Stopped agent') - ended]).toEqual([cycleCount, cycleCount]);
  expect(await agent.exitCode()).toBe(0);
  expect([agent.log('WARNING'), agent.log('ERROR'), host.lab.unexpected()]).toEqual([[], [], []]);
  expect([agent.pids(), await programs(), await managedPids()]).toEqual([[], running, pids]);
  // Logs of agent and kubelet, and the cache of a complete pass.
  const changed = difference(files, await takeSnapshot(host)).filter(line => !line.includes(`${dir.log}\\`));
  expect(changed).toEqual([]);
  expect(host.drive.list(dir.agentLog)).toEqual([`${agentName}.exe.INFO`]);
  expect(await requests()).toBe(asked);
}, 600_000);

function timesOf({ startMs, stopMs }: { startMs: number[]; stopMs: number[] }): string {
  const figures = Object.entries({ start: startMs, stop: stopMs }).map(([name, ms]) => {
    const mean = ms.reduce((sum, each) => sum + each, 0) / ms.length;
    return `${name} ${Math.round(mean)} ms on average, ${Math.max(...ms)} at most`;
  });
  return figures.join(', ');
}

test('the agent still reconciles the host afterwards', async () => {
  const [before, pids] = [passes(), await managedPids()];
  await agent.start();
  await passAfter(before);
  expect([await agent.state(), await managedPids()]).toEqual(['RUNNING', pids]);
});

test('the agent stops while the API server does not answer', async () => {
  scene.cluster.freeze();
  const ended = count('Stopped agent');
  // A request is pending now.
  await scene.operator.annotate(node, { 'test.example/frozen': 'true' });
  expect(await agent.stop()).toBeLessThan(stopLimitMs);
  expect([await agent.exitCode(), count('Stopped agent') - ended]).toEqual([0, 1]);
});

test('stops while it is starting', async () => {
  scene.cluster.freeze();
  await agent.start();
  // It reports running after a second, which may pass before the query on a busy machine.
  expect(['START_PENDING', 'RUNNING']).toContain(await agent.state());
  const ended = count('Stopped agent');
  expect(await agent.stop()).toBeLessThan(stopLimitMs);
  expect([await agent.exitCode(), count('Stopped agent') - ended]).toEqual([0, 1]);
});

test('the agent stops during a pass, and the next start completes it', async () => {
  const slow = serviceName.exporter;
  const events = () => host.lab.serviceEvents(slow).map(({ event }) => event);
  const [pids, before] = [await managedPids(), passes()];
  await windows.values(['stopped', slow]);
  await host.lab.setFault(slow, 'slow-start', 15_000);
  const earlier = events().length;
  await agent.start();
  await scene.operator.waitFor(`the start of ${slow}`, async () => (events().length > earlier ? true : undefined));
  const stopMs = await agent.stop();
  expect(events().slice(earlier)).toEqual(['start']);
  expect(stopMs).toBeLessThan(stopLimitMs);
  expect([await agent.exitCode(), passes()]).toEqual([0, before]);
  await agent.start();
  await passAfter(before);
  expect(events().slice(earlier)).toEqual(['start', 'running']);
  expect(await managedPids()).toEqual({ ...pids, [slow]: expect.any(Number) });
});

test('Windows restarts the agent after a crash without other changes', async () => {
  const [pids, running, before] = [await managedPids(), await programs(), passes()];
  expect(agent.kill()).toBe(1);
  await agent.ended();
  expect(await agent.exitCode()).toBe(1067);
  await agent.start();
  await passAfter(before);
  expect([await managedPids(), await programs()]).toEqual([pids, running]);
});

test('an agent without a kubeconfig logs it, waits, and can be stopped', async () => {
  await agent.stop();
  const kubeconfig = host.drive.read(file.agentKubeconfig) ?? '';
  await host.drive.remove(file.agentKubeconfig);
  await agent.start();
  await scene.operator.waitFor('a word about the kubeconfig', async () =>
    agent.log('WARNING').at(-1)?.includes('CREDENTIAL_UNREADABLE') ? true : undefined,
  );
  expect(await agent.stop()).toBeLessThan(stopLimitMs);
  expect(await agent.exitCode()).toBe(0);
  await agent.start();
  const before = passes();
  await host.drive.write(file.agentKubeconfig, kubeconfig);
  await passAfter(before);
});
