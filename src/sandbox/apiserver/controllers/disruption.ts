import { sameData } from '#base/compare.ts';
import type { Log } from '#base/log.ts';
import { keyOf } from '#kube/resource.ts';
import { podDisruptionBudgets, pods } from '#kube/resources.ts';
import { isKind } from '../auth/is-kind.ts';
import { specSelects } from '../label-selector.ts';
import { hasCondition, numberAt, recordAt } from '../object.ts';
import type { Controller, LocalApi, StoredObject } from '../ports.ts';
import { countBudget } from './budget.ts';
import { ownersOf, resourceOf } from './owner-index.ts';
import { createController } from './worker.ts';

/** An evicted pod that still exists after this time counts as healthy again. */
const evictionTimeoutMs = 120_000;

/** Kinds with `spec.replicas`. */
const scalable = ['Deployment', 'ReplicaSet', 'ReplicationController', 'StatefulSet'];

/** Maintains the status of PodDisruptionBudgets, which decides on evictions. */
export function createDisruptionController(log?: Log): Controller {
  return createController(
    {
      name: 'disruption',
      resource: podDisruptionBudgets,
      affected: ({ resource, object }, api) => {
        const counts = isKind(resource, pods) || scalable.includes(resource.kind);
        return counts ? api.list(podDisruptionBudgets, object.metadata.namespace).map(keyOf) : [];
      },
      reconcile: (key, api) => {
        const budget = api.get(podDisruptionBudgets, key);
        return budget === undefined ? undefined : update(budget, api);
      },
    },
    log,
  );
}

function update(budget: StoredObject, api: LocalApi): number | undefined {
  const now = api.clock.now();
  const selected = api.list(pods, budget.metadata.namespace).filter(pod => specSelects(budget, pod.metadata.labels));
  const granted = grantedEvictions(budget, selected, now);
  const healthy = selected.filter(pod => isHealthy(pod) && !Object.hasOwn(granted, pod.metadata.name ?? '')).length;
  const counts = countBudget(recordAt(budget, 'spec'), {
    count: selected.length,
    healthy,
    scale: scaleOf(selected, api),
  });
  const known = recordAt(budget, 'status');
  const next =
    counts === undefined
      ? { ...known, disruptionsAllowed: 0 }
      : {
          ...counts,
          observedGeneration: budget.metadata.generation ?? 0,
          ...(Object.keys(granted).length === 0 ? {} : { disruptedPods: granted }),
        };
  if (!sameData(next, { ...known, disruptionsAllowed: numberAt(known, 'disruptionsAllowed') })) {
    api.replace(podDisruptionBudgets, { ...budget, status: next } as StoredObject, { subresource: 'status' });
  }
  const oldest = Object.values(granted).map(time => Date.parse(time));
  return oldest.length === 0 ? undefined : Math.max(1, Math.min(...oldest) + evictionTimeoutMs - now);
}

/** Evicted pods that still exist, with the time of the eviction. */
function grantedEvictions(
  budget: StoredObject,
  selected: readonly StoredObject[],
  now: number,
): Record<string, string> {
  const known = recordAt(budget, 'status.disruptedPods');
  const names = selected
    .filter(pod => pod.metadata.deletionTimestamp === undefined)
    .map(pod => pod.metadata.name ?? '')
    .filter(name => Object.hasOwn(known, name) && Date.parse(String(known[name])) + evictionTimeoutMs >= now);
  return Object.fromEntries(names.map(name => [name, String(known[name])]));
}

function isHealthy(pod: StoredObject): boolean {
  return pod.metadata.deletionTimestamp === undefined && hasCondition(pod, 'Ready', 'True');
}

/** Total replicas of the controllers of the pods; undefined if a pod has no scalable controller. */
function scaleOf(selected: readonly StoredObject[], api: LocalApi): number | undefined {
  const replicas = new Map<string, number>();
  for (const pod of selected) {
    const owner = ownersOf(pod).find(({ controller }) => controller === true);
    if (owner === undefined) return undefined;
    const resource = scalable.includes(owner.kind) ? resourceOf(owner, api) : undefined;
    const namespace = pod.metadata.namespace ?? '';
    const found = resource && api.get(resource, { namespace, name: owner.name });
    if (found?.metadata.uid !== owner.uid) return undefined;
    replicas.set(owner.uid, numberAt(found, 'spec.replicas'));
  }
  return [...replicas.values()].reduce((sum, count) => sum + count, 0);
}
