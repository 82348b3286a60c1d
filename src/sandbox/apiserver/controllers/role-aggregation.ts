import { byteOrder, sameData } from '#base/compare.ts';
import type { Log } from '#base/log.ts';
import { keyOf } from '#kube/resource.ts';
import { clusterRoles } from '#kube/resources.ts';
import { isKind } from '../auth/is-kind.ts';
import { matchesLabels, selectorOfSpec, type SpecSelector } from '../label-selector.ts';
import { listAt } from '../object.ts';
import type { Controller, LocalApi, StoredObject } from '../ports.ts';
import { createController } from './worker.ts';

/** Gathers the rules of ClusterRoles that have an aggregationRule from those it selects. */
export function createRoleAggregation(log?: Log): Controller {
  // A role may be gathered into any other, so each change concerns them all.
  const gathering = (api: LocalApi) => api.list(clusterRoles).filter(isGathering).map(keyOf);
  return createController(
    {
      name: 'role-aggregation',
      begin: gathering,
      affected: ({ resource }, api) => (isKind(resource, clusterRoles) ? gathering(api) : []),
      reconcile: (key, api) => {
        const role = api.get(clusterRoles, key);
        if (role !== undefined && isGathering(role)) gather(role, api);
        return undefined;
      },
    },
    log,
  );
}

function isGathering(role: StoredObject): boolean {
  return role['aggregationRule'] !== undefined;
}

function gather(role: StoredObject, api: LocalApi): void {
  const others = api
    .list(clusterRoles)
    .filter(other => other.metadata.name !== role.metadata.name)
    .toSorted((one, other) => byteOrder(one.metadata.name ?? '', other.metadata.name ?? ''));
  const selectors = listAt(role, 'aggregationRule.clusterRoleSelectors').map(item =>
    selectorOfSpec(item as SpecSelector),
  );
  const rules: unknown[] = [];
  for (const selector of selectors) {
    for (const rule of others.filter(other => matchesLabels(selector, other.metadata.labels)).flatMap(rulesOf)) {
      if (!rules.some(known => sameData(known, rule))) rules.push(rule);
    }
  }
  if (!sameData(rules, rulesOf(role))) api.replace(clusterRoles, { ...role, rules } as StoredObject);
}

function rulesOf(role: StoredObject): unknown[] {
  return listAt(role, 'rules');
}
