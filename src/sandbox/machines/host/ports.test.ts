import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HostPorts } from '#agent/ports.ts';
import { sha256 } from '#base/sha256.ts';
import { type ManualClock, manualClock } from '../../../../test/kit/manual-clock.ts';
import { idleProgram } from '../programs/idle.ts';
import { defaultTraits } from '../traits.ts';
import { ContentStore } from './content-store.ts';
import { SimulatedFiles } from './files.ts';
import { hostPorts } from './ports.ts';
import { SimulatedProcesses } from './processes.ts';
import { restrictedPorts } from './restricted-ports.ts';
import { SimulatedServices } from './services.ts';
import { freshState, type HostState } from './state.ts';

let store: ContentStore;
let state: HostState;
let ports: HostPorts;
let clock: ManualClock;
let files: SimulatedFiles;
let processes: SimulatedProcesses;
const reboots: number[] = [];
const never = new AbortController().signal;

beforeEach(async () => {
  store = await ContentStore.open();
  clock = manualClock();
  state = freshState({ hostName: 'win-1', address: '10.0.0.11', dnsSuffix: '', id: 'x' }, defaultTraits);
  files = new SimulatedFiles({ store, clock, diskBytes: () => 1000, pace: () => Promise.resolve() });
  processes = new SimulatedProcesses();
  const times = { serviceStartMs: 1, serviceStopMs: 1, featureMs: 5000, scriptMs: 900 };
  const services = new SimulatedServices({
    records: state.services,
    clock,
    times,
    launch: () => processes.start(['x.exe'], idleProgram),
    end: pid => processes.find(pid)?.stop(),
  });
  reboots.length = 0;
  const reboot = (seconds: number) => void reboots.push(seconds);
  ports = hostPorts({ state, files, services, processes, delays: clock, times, busyPorts: () => [9000], reboot });
});
afterEach(() => store.close());

test('reports name and operating system', async () => {
  const { system } = ports;
  expect([await system.hostName(), await system.fqdn()]).toEqual(['win-1', 'win-1']);
  state.dnsSuffix = 'sandbox.test';
  expect(await system.fqdn()).toBe('win-1.sandbox.test');
  expect(await system.operatingSystem()).toEqual(defaultTraits.os);
  expect(await system.isAdministrator()).toBe(true);
  expect(await system.bootId()).toBe('x-1');
});

test('reports free disk space', async () => {
  await files.write('C:\\x', 'x'.repeat(400));
  expect(await ports.system.freeBytes('C:\\k')).toBe(600);
});

test('returns copies', async () => {
  (await ports.system.adapters()).length = 0;
  (await ports.system.pendingReboot()).push('x');
  (await ports.network.networks()).push({} as never);
  expect([state.adapters.length, state.pendingReboot, state.networks]).toEqual([1, [], []]);
});

test('the feature takes its time to install and a reboot to work', async () => {
  state.containersFeature = 'disabled';
  const enabling = ports.system.enableContainers(never);
  await clock.advance(4999);
  expect(state.containersFeature).toBe('disabled');
  await clock.advance(1);
  expect(await enabling).toBe(true);
  expect([await ports.system.containersFeature(), await ports.system.pendingReboot()]).toEqual([
    'enable-pending',
    ['a feature or an update'],
  ]);
});

test('an installed feature needs neither', async () => {
  expect(await ports.system.enableContainers(never)).toBe(false);
});

test('installing a feature can be aborted', async () => {
  state.containersFeature = 'disabled';
  const stop = new AbortController();
  const enabling = ports.system.enableContainers(stop.signal);
  stop.abort(new Error('enough'));
  await expect(enabling).rejects.toThrow('enough');
  expect(state.containersFeature).toBe('disabled');
});

test('a new name is used after the next boot', async () => {
  expect(await ports.system.rename('node-7')).toBe(true);
  await ports.system.rename('node-7');
  expect([await ports.system.hostName(), state.newName, state.pendingReboot]).toEqual([
    'win-1',
    'node-7',
    ['the host was renamed'],
  ]);
});

