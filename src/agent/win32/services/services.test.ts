import { expect, test } from 'vitest';
import { agentRecovery } from '#contract/agent-command.ts';
import { FakeServiceManager } from '../../../../test/kit/fake-service-manager.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import type { ServiceConfig, ServiceManager } from '../../ports.ts';
import { openServiceManager } from './services.ts';

const config: ServiceConfig = {
  command: 'C:\\k\\kubelet.exe --windows-service --x="a b"',
  description: 'OpenShift managed kubelet',
  dependencies: ['containerd', 'Tcpip'],
  startType: 'automatic',
  recovery: agentRecovery,
};
const actions = [10_000, 30_000, 60_000, 120_000].map((delayMs): [number, number] => [1, delayMs]);

function open(): [windows: FakeServiceManager, services: ServiceManager] {
  const windows = new FakeServiceManager();
  return [windows, openServiceManager(windows.koffi, windows.registry, windows)];
}

test('creates a service as it has to be in the end', async () => {
  const [windows, services] = open();
  await services.create('kubelet', config);
  expect(windows.services.get('kubelet')).toEqual({
    name: 'kubelet',
    type: 0x10,
    start: 2,
    errorControl: 0,
    account: null,
    displayName: null,
    state: 1,
    pid: 0,
    command: config.command,
    description: config.description,
    dependencies: ['containerd', 'Tcpip'],
    actions,
    resetSeconds: 300,
    actsOnFailure: 1,
    isMarked: false,
  });
  expect(windows.handles.size).toBe(0);
});

const variants: [name: string, over: Partial<ServiceConfig>, want: object][] = [
  ['no dependencies', { dependencies: [] }, { dependencies: [] }],
  ['a manual start', { startType: 'manual' }, { start: 3 }],
  ['no start at all', { startType: 'disabled' }, { start: 4 }],
  ['no recovery', { recovery: undefined }, { actions: [], actsOnFailure: 0 }],
  ['one restart', { recovery: { resetSeconds: 0, restartDelaysMs: [1] } }, { actions: [[1, 1]], resetSeconds: 0 }],
  ['a command of other letters', { command: 'C:\\Größe\\漢.exe' }, { command: 'C:\\Größe\\漢.exe' }],
  ['no description', { description: '' }, { description: '' }],
];
test.each(variants)('creates a service with %s', async (_, over, want) => {
  const [windows, services] = open();
  await services.create('a', { ...config, ...over });
  expect(windows.services.get('a')).toMatchObject(want);
});
test.each(variants)('configures a service to have %s', async (_, over, want) => {
  const [windows, services] = open();
  await services.create('a', config);
  await services.configure('a', { ...config, ...over });
  expect(windows.services.get('a')).toMatchObject(want);
  expect(windows.handles.size).toBe(0);
});

test('leaves account, type and display name of a service unchanged', async () => {
  const [windows, services] = open();
  const over = { account: 'NetworkService', type: 0x110, displayName: 'A', errorControl: 1 };
  windows.install('a', over);
  await services.configure('a', config);
  expect(windows.services.get('a')).toMatchObject({ ...over, start: 2 });
});

test('reads back all that it has written', async () => {
  const [, services] = open();
  await services.create('kubelet', config);
  const all = { ...config, environment: {} };
  expect(await services.list()).toEqual([{ name: 'kubelet', state: 'stopped', pid: 0, config: all }]);
});

test.each([0, 1, 2, 3, 1000])('lists all services when Windows gives %i in an answer', async page => {
  const [windows, services] = open();
  for (const name of ['a', 'b', 'c', 'd', 'e']) windows.install(name, { state: 4, pid: 5 });
  windows.page = page;
  const names = (await services.list()).map(service => service.name);
  expect(names).toEqual(page === 0 ? [] : ['a', 'b', 'c', 'd', 'e']);
});

test('lists hundreds of services without keeping Node from other work', async () => {
  const [windows, services] = open();
  for (let index = 0; index < 300; index++) windows.install(`service-${index}`);
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const listed = await services.list();
  clearInterval(timer);
  expect(listed).toHaveLength(300);
  expect(turns).toBeGreaterThan(2);
  expect(windows.handles.size).toBe(0);
});

