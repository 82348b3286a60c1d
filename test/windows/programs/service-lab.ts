import type { Waiting } from '../../../src/base/waiting/poll.ts';
import { spawn } from 'node:child_process';
import { appendFileSync, readFileSync } from 'node:fs';
import { getRawAsset } from 'node:sea';
import { openRegistry } from '../../../src/agent/win32/files/registry.ts';
import { loadKoffi } from '../../../src/agent/win32/native.ts';
import { enablePrivilege } from '../../../src/agent/win32/process/privileges.ts';
import { openProcesses } from '../../../src/agent/win32/process/processes.ts';
import { endProcess, runAsService } from '../../../src/agent/win32/services/service-host.ts';
import { openServiceManager } from '../../../src/agent/win32/services/services.ts';
import { ensureRemoved, ensureRunning, ensureStopped } from '../../../src/agent/services/ensure.ts';
import { systemClock as clock } from '../../../src/base/clock.ts';
import { AppError } from '../../../src/base/errors.ts';
import type { Behavior, Call, CallResult, Cycles, CycleOptions, Family } from './service-lab-input.ts';

/** A Windows program that calls the adapters of the agent and can be a service; see service-lab-input.ts. */
const [verb = '', argument = '', native = 'C:\\lab\\native'] = process.argv.slice(2);
// Long input comes in a file, because command lines of cmd.exe are short.
const text = argument.startsWith('@')
  ? readFileSync(argument.slice(1), 'utf8')
  : Buffer.from(argument, 'base64').toString();
const input: unknown = text === '' ? undefined : JSON.parse(text);
const koffi = loadKoffi(new Uint8Array(getRawAsset('koffi.node')), native);
const waiting: Waiting = {
  clock,
  signal: new AbortController().signal,
  patience: { everyMs: 10, limitMs: 40_000 },
};

let ticks = 0;

/** The service manager, `running`, `stopped` and `removed` of ensure.ts, and processes. */
function calls(): Record<string, (...args: never[]) => unknown> {
  const ports = { services: openServiceManager(koffi, openRegistry(koffi)), processes: openProcesses(koffi) };
  return {
    ...ports.services,
    running: (name: string) => ensureRunning(name, ports, waiting),
    stopped: (name: string) => ensureStopped(name, ports, waiting),
    removed: (name: string) => ensureRemoved(name, ports, waiting),
    /** Waits until it stops by itself. */
    ended: async (name: string) => {
      while ((await ports.services.query(name))?.state !== 'stopped') await clock.sleep(20);
    },
    isRunning: (name: string) => ports.processes.isRunning(name),
    killByName: (name: string) => ports.processes.killByName(name),
    killTree: async (pid: number) => {
      const held = await ports.processes.hold(pid);
      if (held === undefined) return 'gone';
      try {
        const before = await held.hasExited();
        await held.killTree();
        return { before, after: await held.hasExited() };
      } finally {
        held.release();
      }
    },
    enablePrivilege: (name: string) => enablePrivilege(koffi, name),
    sleep: (ms: number) => clock.sleep(ms),
    // Counts ten times a second unless the event loop is blocked.
    tick: () => void setInterval(() => (ticks += 1), 100).unref(),
    ticks: () => ticks,
  };
}

async function makeCalls(wanted: readonly Call[]): Promise<CallResult[]> {
  const known = calls();
  const results: CallResult[] = [];
  for (const [name, ...args] of wanted) {
    const began = performance.now();
    try {
      const value = (await known[name]?.(...(args as never[]))) ?? null;
      results.push({ value, ms: Math.round(performance.now() - began) });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      results.push({ code: error.code, message: error.message, remedy: error.remedy });
    }
  }
  return results;
}

/** Starts and stops a service repeatedly, with the given run times in turn. */
async function cycle({ name, times, runMs }: CycleOptions): Promise<Cycles> {
  const ports = { services: openServiceManager(koffi, openRegistry(koffi)), processes: openProcesses(koffi) };
  const cycles: Cycles = { failures: [], startMs: [], stopMs: [] };
  for (let round = 0; round < times; round++) {
    const began = performance.now();
    try {
      await ensureRunning(name, ports, waiting);
      const ran = performance.now();
      await clock.sleep(runMs[round % runMs.length] ?? 0);
      const asked = performance.now();
      await ensureStopped(name, ports, waiting);
      cycles.startMs.push(Math.round(ran - began));
      cycles.stopMs.push(Math.round(performance.now() - asked));
    } catch (error) {
      cycles.failures.push(`${round}: ${String(error)}`);
    }
  }
  return cycles;
}

async function serve(behavior: Behavior): Promise<void> {
  const note = (text: string) => appendFileSync(behavior.log, `${process.pid} ${text}\n`);
  note('begin');
  try {
    await runAsService(koffi, behavior.name, life => behave(behavior, life, note), clock);
    note('end 0');
    endProcess(koffi, 0);
  } catch (error) {
    note(`end 1 ${error instanceof AppError ? error.code : String(error)}`);
    endProcess(koffi, 1);
  }
}

async function behave(
  behavior: Behavior,
  life: { signal: AbortSignal; ready(): void },
  note: (text: string) => void,
): Promise<void> {
  const { readyAfterMs, stopsAfterMs = 0, failsAfterMs, endsAfterMs, holdsThread } = behavior;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const after = (ms: number | undefined, act: () => void) => (ms === undefined ? undefined : setTimeout(act, ms));
  after(failsAfterMs, () => reject(new Error('the body failed')));
  after(endsAfterMs, resolve);
  after(readyAfterMs, () => {
    note('ready');
    life.ready();
  });
  if (holdsThread)
    koffi
      .load('kernel32.dll')
      .func('void __stdcall Sleep(uint32_t ms)')
      .async(600_000, () => undefined);
  life.signal.addEventListener('abort', () => {
    note('stop');
    if (stopsAfterMs >= 0) after(stopsAfterMs, resolve);
  });
  await promise;
  note('ended');
}

async function live({ log, children }: Family): Promise<void> {
  appendFileSync(log, `${children} ${process.pid}\n`);
  if (children > 0) {
    const child: Family = { log, children: children - 1 };
    const text = Buffer.from(JSON.stringify(child)).toString('base64');
    spawn(process.execPath, ['family', text], { stdio: 'ignore', detached: true }).unref();
  }
  await clock.sleep(600_000);
}

if (verb === 'call') console.log(JSON.stringify(await makeCalls(input as Call[])));
if (verb === 'cycle') console.log(JSON.stringify(await cycle(input as CycleOptions)));
if (verb === 'service') await serve(input as Behavior);
if (verb === 'family') await live(input as Family);
