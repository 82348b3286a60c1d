import type { Log } from '#base/log.ts';
import type { Runnable } from '#kube/controller/manager.ts';
import { whenAborted } from '#kube/deadline.ts';
import type { ListenAddress } from './settings.ts';
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
  /** What does not work at the moment, each in one line. */
  troubles: () => string[];
  log: Log;
}

/** /healthz says that the process lives, /readyz that it has seen its objects; both say what troubles it. */
export function healthServer({ address, readiness, troubles, log }: HealthOptions): Runnable {
  const lines = (first: string) => `${[first, ...troubles()].join('\n')}\n`;
  return webServer({
    name: 'health server',
    address,
    log,
    handle: path => {
      if (path === '/healthz') return { code: 200, text: 'ok\n' };
      if (path !== '/readyz') return undefined;
      const waiting = readiness.waitingFor();
      return waiting.length === 0
        ? { code: 200, text: lines('ok') }
        : { code: 503, text: lines(`waiting for ${waiting.join(', ')}`) };
    },
  });
}
