import { isRecord } from '../../src/base/fields.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WindowsHost } from '../kit/winhost/host.ts';
import { WindowsLab } from '../kit/winhost/lab.ts';
import { difference, takeSnapshot } from '../kit/winhost/snapshot.ts';
import { ServiceLab } from './programs/service-lab-host.ts';
import type { Behavior, Call } from './programs/service-lab-input.ts';

/** A program as a Windows service. */

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

const logOf = (name: string) => `C:\\lab\\${name}.log`;
let services = 0;

/** Creates a service with this behavior, runs the calls (`$` is its name), and returns their values and its notes. */
async function runService(behavior: Partial<Behavior>, ...calls: Call[]) {
  const name = `played-${++services}`;
  await windows.create({ name, log: logOf(name), ...behavior });
  const values = await windows.values(
    ...calls.map(([call, ...args]): Call => [call, ...args.map(arg => (arg === '$' ? name : arg))]),
  );
  return { name, values, notes: windows.notes(logOf(name)) };
}

/** Win32 exit code of a service from sc.exe. */
async function exitCodeOf(name: string): Promise<number> {
  return Number(/WIN32_EXIT_CODE\s+: (\d+)/.exec(await host.run(`sc query ${name}`))?.[1]);
}

test('is starting until it is ready, then runs, then stops', async () => {
  const { name, values, notes } = await runService(
    { readyAfterMs: 1500, stopsAfterMs: 700 },
    ['start', '$'],
    ['query', '$'],
    ['running', '$'],
    ['query', '$'],
    ['stop', '$'],
    ['query', '$'],
    ['stopped', '$'],
    ['query', '$'],
  );
  const states = values.filter(isRecord).map(({ state }) => state);
  expect(states).toEqual(['start-pending', 'running', 'stop-pending', 'stopped']);
  expect(notes).toEqual(['begin', 'ready', 'stop', 'ended', 'end 0']);
  expect(await exitCodeOf(name)).toBe(0);
});

test('stops while it is starting', async () => {
  const { values, notes } = await runService(
    {},
    ['start', '$'],
    ['sleep', 300],
    ['stop', '$'],
    ['stopped', '$'],
    ['query', '$'],
  );
  expect(values.at(-1)).toEqual({ state: 'stopped', pid: 0 });
  expect(notes).toEqual(['begin', 'stop', 'ended', 'end 0']);
});

test('reports running after a while even if it never gets ready', async () => {
  const { values } = await runService(
    {},
    ['start', '$'],
    ['sleep', 20_000],
    ['query', '$'],
    ['running', '$'],
    ['stopped', '$'],
  );
  expect(values[2]).toMatchObject({ state: 'start-pending' });
});

test('is killed after twenty seconds if it does not stop', async () => {
  const began = performance.now();
  const { name, notes } = await runService({ readyAfterMs: 0, stopsAfterMs: -1 }, ['running', '$'], ['stopped', '$']);
  expect(performance.now() - began).toBeGreaterThan(20_000);
  expect(notes).toEqual(['begin', 'ready', 'stop', 'end 1 STOP_TIMEOUT']);
  expect(await exitCodeOf(name)).toBe(0);
  expect(await windows.processes()).toEqual([]);
});

test('exits although a native call is still running', async () => {
  const { values } = await runService(
    { readyAfterMs: 0, holdsThread: true },
    ['running', '$'],
    ['stopped', '$'],
    ['query', '$'],
  );
  expect(values.at(-1)).toEqual({ state: 'stopped', pid: 0 });
  expect(await windows.processes()).toEqual([]);
});

test('a failure is a crash for Windows, so that recovery starts', async () => {
  const { name, notes } = await runService(
    { readyAfterMs: 0, failsAfterMs: 2000, holdsThread: true },
    ['running', '$'],
    ['ended', '$'],
  );
  expect(notes).toEqual(['begin', 'ready', 'end 1 Error: the body failed']);
  expect(await exitCodeOf(name)).toBe(1067);
});

test('is stopped when it exits by itself', async () => {
  const { name, notes } = await runService(
    { readyAfterMs: 0, endsAfterMs: 300 },
    ['start', '$'],
    ['ended', '$'],
    ['stopped', '$'],
  );
  expect(notes.slice(0, 3)).toEqual(['begin', 'ready', 'ended']);
  expect(await exitCodeOf(name)).toBe(0);
});

test('prints a remedy when it is started by hand', async () => {
  const { code } = await windows.runByHand({ name: 'by-hand', log: logOf('by-hand'), readyAfterMs: 0 });
  expect(code).toBe(1);
  expect(windows.notes(logOf('by-hand'))).toEqual(['begin', 'end 1 WINDOWS_NOT_A_SERVICE']);
});

test('starts and stops repeatedly without failures or leftovers', async () => {
  const name = 'restless';
  await windows.create({ name, log: logOf(name), readyAfterMs: 0, stopsAfterMs: 0 });
  const [before, native] = [await takeSnapshot(host), host.drive.list('C:\\lab\\native')];
  const { failures, startMs, stopMs } = await windows.cycle(name, 20);
  expect(failures).toEqual([]);
  expect([startMs.length, stopMs.length]).toEqual([20, 20]);
  expect(Math.max(...stopMs)).toBeLessThan(20_000);
  expect(windows.notes(logOf(name)).filter(note => note === 'end 0')).toHaveLength(20);
  expect(await windows.processes()).toEqual([]);
  expect(host.drive.list('C:\\lab\\native')).toEqual(native);
  expect(difference(before, await takeSnapshot(host))).toEqual([]);
}, 600_000);