const shown: [name: string, over: object, want: object][] = [
  ['a service that runs', { state: 4, pid: 77 }, { state: 'running', pid: 77 }],
  ['a service in the process of others', { type: 0x20, state: 4, pid: 77 }, { state: 'running', pid: 0 }],
  ['a driver-like start', { start: 0 }, { config: { startType: 'automatic' } }],
  ['actions other than restarts', { actions: [[2, 5]] }, { config: { recovery: undefined } }],
  ['no actions', { actions: [] }, { config: { recovery: undefined } }],
];
test.each(shown)('lists %s', async (_, over, want) => {
  const [windows, services] = open();
  windows.install('a', over);
  expect(await services.list()).toEqual([expect.objectContaining({ name: 'a' })]);
  expect((await services.list())[0]).toMatchObject(want);
});

const skipped: [name: string, spoil: (windows: FakeServiceManager) => void][] = [
  ['that nobody may open', windows => windows.denied.add('bad')],
  ['with a record that makes no sense', windows => windows.garbled.add('bad')],
];
test.each(skipped)('lists the others beside a service %s', async (_, spoil) => {
  const [windows, services] = open();
  for (const name of ['a', 'bad', 'z']) windows.install(name);
  spoil(windows);
  expect((await services.list()).map(service => service.name)).toEqual(['a', 'z']);
  expect(windows.handles.size).toBe(0);
});

test('lists no service of which the configuration cannot be read', async () => {
  const [windows, services] = open();
  windows.install('a');
  windows.failing = { QueryServiceConfigW: 2 };
  expect(await services.list()).toEqual([]);
});

test('treats an unreadable description as empty', async () => {
  const [windows, services] = open();
  windows.install('a', { description: 'x', actions });
  windows.failing = { 'QueryServiceConfig2W 1': 15_100 };
  expect((await services.list())[0]?.config).toMatchObject({
    description: '',
    recovery: { restartDelaysMs: [10_000, 30_000, 60_000, 120_000] },
  });
});

test('reads dependencies from the registry on Wine, where recovery is unreadable', async () => {
  const [windows, services] = open();
  windows.isWine = true;
  await services.create('a', config);
  windows.install('b');
  const [a, b] = (await services.list()).map(service => service.config);
  expect(a).toEqual({ ...config, recovery: 'unreadable', environment: {} });
  expect(b).toMatchObject({ recovery: 'unreadable', dependencies: [] });
  await services.configure('a', { ...config, dependencies: [] });
  expect((await services.list())[0]?.config.dependencies).toEqual([]);
});

test('does not read the registry on Windows', async () => {
  const [windows, services] = open();
  await services.create('a', config);
  await services.list();
  expect(windows.koffi.calls).not.toContain('RegGetValueW');
});

const states: [number: number, state: string][] = [
  [1, 'stopped'],
  [2, 'start-pending'],
  [4, 'running'],
  [7, 'paused'],
];
test.each(states)('reports the state %i of one service as %s', async (state, want) => {
  const [windows, services] = open();
  windows.install('Kubelet', { state, pid: 9 });
  expect(await services.query('KUBELET')).toEqual({ state: want, pid: 9 });
  expect(await services.query('nobody')).toBeUndefined();
  expect(windows.handles.size).toBe(0);
});

test('starts and stops a service', async () => {
  const [windows, services] = open();
  windows.install('a');
  await services.start('a');
  expect(await services.query('a')).toEqual({ state: 'start-pending', pid: 77 });
  await services.stop('a');
  expect(await services.query('a')).toMatchObject({ state: 'stop-pending' });
  expect(windows.handles.size).toBe(0);
});

test('does not stand still while the program of a service starts', async () => {
  const [windows, services] = open();
  windows.install('a');
  const started = services.start('a');
  expect(windows.koffi.calls).not.toContain('StartServiceW');
  await started;
  expect(windows.koffi.calls.filter(call => call === 'StartServiceW')).toHaveLength(1);
});

const tolerated: [verb: 'start' | 'stop' | 'remove', call: string, number: number][] = [
  ['start', 'StartServiceW', 1056],
  ['stop', 'ControlService', 1061],
  ['stop', 'ControlService', 1062],
  ['remove', 'DeleteService', 1072],
];
test.each(tolerated)('succeeds to %s when %s fails with %i: another program was faster', async (verb, call, number) => {
  const [windows, services] = open();
  windows.install('a', { state: 4 });
  windows.failing = { [call]: number };
  await services[verb]('a');
  expect(windows.handles.size).toBe(0);
});

test('ignores the removal of a missing service', async () => {
  const [windows, services] = open();
  windows.install('b');
  await services.remove('a');
  expect([windows.handles.size, [...windows.services.keys()]]).toEqual([0, ['b']]);
});