test('a reboot is passed on with its delay', async () => {
  await ports.system.reboot(3, 'because');
  expect(reboots).toEqual([3]);
});

test('reports ports in use: of Windows, other programs and running services', async () => {
  expect(await ports.system.listeningPorts()).toEqual([22, 135, 445, 9000]);
  const config = { command: 'x', description: '', dependencies: [], startType: 'manual', recovery: undefined } as const;
  for (const name of ['kubelet', 'windows_exporter']) {
    await ports.services.create(name, config);
    await ports.services.start(name);
  }
  await clock.advance(1);
  expect(await ports.system.listeningPorts()).toEqual([22, 135, 445, 9000, 10_250, 9182]);
});

test('Microsoft Defender runs everywhere; other processes when they do', async () => {
  expect(await ports.system.isProcessRunning('MsMpEng')).toBe(true);
  expect(await ports.system.isProcessRunning('kubelet')).toBe(false);
  processes.start(['kubelet.exe'], idleProgram);
  expect(await ports.system.isProcessRunning('kubelet')).toBe(true);
});

test('variables are set and removed without regard to case, and processes see none of it', async () => {
  const { environment } = ports;
  await environment.setMachine('HTTP_PROXY', 'a');
  await environment.setMachine('http_proxy', 'b');
  expect(await environment.machine()).toMatchObject({ http_proxy: 'b' });
  expect(await environment.machine()).not.toHaveProperty('HTTP_PROXY');
  expect(environment.process()).not.toHaveProperty('http_proxy');
  await environment.removeMachine('Http_Proxy');
  await environment.removeMachine('nothing');
  expect(Object.keys(await environment.machine())).toEqual(['OS', 'Path', 'TEMP']);
});

test('certificates are listed by hash', async () => {
  const { certificates } = ports;
  const der = Buffer.from('certificate');
  await certificates.add(der);
  await certificates.add(der);
  expect(await certificates.list()).toEqual([sha256(der)]);
  await certificates.remove(sha256(der));
  await certificates.remove('unknown');
  expect(await certificates.list()).toEqual([]);
});

test('PowerShell takes time and can be aborted', async () => {
  let answer: string | undefined;
  const running = ports.scripts.run('Get-Help', never).then(text => void (answer = text));
  await clock.advance(899);
  expect(answer).toBeUndefined();
  await clock.advance(1);
  await running;
  expect(answer).toBe('');
  await expect(ports.scripts.run('x', AbortSignal.abort(new Error('no')))).rejects.toThrow('no');
});

const network = () => ({ id: 'net', name: 'OVN', subnets: ['10.132.3.0/24'], managementIp: '10.0.0.11' });

test('an endpoint of a network has an address of it, and shows as an adapter when the host has it', async () => {
  state.networks.push(network());
  const endpoint = await ports.network.createEndpoint('net', 'VIPEndpoint');
  expect(endpoint).toMatchObject({ name: 'VIPEndpoint', networkId: 'net', ipAddress: '10.132.3.2' });
  expect(await ports.system.adapters()).toHaveLength(1);
  await ports.network.attachToHost(endpoint.id);
  const [, added] = await ports.system.adapters();
  expect(added).toMatchObject({
    name: 'vEthernet (VIPEndpoint)',
    mac: endpoint.mac,
    addresses: ['10.132.3.2/24'],
    defaultRouteMetric: undefined,
  });
});

test('endpoints have addresses of their own', async () => {
  state.networks.push(network());
  const made = [await ports.network.createEndpoint('net', 'a'), await ports.network.createEndpoint('net', 'b')];
  expect(new Set(made.flatMap(({ id, mac, ipAddress }) => [id, mac, ipAddress])).size).toBe(6);
  expect(await ports.network.endpoints()).toEqual(made);
});

