import type { EventText } from '#contract/events.ts';
import { windowsInstances, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { Installation } from '#cluster/installation.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import type { Resolver } from '#host/resolver.ts';
import type { Runnable } from '#kube/controller/manager.ts';
import { noMetrics } from '#kube/controller/metrics.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import type { ObjectReference } from '#kube/resources.ts';
import { type ManualClock, manualClock, settle } from './manual-clock.ts';
import { type RecordedLog, recordedLog } from './recorded-log.ts';
import { WatchedApi } from './watched-api.ts';

export const benchNamespace = 'wmco';
export const benchVersion = '11.0.0-abcdef0';

/** DNS as a test has it, by question; an error for a failure. */
export type Zone = Map<string, readonly string[] | Error | 'silent'>;

/** Everything a controller of sources or requests is given, in memory, with time that stands still. */
export interface SourceBench extends AsyncDisposable {
  api: WatchedApi;
  clock: ManualClock;
  zone: Zone;
  parts: ControllerParts & {
    resolver: Resolver;
    random: () => number;
    installation: Pick<Installation, 'problem' | 'recentProblem'>;
  };
  /** Why no host may be removed. */
  uninstall: { problem: string | undefined };
  /** `kind/name reason message`, in order. */
  events: string[];
  log: RecordedLog;
  start(controller: Runnable): Promise<void>;
  put<T extends KubeResource>(resource: Resource<T>, object: T): Promise<T>;
  instances(): WindowsInstance[];
  instance(name: string): WindowsInstance | undefined;
}

export function sourceBench(): SourceBench {
  const clock = manualClock();
  const api = new WatchedApi(clock);
  const zone: Zone = new Map();
  const events: string[] = [];
  const log = recordedLog();
  const uninstall: SourceBench['uninstall'] = { problem: undefined };
  const stop = new AbortController();
  const running: Promise<void>[] = [];
  const ask = (question: string) => answer(zone, question, stop.signal);
  const resolver: Resolver = { addresses: ask };
  const record = ({ kind, name }: ObjectReference, { reason, message }: Pick<EventText, 'reason' | 'message'>) =>
    void events.push(`${kind}/${name} ${reason} ${message}`);
  return {
    api,
    clock,
    zone,
    events,
    log,
    uninstall,
    parts: {
      client: api.client,
      informers: api.informers,
      recorder: { record },
      namespace: benchNamespace,
      version: benchVersion,
      clock,
      log: log.log,
      metrics: noMetrics,
      resolver,
      random: () => 0,
      installation: { problem: async () => uninstall.problem, recentProblem: async () => uninstall.problem },
    },
    start: async controller => {
      running.push(controller.run(stop.signal, () => undefined));
      await settle();
    },
    put: async (resource, object) => {
      const made = api.put(resource, object);
      await settle();
      return made;
    },
    instances: () => api.all(windowsInstances),
    instance: name => api.peek(windowsInstances, name, benchNamespace),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await Promise.all(running);
    },
  };
}

async function answer(zone: Zone, question: string, end: AbortSignal): Promise<readonly string[]> {
  const found = zone.get(question) ?? [];
  if (found === 'silent') await whenAborted(end);
  if (found === 'silent') throw new Error('the bench is over');
  if (found instanceof Error) throw found;
  return found;
}
