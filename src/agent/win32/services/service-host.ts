import type { Clock } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import { serviceCallbacks, serviceHostCalls } from './calls.ts';
import { addressOf, bind, bindChecked, type Koffi, placed } from '../native.ts';
import { liveAsService, type ServiceBody } from './service-life.ts';
import { encodeReport, encodeServiceTable, type ReportedStatus } from './service-records.ts';
import { win32, windowsError } from '../win32-errors.ts';

/**
 * Runs the body as the Windows service of that name. Resolves when it was stopped, or has ended by itself, and this was
 * reported to Windows. Rejects when the body failed, did not stop in time, or the process was not started by the service
 * manager. The caller then calls `endProcess` with 0 or 1: a failed body is not reported as stopped, so that Windows sees
 * a crash and the recovery of the service restarts it.
 */
export async function runAsService(koffi: Koffi, name: string, body: ServiceBody, clock: Clock): Promise<void> {
  const stop = new AbortController();
  const link = connect(koffi, name, () => stop.abort(new Error('Windows stops the service')));
  // Callbacks from Windows do not keep Node running, and the table must not be garbage-collected while Windows uses it.
  const alive = setInterval(() => link.table, 60_000);
  try {
    const report = await link.connected(clock);
    await liveAsService(body, stop.signal, report, clock);
  } finally {
    clearInterval(alive);
  }
}

/** Ends this process at once. The exit of Node would wait for native calls on other threads. */
export function endProcess(koffi: Koffi, exitCode: number): void {
  const { GetCurrentProcess, TerminateProcess } = bind(koffi, serviceHostCalls);
  TerminateProcess(GetCurrentProcess(), exitCode);
}

interface Link {
  table: Buffer;
  /** Waits until Windows has called ServiceMain and gives the function that reports status to Windows. */
  connected(clock: Clock): Promise<(status: ReportedStatus) => void>;
}

/** Windows gives a new process 30 s to connect. */
const [lookEveryMs, connectLimitMs] = [20, 60_000];

/** Runs the dispatcher on a thread of its own. */
function connect(koffi: Koffi, name: string, stop: () => void): Link {
  const { call, check, failure } = bindChecked(koffi, serviceHostCalls);
  const called: { status?: unknown; error?: AppError } = {};
  const handler = register(koffi, 'HandlerEx', (control: number) => answer(control, stop));
  const main = register(koffi, 'ServiceMain', () => {
    const status = call.RegisterServiceCtrlHandlerExW(name, handler, null);
    if (status !== null) called.status = status;
    else called.error = failure('RegisterServiceCtrlHandlerExW', `service ${name}`);
  });
  const table = placed(koffi, encodeServiceTable(name, main));
  const dispatcher = addressOf(koffi, serviceHostCalls.StartServiceCtrlDispatcherW.dll, 'StartServiceCtrlDispatcherW');
  const thread = check('CreateThread', `service ${name}`, null, 0, dispatcher, table, 0, null);
  const dispatchError = (number: number) => windowsError('StartServiceCtrlDispatcherW', `service ${name}`, number);
  return {
    table,
    connected: async clock => {
      for (let waitedMs = 0; called.status === undefined; waitedMs += lookEveryMs) {
        if (called.error !== undefined) throw called.error;
        const hasEnded = call.WaitForSingleObject(thread, 0) === 0;
        if (hasEnded) throw dispatchError(win32.notStartedByManager);
        if (waitedMs > connectLimitMs) throw dispatchError(win32.serviceDidNotAnswer);
        await clock.sleep(lookEveryMs);
      }
      // Windows rejects reports only for a service that it has given up on.
      return reported => void call.SetServiceStatus(called.status, encodeReport(reported));
    },
  };
}

function register(koffi: Koffi, name: keyof typeof serviceCallbacks, callback: (...args: never[]) => unknown): bigint {
  return koffi.register(callback, koffi.pointer(koffi.proto(serviceCallbacks[name])));
}

/** The result for a control code; only the request to stop has an effect. */
function answer(control: number, stop: () => void): number {
  const [interrogate, notImplemented] = [4, 120];
  if (stopControls.includes(control)) stop();
  return stopControls.includes(control) || control === interrogate ? 0 : notImplemented;
}

/** STOP, SHUTDOWN and PRESHUTDOWN */
const stopControls: readonly number[] = [1, 5, 0xf];