test('removing a network removes its endpoints and adapters', async () => {
  state.networks.push(network(), { ...network(), id: 'other' });
  const endpoint = await ports.network.createEndpoint('net', 'a');
  await ports.network.attachToHost(endpoint.id);
  const kept = await ports.network.createEndpoint('other', 'b');
  await ports.network.removeNetwork('net');
  await ports.network.removeNetwork('nothing');
  expect((await ports.network.networks()).map(({ id }) => id)).toEqual(['other']);
  expect(await ports.network.endpoints()).toEqual([kept]);
  expect(await ports.system.adapters()).toHaveLength(1);
});

test('removing an endpoint removes its adapter and no other', async () => {
  state.networks.push(network());
  const [one, other] = [await ports.network.createEndpoint('net', 'a'), await ports.network.createEndpoint('net', 'b')];
  for (const { id } of [one, other]) await ports.network.attachToHost(id);
  await ports.network.removeEndpoint(one.id);
  await ports.network.removeEndpoint('nothing');
  expect(await ports.network.endpoints()).toEqual([other]);
  expect(await ports.system.adapters()).toHaveLength(2);
});

for (const [name, act] of [
  ['an endpoint of a network', () => ports.network.createEndpoint('none', 'x')],
  ['the adapter of an endpoint', () => ports.network.attachToHost('none')],
] as const) {
  test(`rejects ${name} that is not there`, async () => {
    await expect(act()).rejects.toMatchObject({
      code: 'HOST_NETWORK_FAILED',
      message: expect.stringContaining('none'),
    });
  });
}

const config = { command: 'x', description: '', dependencies: [], startType: 'manual', recovery: undefined } as const;
const denied: [string, (limited: HostPorts) => Promise<unknown>][] = [
  ['list services', ({ services }) => services.list()],
  ['ask for a service', ({ services }) => services.query('x')],
  ['create a service', ({ services }) => services.create('x', config)],
  ['change a service', ({ services }) => services.configure('sshd', config)],
  ['start a service', ({ services }) => services.start('sshd')],
  ['stop a service', ({ services }) => services.stop('sshd')],
  ['delete a service', ({ services }) => services.remove('sshd')],
  ['set a machine variable', ({ environment }) => environment.setMachine('x', 'y')],
  ['remove a machine variable', ({ environment }) => environment.removeMachine('x')],
  ['trust a certificate', ({ certificates }) => certificates.add(Buffer.from('x'))],
  ['stop trusting one', ({ certificates }) => certificates.remove('x')],
  ['see networks', ({ network }) => network.networks()],
  ['see endpoints', ({ network }) => network.endpoints()],
  ['make an endpoint', ({ network }) => network.createEndpoint('x', 'y')],
  ['give the host an endpoint', ({ network }) => network.attachToHost('x')],
  ['remove an endpoint', ({ network }) => network.removeEndpoint('x')],
  ['remove a network', ({ network }) => network.removeNetwork('x')],
  ['see the feature', ({ system }) => system.containersFeature()],
  ['install the feature', ({ system }) => system.enableContainers(never)],
  ['rename the host', ({ system }) => system.rename('x')],
  ['reboot the host', ({ system }) => system.reboot(1, 'x')],
];
for (const [name, act] of denied) {
  test(`a user who is not an administrator cannot ${name}`, async () => {
    const before = JSON.stringify(state);
    await expect(act(restrictedPorts(ports))).rejects.toMatchObject({
      code: 'WINDOWS_ACCESS_DENIED',
      message: expect.stringContaining('Windows error 5'),
      remedy: expect.stringContaining('Administrators'),
    });
    expect([JSON.stringify(state), reboots]).toEqual([before, []]);
  });
}

test('a user who is not an administrator can read public values', async () => {
  const { system, environment, certificates, files: seen } = restrictedPorts(ports);
  expect(await system.isAdministrator()).toBe(false);
  expect([await system.hostName(), (await system.adapters()).length]).toEqual(['win-1', 1]);
  expect(await environment.machine()).toMatchObject({ OS: 'Windows_NT' });
  expect(environment.process()).toMatchObject({ OS: 'Windows_NT' });
  expect(await certificates.list()).toEqual([]);
  expect(await seen.read('C:\\x')).toBeUndefined();
});
