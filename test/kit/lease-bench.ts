import type { Clock } from '#base/clock.ts';
import { LeaseLeadership, type LeaseOptions } from '#kube/leader/lease.ts';
import { type Lease, leases } from '#kube/resources.ts';
import { type ManualClock, manualClock } from './manual-clock.ts';
import { type ApiCall, MemoryApi } from './memory-api.ts';
import { type RecordedLog, recordedLog } from './recorded-log.ts';

export interface Candidate {
  identity: string;
  leadership: LeaseLeadership;
  log: RecordedLog;
  losses: Error[];
  stop: AbortController;
  /** Resolves when it leads. */
  acquired: Promise<void>;
  /** What its calls meet on their way to the server. */
  road: {
    before: (call: ApiCall, signal: AbortSignal | undefined) => unknown;
    /** After the server has carried out the request. */
    after: () => unknown;
  };
}

export interface LeaseBench {
  clock: ManualClock;
  api: MemoryApi;
  lease: () => Lease | undefined;
  spec: () => NonNullable<Lease['spec']>;
  candidate: (identity: string, options?: Partial<LeaseOptions>) => Candidate;
}

export const never = (): Promise<never> => new Promise(() => undefined);

/** Candidates for one lease on one server, each with its own connection. */
export function leaseBench(): LeaseBench {
  const clock = manualClock();
  const api = new MemoryApi();
  const lease = () => api.peek(leases, 'lock', 'ns');
  return { clock, api, lease, spec: () => lease()?.spec ?? {}, candidate };

  function candidate(identity: string, options: Partial<LeaseOptions> = {}): Candidate {
    const road: Candidate['road'] = { before: () => undefined, after: () => undefined };
    const log = recordedLog();
    const leadership = new LeaseLeadership({
      client: roadTo(api, road),
      namespace: 'ns',
      name: 'lock',
      identity,
      clock,
      random: () => 0,
      log: log.log,
      ...options,
    });
    const stop = new AbortController();
    const losses: Error[] = [];
    const acquired = leadership.acquire(why => losses.push(why), stop.signal);
    acquired.catch(() => undefined);
    return { identity, leadership, log, losses, stop, acquired, road };
  }
}

/** A clock that can stop for its owner while time goes on, as for a process that is stopped. */
export function stallingClock(clock: ManualClock): Clock & { stall: (ms: number) => void } {
  let aheadMs = 0;
  return {
    ...clock,
    monotonicMs: () => clock.monotonicMs() + aheadMs,
    stall: ms => {
      aheadMs += ms;
    },
  };
}

function roadTo(api: MemoryApi, road: Candidate['road']): LeaseOptions['client'] {
  const travel = async <T>(verb: ApiCall['verb'], signal: AbortSignal | undefined, call: () => Promise<T>) => {
    await road.before({ verb, resource: 'leases', name: 'lock', namespace: 'ns' }, signal);
    const answer = await call();
    await road.after();
    return answer;
  };
  return {
    find: (resource, name, options) => travel('get', options?.signal, () => api.find(resource, name, options)),
    create: (resource, object, options) =>
      travel('create', options?.signal, () => api.create(resource, object, options)),
    replace: (resource, object, options) =>
      travel('replace', options?.signal, () => api.replace(resource, object, options)),
  };
}
