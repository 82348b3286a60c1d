import { AppError } from '#base/errors.ts';
import { type Patience, poll, type Waiting } from '#base/waiting/poll.ts';
import type { HeldProcess, Processes, ServiceManager, ServiceState } from '../ports.ts';
import { serviceManagerEvents } from './service-log.ts';

export interface ServicePorts {
  services: ServiceManager;
  processes: Processes;
  notices?: ServiceNotices;
}

/** Gets changes of services that were not requested. */
export interface ServiceNotices {
  /** Services that should have been running and were started. */
  onStarted(names: readonly string[]): void;
  /** The process of a service is ended, because the service does not stop. */
  onEnded(name: string, pid: number, limitMs: number): void;
}

/** For the start or the stop of a service. */
export const servicePatience: Patience = { everyMs: 200, limitMs: 120_000 };

/** Starts a service unless it runs, and waits for it. Returns whether it was started here. */
export async function ensureRunning(name: string, ports: ServicePorts, waiting: Waiting): Promise<boolean> {
  // A service that never ends its stop would never start either.
  if ((await ports.services.query(name))?.state === 'stop-pending') await ensureStopped(name, ports, waiting);
  let [requested, isStarted] = [false, false];
  const runs = await poll(async () => {
    const status = await ports.services.query(name);
    if (status === undefined) throw notSettled(name, 'does not exist');
    if (status.state === 'running') return true;
    if (status.state === 'stop-pending' && (await hasEnded(status.pid, ports))) {
      if (await requestState(name, () => ports.services.start(name), ports, anyState)) isStarted = true;
    }
    if (status.state !== 'stopped') return undefined;
    if (requested) throw notSettled(name, 'stopped again right after its start');
    if (await requestState(name, () => ports.services.start(name), ports, ['running', 'start-pending']))
      isStarted = true;
    requested = true;
    return undefined;
  }, waiting);
  if (runs === undefined) throw notSettled(name, `did not run within ${waiting.patience.limitMs / 1000} s`);
  return isStarted;
}

/** Stops a service and waits for its process to exit, which keeps files open; kills it after the time limit. */
export async function ensureStopped(name: string, ports: ServicePorts, waiting: Waiting): Promise<void> {
  const status = await ports.services.query(name);
  if (status === undefined || status.state === 'stopped') return;
  const process = await holdProcess(name, status.pid, ports);
  const stop: Stop = { process, requested: new Set() };
  const { everyMs, limitMs } = waiting.patience;
  const noticing = { ...waiting, patience: { everyMs, limitMs: Math.min(limitMs, noticeMs) } };
  try {
    const isGone = process === undefined && (await hasEnded(status.pid, ports));
    if (await stopsInTime(name, stop, ports, isGone ? noticing : waiting)) return;
    if (process !== undefined) {
      ports.notices?.onEnded(name, status.pid, limitMs);
      await process.killTree();
      if (await stopsInTime(name, stop, ports, noticing)) return;
    }
    const now = await ports.services.query(name);
    if (now?.state === 'stop-pending' && now.pid === status.pid && (await hasEnded(now.pid, ports))) return;
    throw notSettled(name, `did not stop within ${limitMs / 1000} s`);
  } finally {
    process?.release();
  }
}

/** Windows notices the end of a process at once; after this time a service that is still stopping counts as stopped. */
const noticeMs = 10_000;
const anyState: readonly ServiceState[] = ['running', 'start-pending', 'stop-pending', 'stopped'];

/** The service manager keeps the PID of an ended process from being used again. */
async function hasEnded(pid: number, ports: ServicePorts): Promise<boolean> {
  if (pid === 0) return false;
  const process = await ports.processes.hold(pid);
  if (process === undefined) return true;
  try {
    return await process.hasExited();
  } finally {
    process.release();
  }
}

/** The process of a service; undefined when the service has another one by now, so that no other program is ended. */
async function holdProcess(name: string, pid: number, ports: ServicePorts): Promise<HeldProcess | undefined> {
  const process = pid === 0 ? undefined : await ports.processes.hold(pid);
  // Windows does not reuse the PID of a process that is held.
  if (process === undefined || (await ports.services.query(name))?.pid === pid) return process;
  process.release();
  return undefined;
}

/** Stops and deletes a service, and waits until it can be created again. */
export async function ensureRemoved(name: string, ports: ServicePorts, waiting: Waiting): Promise<void> {
  await ensureStopped(name, ports, waiting);
  if ((await ports.services.query(name)) === undefined) return;
  await requestState(name, () => ports.services.remove(name), ports, ['missing']);
  const gone = await poll(async () => ((await ports.services.query(name)) === undefined ? true : undefined), waiting);
  if (gone === undefined) throw notSettled(name, `still exists after ${waiting.patience.limitMs / 1000} s`);
}

interface Stop {
  process: HeldProcess | undefined;
  /** PIDs that were requested to stop, so that none is requested twice. */
  requested: Set<number>;
}

async function stopsInTime(name: string, stop: Stop, ports: ServicePorts, waiting: Waiting): Promise<boolean> {
  const { process, requested } = stop;
  const stopped = await poll(async () => {
    const status = await ports.services.query(name);
    if (status === undefined || status.state === 'stopped') {
      return process === undefined || (await process.hasExited()) ? true : undefined;
    }
    // In a pending state Windows accepts no control code; that state ends by itself.
    if ((status.state === 'running' || status.state === 'paused') && !requested.has(status.pid)) {
      requested.add(status.pid);
      await requestState(name, () => ports.services.stop(name), ports, ['stopped', 'stop-pending', 'missing']);
    }
    return undefined;
  }, waiting);
  return stopped ?? false;
}

/** Another program may have been faster: a failure counts only if the service is in none of the states. */
export async function requestState(
  name: string,
  act: () => Promise<void>,
  ports: ServicePorts,
  fine: readonly (ServiceState | 'missing')[],
): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    const status = await ports.services.query(name);
    if (!fine.includes(status?.state ?? 'missing')) throw error;
    return false;
  }
}

function notSettled(name: string, what: string): AppError {
  return new AppError('SERVICE_NOT_SETTLED', `service ${name} ${what}`, {
    remedy: `Run \`${serviceManagerEvents}\` on the host to see what Windows reports about ${name}.`,
  });
}
