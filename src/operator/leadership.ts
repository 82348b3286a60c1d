import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from '#base/clock.ts';
import type { Log } from '#base/log.ts';
import { configMapName, operatorName, prefix } from '#contract/names.ts';
import type { Permission } from '#kube/permissions.ts';
import type { Client } from '#kube/client.ts';
import type { Leadership } from '#kube/controller/manager.ts';
import type { Leader } from '#kube/leader/leader.ts';
import { LeaseLeadership } from '#kube/leader/lease.ts';
import { afterLegacyLock, LegacyLock } from '#kube/leader/legacy-lock.ts';
import { pods } from '#kube/resources.ts';
import type { LeaseTimes } from './settings.ts';

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: 'coordination.k8s.io', resources: ['leases'], verbs: ['get', 'create', 'update'] },
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: ['get', 'create', 'delete'] },
  { in: 'own namespace', group: '', resources: ['pods'], verbs: ['get'] },
];

/** An API server may be away or too busy for a minute, as during its upgrade, without an end of all journeys. */
const leaseTimes: LeaseTimes = { leaseDurationMs: 120_000, renewDeadlineMs: 90_000, retryPeriodMs: 5000 };

export interface LeadershipParts {
  client: Client;
  namespace: string;
  /** Pod of this process; empty outside a cluster. */
  podName: string;
  clock: Clock;
  log: Log;
  random: () => number;
  lease?: LeaseTimes | undefined;
}

/** Leader election by a Lease, held only while no Go operator leads by its ConfigMap. */
export async function leadershipOf(parts: LeadershipParts, signal: AbortSignal): Promise<Leadership & Leader> {
  const { client, namespace, podName } = parts;
  const uid = podName === '' ? undefined : (await client.get(pods, podName, { namespace, signal })).metadata.uid;
  const process = uid === undefined ? podName || hostname() : `${podName}_${uid}`;
  const identity = `${process}_${randomUUID()}`;
  // A container of this pod starts when the one before it has ended.
  const hasEnded = (holder: string) => uid !== undefined && holder.startsWith(`${process}_`) && holder !== identity;
  const lease = new LeaseLeadership({
    ...parts,
    ...(parts.lease ?? leaseTimes),
    name: operatorName,
    identity,
    hasEnded,
  });
  const lock = new LegacyLock({
    ...parts,
    name: configMapName.leaderLock,
    mark: `${prefix}/lease`,
    ...(uid !== undefined && { pod: { name: podName, uid } }),
  });
  return { ...afterLegacyLock(lease, lock), term: () => lease.term(), isCurrent: each => lease.isCurrent(each) };
}
