import type { Log } from '#base/log.ts';
import type { Runnable } from '#kube/controller/manager.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import type { ListenAddress } from '../settings.ts';
import { webServer } from './web-server.ts';

/** What becomes true one after the other while the operator starts. */
export class Readiness {
  readonly #waitingFor = new Set<string>();

  /** Something without which the operator is not ready; called back when it is there. */
  expect(what: string): () => void {
    this.#waitingFor.add(what);
    return () => void this.#waitingFor.delete(what);
  }

  waitingFor(): string[] {
    return [...this.#waitingFor];
  }
}

/** The end of a group of parts that start one after the other: when it runs, all before it are ready. */
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
  /** What does not work at the moment, each in one line; for the log only. */
  troubles: () => string[];
  log: Log;
}

/** /healthz: the process lives; /readyz: it has seen its objects. Anybody can ask, so that the reasons are in the log only. */
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

/** Logs what the operator waits for and what troubles it when that changes, however often it is asked. */
function readinessReport(log: Log): (waitingFor: string[], troubles: string[]) => void {
  let last = '';
  return (waitingFor, troubles) => {
    const isReady = waitingFor.length === 0;
    const state = JSON.stringify([waitingFor, troubles]);
    if (state === last) return;
    const wasTroubled = last !== '';
    last = state;
    if (!isReady) log.warn('Not ready', { waitingFor, troubles });
    else if (troubles.length > 0) log.warn('Ready, with informers that cannot follow the cluster', { troubles });
    else if (wasTroubled) log.info('Ready');
  };
}
