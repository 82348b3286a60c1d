import type { Log } from '#base/log.ts';
import type { Runnable } from '#kube/controller/manager.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import type { ListenAddress } from '../settings.ts';
import { webServer } from './web-server.ts';

/** Tracks what the operator waits for while it starts. */
export class Readiness {
  readonly #waitingFor = new Set<string>();

  /** Adds a requirement; call the returned function once it is met. */
  expect(what: string): () => void {
    this.#waitingFor.add(what);
    return () => void this.#waitingFor.delete(what);
  }

  waitingFor(): string[] {
    return [...this.#waitingFor];
  }
}

/** The last of a group of runnables that start in order: when it runs, all before it are ready. */
export function readyWhenReached(name: string, readiness: Readiness): Runnable {
  const reached = readiness.expect(name);
  return {
    name,
    run: async (signal, ready) => {
      reached();
      ready();
      await whenAborted(signal);
    },
  };
}

export interface HealthOptions {
  address: ListenAddress;
  readiness: Readiness;
  /** Current problems, each in one line; for the log only. */
  troubles: () => string[];
  log: Log;
}

/** /healthz: the process is alive; /readyz: its caches are synced. Anyone can send requests, so reasons are only logged. */
export function healthServer({ address, readiness, troubles, log }: HealthOptions): Runnable {
  const report = readinessReport(log);
  return webServer({
    name: 'health server',
    address,
    log,
    handle: path => {
      if (path === '/healthz') return { code: 200, text: 'ok\n' };
      if (path !== '/readyz') return undefined;
      const waitingFor = readiness.waitingFor();
      report(waitingFor, troubles());
      return waitingFor.length === 0 ? { code: 200, text: 'ok\n' } : { code: 503, text: 'not ready\n' };
    },
  });
}

/** Logs requirements and problems only when they change. */
function readinessReport(log: Log): (waitingFor: string[], troubles: string[]) => void {
  let last = '';
  return (waitingFor, troubles) => {
    const isReady = waitingFor.length === 0;
    const state = JSON.stringify([waitingFor, troubles]);
    if (state === last) return;
    const wasReported = last !== '';
    last = state;
    if (!isReady) log.warn('Not ready', { waitingFor, troubles });
    else if (troubles.length > 0) log.warn('Ready, but some informers lost their connection', { troubles });
    else if (wasReported) log.info('Ready');
  };
}
