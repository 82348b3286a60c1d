import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { InstalledService, ServiceConfig } from '../../src/agent/ports.ts';
import { planServices } from '../../src/agent/services/plan.ts';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { WindowsLab } from '../kit/winhost/lab.ts';
import { configOf, encoded, program, ServiceLab, serviceCommand } from './programs/service-lab-host.ts';

/** Services and processes through the adapters of the agent, compared with other programs. */

let lab: WindowsLab;
let host: WindowsHost;
let windows: ServiceLab;

beforeAll(async () => {
  lab = await WindowsLab.start();
  host = await lab.createHost();
  windows = new ServiceLab(host);
  await windows.install();
});

afterAll(() => lab?.stop());

const alone = { log: 'C:\\lab\\alone.log', children: 0 };
const command = (name: string, log = `C:\\lab\\${name}.log`) => serviceCommand({ name, log, readyAfterMs: 0 });

/** A registry value of a service from reg.exe; '' when it is missing. */
async function stored(service: string, value: string): Promise<string> {
  const key = `HKLM\\SYSTEM\\CurrentControlSet\\Services\\${service}`;
  const { stdout } = await host.exec(`reg query ${key} /v ${value}`);
  return /REG_\w+\s+(.*)/.exec(stdout)?.[1]?.trim() ?? '';
}

/** The plan of another pass. */
const actionsFor = (wanted: Record<string, ServiceConfig>, actual: InstalledService[]) => {
  const desired = Object.entries(wanted).map(([name, config]) => ({
    name,
    config,
    prepares: false,
    filesChanged: false,
    environmentChanged: false,
  }));
  return planServices(desired, actual).actions.map(action => `${action.do} ${action.name}`);
};

const first: ServiceConfig = {
  ...configOf('one', 'C:\\k\\one.exe --a "b c"'),
  dependencies: ['RpcSs', 'Eventlog'],
  startType: 'automatic',
};

test('creates a service with all its settings', async () => {
  await windows.values(['create', 'one', first]);
  expect(await windows.listed('one')).toEqual({
    name: 'one',
    state: 'stopped',
    pid: 0,
    config: { ...first, recovery: 'unreadable', environment: {} },
  });
  const values = ['ImagePath', 'Start', 'Type', 'ErrorControl', 'ObjectName', 'Description', 'DependOnService'];
  const found = Object.fromEntries(
    await Promise.all(values.map(async name => [name, await stored('one', name)] as const)),
  );
  expect(found).toEqual({
    ImagePath: first.command,
    Start: '0x2',
    Type: '0x10',
    ErrorControl: '0x0',
    ObjectName: 'LocalSystem',
    Description: 'OpenShift managed one',
    DependOnService: 'RpcSs\\0Eventlog',
  });
});

test('sets failure actions, which Wine only accepts', () => {
  const notes = host.fixmes.filter(line => line.includes('SERVICE_CONFIG_FAILURE_ACTIONS'));
  expect(notes[0]).toContain('period 300');
});

const changes: [name: string, over: Partial<ServiceConfig>][] = [
  ['another command', { command: 'C:\\k\\other.exe' }],
  ['letters of other languages', { command: 'C:\\Größe\\漢.exe', description: 'Ελ 𝒳' }],
  ['another description', { description: 'x' }],
  ['one dependency', { dependencies: ['RpcSs'] }],
  ['no dependencies', { dependencies: [] }],
  ['no start', { startType: 'disabled' }],
  ['variables', { environment: { HTTP_PROXY: 'http://a=b:1', EMPTY: '', Größe: '漢' } }],
  ['a long variable', { environment: { NO_PROXY: '.test,'.repeat(2000) } }],
  ['no variables', { environment: {} }],
  ['everything as before', {}],
];
test.each(changes)('configures %s, after which there is nothing more to do', async (_, over) => {
  const config = { ...first, ...over };
  const [, services] = await windows.values(['configure', 'one', config], ['list']);
  const actual = services as InstalledService[];
  const { environment = {} } = config;
  const wanted = { ...config, environment, recovery: 'unreadable' };
  expect(actual.find(service => service.name === 'one')?.config).toEqual(wanted);
  // It cannot start, because the program does not exist, but its settings are correct.
  expect(actionsFor({ one: config }, actual)).toEqual(['start one']);
});

const refused: [name: string, call: [string, ...unknown[]], code: string, number: number][] = [
  ['create what exists', ['create', 'ONE', first], 'WINDOWS_SERVICE_EXISTS', 1073],
  ['configure what does not exist', ['configure', 'nobody', first], 'WINDOWS_SERVICE_MISSING', 1060],
  ['start what does not exist', ['start', 'nobody'], 'WINDOWS_SERVICE_MISSING', 1060],
  ['stop what does not exist', ['stop', 'nobody'], 'WINDOWS_SERVICE_MISSING', 1060],
  ['start a program that does not exist', ['start', 'one'], 'WINDOWS_CALL_FAILED', 2],
];
test.each(refused)('refuses to %s', async (_, call, code, number) => {
  const [result] = await windows.outcomes(call);
  expect(result).toMatchObject({ code, message: expect.stringContaining(`Windows error ${number} (`) });
});

test('reports that a disabled service cannot be started', async () => {
  const results = await windows.outcomes(['configure', 'one', { ...first, startType: 'disabled' }], ['start', 'one']);
  expect(results[1]).toMatchObject({ code: 'WINDOWS_SERVICE_DISABLED' });
});

