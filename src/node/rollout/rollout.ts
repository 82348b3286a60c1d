import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import type { Watch } from '#kube/controller/watches.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import type { Key } from '#kube/resource.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import type { GrantRequest } from './budget.ts';
import { BudgetGrants } from './budget-grants.ts';
import { followTurns } from './turns.ts';

/** Of controllers that take grants, beside reading instances and Nodes. */
export const grantsPermission: Permission = {
  in: 'own namespace',
  group: '',
  resources: ['configmaps'],
  verbs: ['get', ...reading, 'create', 'patch'],
};

/** The disruption budget, shared by all controllers that take nodes out of service. */
export interface Rollout {
  grants: BudgetGrants;
  /** Enqueues the keys of hosts whose turn it is. */
  watchTurns: (keysOf: (request: GrantRequest) => readonly Key[]) => Watch;
}

export type RolloutParts = Pick<
  ControllerParts,
  'client' | 'informers' | 'namespace' | 'recorder' | 'version' | 'clock' | 'log'
>;

export function createRollout(parts: RolloutParts): Rollout {
  const { informers, namespace } = parts;
  const sources = {
    instances: informers.get(windowsInstances, { namespace }),
    nodes: informers.get(nodes),
    configMaps: informers.get(configMaps, { namespace }),
  };
  const grants = new BudgetGrants({ ...parts, ...sources });
  const synced = Promise.all(Object.values(sources).map(source => source.synced)).then(() => undefined);
  // An operator that is stopped before a controller waits for it would end with an error.
  synced.catch(() => undefined);
  return {
    grants,
    watchTurns: keysOf => ({
      synced,
      start: feed =>
        followTurns(grants, { ...parts, ...sources }, request => {
          for (const key of keysOf(request)) feed(key, 'always');
        }),
      relist: () => [],
    }),
  };
}
