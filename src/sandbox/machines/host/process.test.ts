import { expect, test } from 'vitest';
import { settle } from '../../../../test/kit/manual-clock.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import { type Program, SimulatedProcess, whileAlive } from './process.ts';
import { SimulatedProcesses } from './processes.ts';

const idle: Program = async life => {
  await whenAborted(life.signal);
  return 7;
};
const start = (program: Program) => new SimulatedProcess(4, ['a.exe'], program);

test('gives its exit code when it ends', async () => {
  const process = start(async () => 3);
  expect(await process.ended).toBe(3);
  expect(process.isAlive).toBe(false);
});

test('a program that throws has failed', async () => {
  const process = start(async () => {
    throw new Error('bad');
  });
  expect(await process.ended).toBe(1);
});

test('stops on request in its own time', async () => {
  const process = start(idle);
  await settle();
  expect(process.isAlive).toBe(true);
  process.stop();
  expect(await process.ended).toBe(7);
});

test('is ready when it reports so', async () => {
  let isReady = false;
  const ready = Promise.withResolvers<void>();
  const process = start(async life => {
    await ready.promise;
    life.ready();
    return idle(life);
  });
  void process.ready.then(() => void (isReady = true));
  await settle();
  expect(isReady).toBe(false);
  ready.resolve();
  await process.ready;
  process.kill();
});

test('a kill ends it at once', async () => {
  const process = start(() => new Promise(() => undefined));
  process.kill();
  expect([process.isAlive, await process.ended]).toEqual([false, undefined]);
});

test('a killed process is signaled to stop, and its end can be awaited', async () => {
  let isGone = false;
  const process = start(idle);
  void process.gone.then(() => void (isGone = true));
  process.kill();
  await process.gone;
  expect(isGone).toBe(true);
});

class Port {
  text = 'x';
  async read(): Promise<string> {
    return this.text;
  }
}

test('ports work while the process lives, and keep their own state', async () => {
  const port = new Port();
  const process = start(idle);
  const seen = whileAlive(port, process);
  expect([await seen.read(), seen.text]).toEqual(['x', 'x']);
  process.kill();
  await expect(seen.read()).rejects.toThrow('process has ended');
});

test('processes have numbers of their own, counted in fours as Windows does', () => {
  const processes = new SimulatedProcesses();
  const pids = [1, 2, 3].map(() => processes.start(['a.exe'], idle).pid);
  expect(pids.map(pid => pid % 4)).toEqual([0, 0, 0]);
  expect(new Set(pids).size).toBe(3);
  processes.killAll();
});

test('finds a process as long as it lives', async () => {
  const processes = new SimulatedProcesses();
  const process = processes.start(['a.exe'], idle);
  expect(processes.find(process.pid)).toBe(process);
  process.stop();
  await process.ended;
  await settle();
  expect([processes.find(process.pid), await processes.hold(process.pid)]).toEqual([undefined, undefined]);
});

const spellings: [string, boolean][] = [
  ['kubelet.exe', true],
  ['kubelet', true],
  ['KUBELET.EXE', true],
  ['kube-log-runner', true],
  ['kube', false],
  ['kubelet2', false],
];
for (const [name, want] of spellings) {
  test(`${want ? 'finds' : 'does not find'} a process of two programs by ${name}`, () => {
    const processes = new SimulatedProcesses();
    processes.start(['kube-log-runner.exe', 'kubelet.exe'], idle);
    expect(processes.isRunning(name)).toBe(want);
    processes.killAll();
    expect(processes.isRunning(name)).toBe(false);
  });
}

test('holds a process over its end, and ends it with all it started', async () => {
  const processes = new SimulatedProcesses();
  const process = processes.start(['a.exe'], () => new Promise(() => undefined));
  const held = await processes.hold(process.pid);
  expect(await held?.hasExited()).toBe(false);
  await held?.killTree();
  expect([await held?.hasExited(), process.isAlive]).toEqual([true, false]);
  held?.release();
});

test('kills by name and leaves others alone', async () => {
  const processes = new SimulatedProcesses();
  const [one, other] = [processes.start(['a.exe'], idle), processes.start(['b.exe'], idle)];
  await processes.killByName('A');
  expect([one.isAlive, other.isAlive]).toEqual([false, true]);
  processes.killAll();
  expect(other.isAlive).toBe(false);
});
