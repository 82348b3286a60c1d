import { AppError } from '#base/errors.ts';
import { poll, type Waiting } from '#base/waiting/poll.ts';
import type { HeldProcess, Processes, ServiceManager, ServiceState } from '../ports.ts';

export interface ServicePorts {
  services: ServiceManager;
  processes: Processes;
}

/** Starts a service unless it runs; one that is on its way is waited for. */
export async function ensureRunning(name: string, ports: ServicePorts, waiting: Waiting): Promise<void> {
  let asked = false;
  const runs = await poll(async () => {
    const status = await ports.services.query(name);
    if (status === undefined) throw notSettled(name, 'does not exist');
    if (status.state === 'running') return true;
    if (status.state !== 'stopped') return undefined;
    if (asked) throw notSettled(name, 'stopped again right after its start');
    await request(name, () => ports.services.start(name), ports, ['running', 'start-pending']);
    asked = true;
    return undefined;
  }, waiting);
  if (runs === undefined) throw notSettled(name, `did not run within ${waiting.patience.limitMs} ms`);
}

/** Stops a service and waits for the end of its process, which keeps files open; one that does not end is killed. */
export async function ensureStopped(name: string, ports: ServicePorts, waiting: Waiting): Promise<void> {
  const status = await ports.services.query(name);
  if (status === undefined || status.state === 'stopped') return;
  const process = status.pid === 0 ? undefined : await ports.processes.hold(status.pid);
  const stop: Stop = { process, asked: new Set() };
  try {
    if (await stopsInTime(name, stop, ports, waiting)) return;
    await process?.killTree();
    if (process !== undefined && (await stopsInTime(name, stop, ports, waiting))) return;
    throw notSettled(name, `did not stop within ${waiting.patience.limitMs} ms`);
  } finally {
    process?.release();
  }
}

/** Stops and deletes a service and waits until Windows has forgotten it, so that it can be created again at once. */
export async function ensureRemoved(name: string, ports: ServicePorts, waiting: Waiting): Promise<void> {
  await ensureStopped(name, ports, waiting);
  if ((await ports.services.query(name)) === undefined) return;
  await request(name, () => ports.services.remove(name), ports, []);
  const gone = await poll(async () => ((await ports.services.query(name)) === undefined ? true : undefined), waiting);
  if (gone === undefined) throw notSettled(name, `was not gone within ${waiting.patience.limitMs} ms`);
}

interface Stop {
  process: HeldProcess | undefined;
  /** Numbers of processes that were asked to stop: none is asked twice, for it heard it the first time. */
  asked: Set<number>;
}

async function stopsInTime(name: string, stop: Stop, ports: ServicePorts, waiting: Waiting): Promise<boolean> {
  const { process, asked } = stop;
  const stopped = await poll(async () => {
    const status = await ports.services.query(name);
    if (status === undefined || status.state === 'stopped') {
      return process === undefined || (await process.hasExited()) ? true : undefined;
    }
    // In a pending state Windows takes no control code; the state ends by itself.
    if ((status.state === 'running' || status.state === 'paused') && !asked.has(status.pid)) {
      asked.add(status.pid);
      await request(name, () => ports.services.stop(name), ports, ['stopped', 'stop-pending']);
    }
    return undefined;
  }, waiting);
  return stopped ?? false;
}

/** Somebody else may have been quicker, so a refusal counts only if the service is not on the way asked for, or gone. */
async function request(
  name: string,
  ask: () => Promise<void>,
  ports: ServicePorts,
  fine: readonly ServiceState[],
): Promise<void> {
  try {
    await ask();
  } catch (error) {
    const status = await ports.services.query(name);
    if (status !== undefined && !fine.includes(status.state)) throw error;
  }
}

function notSettled(name: string, what: string): AppError {
  return new AppError('SERVICE_NOT_SETTLED', `service ${name} ${what}`, {
    remedy: `Look into the log of ${name} and the Windows event log of the host.`,
  });
}
