import { timestamp } from '#base/clock.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, nodeLabel } from '#contract/names.ts';
import { parseGrants, type RolloutGrants } from '#contract/rollout-grants.ts';
import type { JourneyName } from '#contract/windows-instance/resource.ts';
import { type ConfigMap, configMaps, nodes } from '#kube/resources.ts';
import type { GrantAnswer, Grants } from '#node/rollout/grants.ts';
import { createRollout, type Rollout } from '#node/rollout/rollout.ts';
import { benchNamespace as namespace, type SourceBench, sourceBench } from './source-bench.ts';

export interface BudgetBench extends SourceBench {
  /** As a new process; others go on. */
  leader: () => Rollout;
  settings: (data: Record<string, string>) => void;
  host: (at: number) => WindowsInstance;
  /** Creates or changes host and Node number `at`. */
  putHost: (
    at: number,
    status?: WindowsInstance['status'],
    spec?: Partial<WindowsInstance['spec']>,
    annotations?: Record<string, string>,
  ) => WindowsInstance;
  putNode: (at: number, state?: { isReady?: boolean; isCordoned?: boolean }) => void;
  /** The grants on the server, and the nodes that have one. */
  stored: () => RolloutGrants;
  granted: () => string[];
  map: () => ConfigMap | undefined;
  take: (grants: Grants, at: number, journey?: JourneyName) => Promise<GrantAnswer>;
  /** Does what a journey does: it is in the status, and its Node is cordoned. */
  begin: (at: number, journey?: JourneyName) => void;
  /** The Node is in service again, and the journey has reported its end. */
  finish: (grants: Grants, at: number) => Promise<void>;
}

/** A fleet of configured hosts and the disruption budget. */
export function budgetBench(count: number): BudgetBench {
  const bench = sourceBench();
  const { api, clock, parts } = bench;
  const { signal } = new AbortController();
  const name = (at: number) => `i${String(at).padStart(2, '0')}`;
  const nodeName = (at: number) => `n${String(at).padStart(2, '0')}`;
  const host = (at: number) => api.peek(windowsInstances, name(at), namespace) as WindowsInstance;
  const map = () => api.peek(configMaps, configMapName.rolloutGrants, namespace);
  const own: Omit<BudgetBench, keyof SourceBench> = {
    leader: () => createRollout(parts),
    settings: data => void api.put(configMaps, { metadata: { name: configMapName.rollout, namespace }, data }),
    host,
    putHost: (at, status = {}, spec = {}, annotations = {}) =>
      api.put(windowsInstances, {
        metadata: { name: name(at), namespace, uid: host(at)?.metadata.uid ?? `u${at}`, annotations },
        spec: { address: `10.0.0.${at}`, username: 'a', ...spec },
        status: { version: 'v', host: { name: nodeName(at), addresses: [] }, ...status },
      }),
    putNode: (at, { isReady = true, isCordoned = false } = {}) =>
      void api.put(nodes, {
        metadata: { name: nodeName(at), labels: { [nodeLabel.os]: 'windows' } },
        spec: { ...(isCordoned && { unschedulable: true }) },
        status: { conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] },
      }),
    stored: () => parseGrants(map()?.data),
    granted: () => own.stored().grants.map(({ node }) => node),
    map,
    take: (grants, at, journey = 'reboot') => grants.take(host(at), journey, signal),
    begin: (at, journey = 'reboot') => {
      own.putHost(at, { journey: { name: journey, cause: 'x', started: timestamp(clock.now()) } });
      own.putNode(at, { isCordoned: true });
    },
    finish: async (grants, at) => {
      own.putNode(at);
      own.putHost(at);
      await grants.end(host(at), signal);
    },
  };
  for (let at = 1; at <= count; at += 1) {
    own.putHost(at);
    own.putNode(at);
  }
  return Object.assign(bench, own);
}
