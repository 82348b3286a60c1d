import { expect, test } from 'vitest';
import { FakeKoffi } from '../../../../test/kit/fake-koffi.ts';
import { ModelClock } from '../../../../test/kit/model-host.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { endProcess, runAsService } from './service-host.ts';
import type { ServiceBody } from './service-life.ts';

const states = ['', 'stopped', 'start-pending', 'stop-pending', 'running'];

/** The side of Windows: starts the service when its dispatcher runs, and sends control codes to it. */
class FakeDispatcher {
  /** What Windows does once the dispatcher runs. */
  on: 'start' | 'refuse' | 'ignore' = 'start';
  failing: Record<string, number> = {};
  readonly reports: string[] = [];
  readonly names: string[] = [];
  exitCode: number | undefined;
  #handler = 0n;
  #hasEnded = false;

  readonly koffi: FakeKoffi = new FakeKoffi({
    StartServiceCtrlDispatcherW: () => {
      throw new Error('would keep the process from ending');
    },
    CreateThread: (_security: null, _stack: number, start: bigint, table: Buffer) => {
      if (this.#fails('CreateThread')) return null;
      expect(this.koffi.decode.string16(start)).toBe('StartServiceCtrlDispatcherW');
      this.names.push(this.koffi.decode.string16(table.readBigUInt64LE(0)));
      const main = this.koffi.callbacks.get(table.readBigUInt64LE(8));
      if (this.on === 'start') setImmediate(() => main?.(...([0, null] as never[])));
      this.#hasEnded = this.on === 'refuse';
      return 0x10n;
    },
    RegisterServiceCtrlHandlerExW: (name: string, handler: bigint) => {
      if (this.#fails('RegisterServiceCtrlHandlerExW')) return null;
      this.names.push(name);
      this.#handler = handler;
      return 0x20n;
    },
    SetServiceStatus: (status: bigint, report: Buffer) => {
      expect(status).toBe(0x20n);
      const state = states[report.readUInt32LE(4)] ?? '';
      if (state !== this.reports.at(-1)) this.reports.push(state);
      return this.#fails('SetServiceStatus') ? 0 : 1;
    },
    WaitForSingleObject: (thread: bigint, ms: number) => {
      expect([thread, ms]).toEqual([0x10n, 0]);
      return this.#hasEnded ? 0 : 0x102;
    },
    GetCurrentProcess: () => 0xffff_ffff_ffff_ffffn,
    TerminateProcess: (process: bigint, code: number) => {
      expect(process).toBe(0xffff_ffff_ffff_ffffn);
      this.exitCode = code;
      return 1;
    },
  });

  send(control: number): unknown {
    return this.koffi.callbacks.get(this.#handler)?.(...([control, 0, null, null] as never[]));
  }

  #fails(call: string): boolean {
    const number = this.failing[call];
    if (number !== undefined) this.koffi.lastError = number;
    return number !== undefined;
  }
}

const untilStopped: ServiceBody = life =>
  new Promise(resolve => {
    life.signal.addEventListener('abort', () => resolve());
    life.ready();
  });

/** Runs a service until it is in the state given. */
async function started(windows: FakeDispatcher, state = 'running', body = untilStopped) {
  const ended = runAsService(windows.koffi, 'agent', body, new ModelClock());
  ended.catch(() => undefined);
  while (!windows.reports.includes(state)) await new Promise(resolve => setImmediate(resolve));
  return { ended };
}

test('connects under its name, runs and stops', async () => {
  const windows = new FakeDispatcher();
  const { ended } = await started(windows);
  expect(windows.names).toEqual(['agent', 'agent']);
  expect(windows.send(1)).toBe(0);
  await ended;
  expect(windows.reports).toEqual(['start-pending', 'running', 'stop-pending', 'stopped']);
  expect(windows.exitCode).toBeUndefined();
});

const controls: [name: string, control: number, answer: number, stops: boolean][] = [
  ['STOP', 1, 0, true],
  ['SHUTDOWN', 5, 0, true],
  ['PRESHUTDOWN', 0xf, 0, true],
  ['INTERROGATE', 4, 0, false],
  ['PAUSE', 2, 120, false],
  ['a code of a user', 128, 120, false],
];
test.each(controls)('answers %s', async (_, control, answer, stops) => {
  const windows = new FakeDispatcher();
  const { ended } = await started(windows);
  expect(windows.send(control)).toBe(answer);
  expect(windows.reports.at(-1)).toBe(stops ? 'stop-pending' : 'running');
  windows.send(1);
  await ended;
});

test('stops once for any number of requests', async () => {
  const windows = new FakeDispatcher();
  const { ended } = await started(windows);
  expect([windows.send(1), windows.send(1), windows.send(5)]).toEqual([0, 0, 0]);
  await ended;
  expect(windows.send(1)).toBe(0);
  expect(windows.reports.filter(state => state === 'stopped')).toHaveLength(1);
});

test('stops while it starts', async () => {
  const windows = new FakeDispatcher();
  const { ended } = await started(windows, 'start-pending', life => untilStopped({ ...life, ready: () => undefined }));
  windows.send(1);
  await ended;
  expect(windows.reports).toEqual(['start-pending', 'stop-pending', 'stopped']);
});

test('does not report a failed body as stopped', async () => {
  const windows = new FakeDispatcher();
  const { ended } = await started(windows, 'start-pending', async () => {
    throw new Error('broken');
  });
  await expect(ended).rejects.toThrow('broken');
  expect(windows.reports).toEqual(['start-pending']);
});

test('gives the body a reason for the stop', async () => {
  const windows = new FakeDispatcher();
  let reason: unknown;
  const { ended } = await started(windows, 'running', async life => {
    await untilStopped(life);
    reason = life.signal.reason;
  });
  windows.send(5);
  await ended;
  expect(reason).toEqual(new Error('Windows stops the service'));
});

test('continues when Windows rejects a report', async () => {
  const windows = new FakeDispatcher();
  windows.failing = { SetServiceStatus: 6 };
  const { ended } = await started(windows);
  windows.send(1);
  await ended;
});

const failures: [name: string, windows: Partial<FakeDispatcher>, code: string, number: number][] = [
  ['the service manager did not start the process', { on: 'refuse' }, 'WINDOWS_NOT_A_SERVICE', 1063],
  ['Windows never calls', { on: 'ignore' }, 'WINDOWS_SERVICE_START_TIMEOUT', 1053],
  ['there is no thread', { failing: { CreateThread: 8 } }, 'WINDOWS_CALL_FAILED', 8],
  ['no handler is taken', { failing: { RegisterServiceCtrlHandlerExW: 1060 } }, 'WINDOWS_SERVICE_MISSING', 1060],
];
for (const [name, over, code, number] of failures) {
  test(`fails when ${name}`, async () => {
    const windows = Object.assign(new FakeDispatcher(), over);
    let hasRun = false;
    const body = async () => void (hasRun = true);
    const error = await rejectionOf(runAsService(windows.koffi, 'agent', body, new ModelClock()));
    expect(error).toMatchObject({ code, message: expect.stringContaining(`service agent: Windows error ${number}`) });
    expect(error?.remedy).not.toBe('');
    expect([hasRun, windows.reports]).toEqual([false, []]);
  });
}

test.each([0, 1])('ends the process with %i without asking Node', code => {
  const windows = new FakeDispatcher();
  endProcess(windows.koffi, code);
  expect(windows.exitCode).toBe(code);
});
