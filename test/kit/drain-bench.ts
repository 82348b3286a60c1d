import { Drainer, type DrainerOptions, type DrainOptions, type DrainResult } from '#kube/drain/drain.ts';
import type { Metadata } from '#kube/resource.ts';
import { type Pod, pods } from '#kube/resources.ts';
import { manualClock, settle } from './manual-clock.ts';
import { type ApiCall, MemoryApi, refused } from './memory-api.ts';
import { recordedLog } from './recorded-log.ts';

export const second = 1000;
export const controller = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'r', uid: 'r', controller: true }];
export const tooMany = () =>
  refused(429, 'TooManyRequests', { causes: [{ reason: 'DisruptionBudget', message: 'web needs 2' }] });

/** A server with pods on two Nodes; evicted pods are deleted after their grace period. */
export function drainBench(options: Partial<DrainerOptions> = {}) {
  const clock = manualClock();
  const api = new MemoryApi();
  const { log, lines, messages } = recordedLog();
  api.paths.set('/api/v1', { resources: [{ name: 'pods/eviction', version: 'v1' }] });
  const drainer = new Drainer({ client: api, clock, log, timeoutMs: 60 * second, ...options });
  const evicted: string[] = [];
  /** Answer to an eviction, by the name of the pod. */
  const answers = new Map<string, () => Error | undefined>();
  const world = { graceMs: 3 * second };
  api.before = call => (call.resource === 'pods/eviction' ? evictIn(call) : undefined);
  return { clock, api, drainer, lines, messages, evicted, answers, world, put, drain, lists };

  function evictIn({ name, namespace }: ApiCall): object {
    const error = answers.get(name)?.();
    if (error !== undefined) throw error;
    evicted.push(name);
    const pod = api.peek(pods, name, namespace);
    const deletionTimestamp = '2026-03-01T12:00:00Z';
    if (pod !== undefined) api.put(pods, { ...pod, metadata: { ...pod.metadata, deletionTimestamp } });
    void clock.sleep(world.graceMs).then(() => api.remove(pods, name, namespace));
    return {};
  }

  function put(name: string, metadata: Partial<Metadata> = {}, pod: Partial<Pod> = {}): Pod {
    const common = { name, namespace: 'ns', ownerReferences: controller };
    return api.put(pods, { spec: { nodeName: 'win-1' }, ...pod, metadata: { ...common, ...metadata } });
  }

  async function drain(options: DrainOptions = {}) {
    const state: { result?: DrainResult; error?: unknown; atMs?: number } = {};
    const ended = (more: object) => Object.assign(state, more, { atMs: clock.monotonicMs() });
    drainer.drain('win-1', options).then(
      result => ended({ result }),
      (error: unknown) => ended({ error }),
    );
    await settle();
    return state;
  }

  function lists(): ApiCall[] {
    return api.calls.filter(call => call.verb === 'list' && call.resource === 'pods');
  }
}

export const namesOf = (list: readonly { pod: { name: string } }[] = []) => list.map(({ pod }) => pod.name);