test('removes a service when its last handle is closed', async () => {
  const [windows, services] = open();
  windows.install('a');
  await services.remove('a');
  expect(windows.services.size).toBe(0);
});

test('marks a service that runs for deletion', async () => {
  const [windows, services] = open();
  windows.install('a', { state: 4 });
  await services.remove('a');
  await services.remove('a');
  expect(windows.services.get('a')).toMatchObject({ isMarked: true });
  expect((await rejectionOf(services.configure('a', config)))?.code).toBe('WINDOWS_SERVICE_DELETED');
  expect((await rejectionOf(services.create('a', config)))?.code).toBe('WINDOWS_SERVICE_DELETED');
});

const refused: [verb: keyof ServiceManager, call: string, number: number, code: string][] = [
  ['list', 'OpenSCManagerW', 5, 'WINDOWS_ACCESS_DENIED'],
  ['list', 'EnumServicesStatusExW', 5, 'WINDOWS_ACCESS_DENIED'],
  ['query', 'OpenServiceW', 5, 'WINDOWS_ACCESS_DENIED'],
  ['query', 'QueryServiceStatusEx', 6, 'WINDOWS_CALL_FAILED'],
  ['create', 'CreateServiceW', 1073, 'WINDOWS_SERVICE_EXISTS'],
  ['create', 'ChangeServiceConfig2W 1', 5, 'WINDOWS_ACCESS_DENIED'],
  ['create', 'ChangeServiceConfig2W 1', 124, 'WINDOWS_CALL_FAILED'],
  ['create', 'ChangeServiceConfig2W 2', 5, 'WINDOWS_ACCESS_DENIED'],
  ['create', 'ChangeServiceConfig2W 4', 1072, 'WINDOWS_SERVICE_DELETED'],
  ['configure', 'OpenServiceW', 5, 'WINDOWS_ACCESS_DENIED'],
  ['configure', 'OpenServiceW', 1060, 'WINDOWS_SERVICE_MISSING'],
  ['configure', 'ChangeServiceConfigW', 1059, 'WINDOWS_SERVICE_DEPENDENCY'],
  ['configure', 'ChangeServiceConfig2W 2', 87, 'WINDOWS_CALL_FAILED'],
  ['start', 'OpenServiceW', 1060, 'WINDOWS_SERVICE_MISSING'],
  ['start', 'StartServiceW', 2, 'WINDOWS_CALL_FAILED'],
  ['start', 'StartServiceW', 1058, 'WINDOWS_SERVICE_DISABLED'],
  ['start', 'StartServiceW', 1068, 'WINDOWS_SERVICE_DEPENDENCY'],
  ['start', 'StartServiceW', 1072, 'WINDOWS_SERVICE_DELETED'],
  ['stop', 'ControlService', 1051, 'WINDOWS_CALL_FAILED'],
  ['stop', 'ControlService', 1052, 'WINDOWS_CALL_FAILED'],
  ['stop', 'OpenServiceW', 1060, 'WINDOWS_SERVICE_MISSING'],
  ['remove', 'DeleteService', 5, 'WINDOWS_ACCESS_DENIED'],
  ['remove', 'OpenServiceW', 5, 'WINDOWS_ACCESS_DENIED'],
];
test.each(refused)('%s passes on that %s fails with %i', async (verb, call, number, code) => {
  const [windows, services] = open();
  if (verb !== 'create') windows.install('a', { state: 4 });
  windows.failing = { [call]: number };
  const error = await rejectionOf(services[verb]('a', config));
  expect(error?.code).toBe(code);
  expect(error?.message).toContain(`${call.split(' ')[0]} failed for`);
  expect(error?.message).toContain(`Windows error ${number} (`);
  if (verb !== 'list') expect(error?.message).toContain('service a');
  expect(windows.handles.size).toBe(0);
});

test('leaves no service without the managed tag behind', async () => {
  const [windows, services] = open();
  windows.failing = { 'ChangeServiceConfig2W 1': 8 };
  await rejectionOf(services.create('a', config));
  expect(windows.services.size).toBe(0);
});

test('reports a start that fails after a long time as a program that does not respond', async () => {
  const [windows, services] = open();
  windows.install('a');
  windows.failing = { StartServiceW: 1053 };
  windows.slownessMs = 2100;
  const error = await rejectionOf(services.start('a'));
  expect(error?.code).toBe('WINDOWS_SERVICE_START_TIMEOUT');
  expect(windows.koffi.calls.filter(call => call === 'StartServiceW')).toHaveLength(1);
});
