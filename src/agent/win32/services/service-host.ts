import type { Clock } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import { serviceCallbacks, serviceHostCalls } from './service-host-calls.ts';
import { addressOf, bind, type Koffi, openLastError, placed } from '../native.ts';
import { liveAsService, type ServiceBody } from './service-life.ts';
import { encodeReport, encodeServiceTable, type ReportedStatus } from './service-records.ts';
import { win32, windowsError } from '../win32-errors.ts';

/**
 * Runs the body as the Windows service of that name. Resolves when it was told to stop, or came to its end by itself, and
 * Windows knows. Rejects when the body failed, did not stop in time, or the process was not started by the service
 * manager. Either way `endProcess` has to follow, with 0 or 1: a failed body is not reported to Windows as stopped, so that
 * the end of the process counts as a crash and the recovery of the service restarts it.
 */
export async function runAsService(koffi: Koffi, name: string, body: ServiceBody, clock: Clock): Promise<void> {
  const stop = new AbortController();
  const link = connect(koffi, name, () => stop.abort(new Error('Windows stops the service')));
  // Calls from Windows alone do not keep Node running, and nobody else knows that Windows has pointers to the table.
  const alive = setInterval(() => link.table, 60_000);
  try {
    const report = await link.connected(clock);
    await liveAsService(body, stop.signal, report, clock);
  } finally {
    clearInterval(alive);
  }
}

/** Ends this process at once. The exit of Node would wait for native calls that still run on other threads. */
export function endProcess(koffi: Koffi, exitCode: number): void {
  const { GetCurrentProcess, TerminateProcess } = bind(koffi, serviceHostCalls);
  TerminateProcess(GetCurrentProcess(), exitCode);
}

interface Link {
  table: Buffer;
  /** Waits until Windows has called ServiceMain and gives the function that reports to Windows. */
  connected(clock: Clock): Promise<(status: ReportedStatus) => void>;
}

/** Windows itself gives a new process half a minute to connect. */
const [lookEveryMs, connectLimitMs] = [20, 60_000];

/** Lets the dispatcher run on a thread of its own. */
function connect(koffi: Koffi, name: string, stop: () => void): Link {
  const [call, lastError] = [bind(koffi, serviceHostCalls), openLastError(koffi)];
  const called: { status?: unknown; refused?: AppError } = {};
  const handler = register(koffi, 'HandlerEx', (control: number) => answer(control, stop));
  const main = register(koffi, 'ServiceMain', () => {
    const status = call.RegisterServiceCtrlHandlerExW(name, handler, null);
    if (status !== null) called.status = status;
    else called.refused = windowsError('RegisterServiceCtrlHandlerExW', `service ${name}`, lastError());
  });
  const table = placed(koffi, encodeServiceTable(name, main));
  const dispatcher = addressOf(koffi, serviceHostCalls.StartServiceCtrlDispatcherW.dll, 'StartServiceCtrlDispatcherW');
  const thread = call.CreateThread(null, 0, dispatcher, table, 0, null);
  if (!thread) throw windowsError('CreateThread', `service ${name}`, lastError());
  const failure = (number: number) => windowsError('StartServiceCtrlDispatcherW', `service ${name}`, number);
  return {
    table,
    connected: async clock => {
      for (let waitedMs = 0; called.status === undefined; waitedMs += lookEveryMs) {
        if (called.refused !== undefined) throw called.refused;
        const hasEnded = call.WaitForSingleObject(thread, 0) === 0;
        if (hasEnded) throw failure(win32.notStartedByManager);
        if (waitedMs > connectLimitMs) throw failure(win32.serviceDidNotAnswer);
        await clock.sleep(lookEveryMs);
      }
      // A report that Windows does not take is one about a service it has given up already.
      return reported => void call.SetServiceStatus(called.status, encodeReport(reported));
    },
  };
}

function register(koffi: Koffi, name: keyof typeof serviceCallbacks, callback: (...args: never[]) => unknown): bigint {
  return koffi.register(callback, koffi.pointer(koffi.proto(serviceCallbacks[name])));
}

/** What Windows gets for a control code: nothing but the request to stop is acted upon. */
function answer(control: number, stop: () => void): number {
  const [interrogate, notImplemented] = [4, 120];
  if (stopControls.includes(control)) stop();
  return stopControls.includes(control) || control === interrogate ? 0 : notImplemented;
}

/** STOP, SHUTDOWN and PRESHUTDOWN */
const stopControls: readonly number[] = [1, 5, 0xf];
