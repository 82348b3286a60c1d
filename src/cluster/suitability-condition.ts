import { type Condition, type NewCondition, setCondition } from '#base/condition.ts';
import type { Clock } from '#base/clock.ts';
import type { AppError } from '#base/errors.ts';
import { configMapName } from '#contract/names.ts';
import {
  kubeletVersionKey,
  printConditions,
  readConditions,
  suitabilityCondition,
  versionKey,
} from '#contract/operator-status.ts';
import { isAlreadyExists, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type ConfigMap, configMaps } from '#kube/resources.ts';

export interface ConditionDeps {
  client: Pick<Client, 'create' | 'patch'>;
  /** Of the operator. */
  namespace: string;
  clock: Clock;
  /** Conditions that are written with it. */
  others?: readonly NewCondition[];
  /** Of the operator; not written when not set. */
  version?: string;
  /** Of its payload; not written when not set. */
  kubeletVersion?: string;
}

/** Writes the condition `ClusterSuitable`, others and the versions, if they differ, and returns their ConfigMap. `stored` is the present one. */
export async function storeSuitability(
  stored: ConfigMap | undefined,
  problems: readonly AppError[],
  { client, namespace, clock, others = [], version, kubeletVersion }: ConditionDeps,
  signal: AbortSignal,
): Promise<ConfigMap> {
  const name = configMapName.operatorStatus;
  const before = readConditions(stored?.data);
  const conditions = [suitabilityCondition(problems), ...others].reduce<readonly Condition[]>(
    (all, condition) => setCondition(all, condition, clock.now()),
    before,
  );
  const versions = {
    ...(version !== undefined && { [versionKey]: version }),
    ...(kubeletVersion !== undefined && { [kubeletVersionKey]: kubeletVersion }),
  };
  const data = { ...printConditions(conditions), ...versions };
  if (stored === undefined) {
    const object: ConfigMap = { metadata: { name, namespace }, data };
    return (await client.create(configMaps, object, { signal }).catch(unless(isAlreadyExists))) ?? object;
  }
  const isStored = Object.entries(versions).every(([key, value]) => stored.data?.[key] === value);
  if (conditions === before && isStored) return stored;
  return client.patch(configMaps, name, { type: 'merge', body: { data } }, { namespace, signal });
}