test('reports a program that is not a service without blocking while Windows waits for it', async () => {
  const [, , result, running] = await windows.outcomes(
    ['create', 'mute', configOf('mute', `${program} family ${encoded(alone)}`)],
    ['tick'],
    ['start', 'mute'],
    ['ticks'],
  );
  expect(result).toMatchObject({ code: 'WINDOWS_SERVICE_START_TIMEOUT' });
  expect((running as { value: number }).value).toBeGreaterThan(50);
  await windows.values(['killByName', 'nobody'], ['removed', 'mute']);
});

test('accepts services that are already removed, started or stopped', async () => {
  await windows.values(
    ['remove', 'nobody'],
    ['stopped', 'nobody'],
    ['removed', 'nobody'],
    ['stop', 'one'],
    ['query', 'nobody'],
  );
});

test('starts, stops, removes and creates again at once', async () => {
  const config = configOf('two', command('two'));
  const [, , runs, , stopped, , gone, , again] = await windows.values(
    ['create', 'two', config],
    ['running', 'two'],
    ['query', 'two'],
    ['stopped', 'two'],
    ['query', 'two'],
    ['removed', 'two'],
    ['query', 'two'],
    ['create', 'two', config],
    ['query', 'two'],
  );
  expect(runs).toEqual({ state: 'running', pid: expect.any(Number) });
  expect(stopped).toEqual({ state: 'stopped', pid: 0 });
  expect([gone, again]).toEqual([null, { state: 'stopped', pid: 0 }]);
});

test('removes a service that runs, with its process', async () => {
  await windows.values(['running', 'two'], ['remove', 'two'], ['remove', 'two']);
  const [marked] = await windows.outcomes(['configure', 'two', configOf('two', 'x')]);
  expect(marked).toMatchObject({ code: 'WINDOWS_SERVICE_DELETED' });
  await windows.values(['removed', 'two']);
  expect(await windows.value('query', 'two')).toBeNull();
  expect(await windows.processes()).toEqual([]);
});

test('a service that stops forever is ended and started again', async () => {
  await host.install('service.exe', 'C:\\k\\stuck.exe');
  await windows.values(['create', 'stuck', configOf('stuck', 'C:\\k\\stuck.exe')], ['running', 'stuck']);
  await host.lab.setFault('stuck', 'slow-stop', 3_600_000);
  await host.exec('sc.exe stop stuck');
  await expect.poll(() => host.lab.serviceEvents('stuck').at(-1)?.event).toBe('stopping');
  await host.lab.clearFaults();
  const [before, isStarted, after] = (await windows.values(
    ['query', 'stuck'],
    ['running', 'stuck'],
    ['query', 'stuck'],
  )) as [InstalledService, boolean, InstalledService];
  expect([before.state, isStarted, after.state]).toEqual(['stop-pending', true, 'running']);
  expect(after.pid).not.toBe(before.pid);
  await windows.values(['removed', 'stuck']);
});

test('a service whose process is killed has stopped, and can be started again', async () => {
  await windows.values(['create', 'three', configOf('three', command('three'))], ['running', 'three']);
  const { pid } = (await windows.value('query', 'three')) as { pid: number };
  expect(await windows.value('killTree', pid)).toEqual({ before: false, after: true });
  await windows.values(['sleep', 500]);
  expect(await windows.value('query', 'three')).toEqual({ state: 'stopped', pid: 0 });
  await windows.values(['running', 'three'], ['removed', 'three']);
});

test('lists all services', async () => {
  const names = ((await windows.value('list')) as InstalledService[]).map(service => service.name);
  expect(names).toEqual(expect.arrayContaining(['RpcSs', 'Eventlog', 'Spooler', 'one']));
});

test('kills a process with its children', async () => {
  const log = 'C:\\lab\\family.log';
  const family = host.exec(`${program} family ${encoded({ log, children: 2 })}`);
  const born = () => host.drive.read(log)?.trim().split('\n') ?? [];
  while (born().length < 3) await delay(100);
  expect(await windows.processes()).toHaveLength(3);
  expect(await windows.value('killTree', Number(born()[0]?.split(' ')[1]))).toEqual({ before: false, after: true });
  expect(await windows.processes()).toEqual([]);
  await family;
});

test('enables an existing privilege, and rejects an unknown one', async () => {
  const values = await windows.values(
    ['enablePrivilege', 'SeDebugPrivilege'],
    ['enablePrivilege', 'SeNoSuchPrivilege'],
  );
  expect(values).toEqual([true, false]);
});

test('finds and kills processes by name', async () => {
  const shim = 'C:\\lab\\containerd-shim-runhcs-v1.exe';
  await host.run(`copy ${program} ${shim}`);
  const families = [1, 2].map(() => host.exec(`${shim} family ${encoded(alone)}`));
  while ((await windows.processes('containerd-shim')).length < 2) await delay(200);
  const name = 'containerd-shim-runhcs-v1';
  const values = await windows.values(
    ['isRunning', name],
    ['killByName', name],
    ['isRunning', name],
    ['killTree', 999_996],
  );
  expect(values).toEqual([true, null, false, 'gone']);
  await Promise.all(families);
});

test('concurrent processes install the native code once, and repair it', async () => {
  const folder = 'C:\\lab\\native-2';
  const start = () => host.exec(`${program} call ${encoded([['query', 'nobody']])} ${folder}`);
  const codes = (await Promise.all(Array.from({ length: 6 }, start))).map(({ code, stderr }) => [code, stderr]);
  expect(codes).toEqual(codes.map(() => [0, '']));
  const [name = '', ...others] = host.drive.list(folder);
  expect(others).toEqual([]);
  const good = host.drive.read(`${folder}\\${name}`);
  await host.drive.write(`${folder}\\${name}`, 'tampered with');
  expect((await start()).code).toBe(0);
  expect(host.drive.read(`${folder}\\${name}`)).toBe(good);
  expect(host.drive.list(folder)).toEqual([name]);
});
