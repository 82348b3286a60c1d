import type { Log } from '#base/log.ts';
import { sameData } from '#base/compare.ts';
import { apiVersionOf, type Key, type KubeResource, keyOf } from '#kube/resource.ts';
import { type Machine, type MachineSet, machineSets, machines } from '#kube/resources-openshift.ts';
import { isKind } from '../../apiserver/auth/is-kind.ts';
import { createController } from '../../apiserver/controllers/worker.ts';
import { recordAt, textsAt } from '../../apiserver/object.ts';
import type { Controller, LocalApi, StoredObject } from '../../apiserver/ports.ts';

/** Maintains the replicas of MachineSets. */
export function createMachineSets(log?: Log): Controller {
  const made = new Map<string, number>();
  return createController(
    {
      name: 'machine-sets',
      resource: machineSets,
      affected: ({ resource, object }) => (isKind(resource, machines) ? ownerKeys(object) : []),
      reconcile: (key, api) => {
        const set: (StoredObject & MachineSet) | undefined = api.get(machineSets, key);
        if (set !== undefined && set.metadata.deletionTimestamp === undefined) keepCount(set, api, made);
      },
    },
    log,
  );
}

/** `made` counts the Machines of each set: numbers can be typed, and are never used twice. */
function keepCount(set: StoredObject & MachineSet, api: LocalApi, made: Map<string, number>): void {
  const owned = api.list(machines, set.metadata.namespace).filter(machine => isOwned(machine, set)) as Machine[];
  const alive = owned.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const missing = (set.spec?.replicas ?? 1) - alive.length;
  for (let left = missing; left > 0; left -= 1) {
    const number = (made.get(set.metadata.uid ?? '') ?? 0) + 1;
    made.set(set.metadata.uid ?? '', number);
    api.create(machines, newMachine(set, number));
  }
  // Deletes Machines without a Node first.
  const surplus = alive.toSorted((one, other) => rank(one) - rank(other)).slice(0, Math.max(0, -missing));
  for (const machine of surplus) api.delete(machines, keyOf(machine));
  const readyReplicas = alive.filter(({ status }) => status?.phase === 'Running').length;
  const status = { replicas: alive.length, readyReplicas, availableReplicas: readyReplicas };
  if (!sameData(set['status'], status))
    api.replace(machineSets, { ...set, status } as KubeResource, { subresource: 'status' });
}

function newMachine(set: StoredObject & MachineSet, number: number): Machine {
  const { name = '', namespace = '', uid = '' } = set.metadata;
  const owner = { apiVersion: set.apiVersion, kind: set.kind, name, uid, controller: true, blockOwnerDeletion: true };
  return {
    apiVersion: apiVersionOf(machines),
    kind: machines.kind,
    metadata: {
      name: `${name}-${number}`,
      namespace,
      labels: textsAt(set, 'spec.template.metadata.labels'),
      ownerReferences: [owner],
    },
    spec: recordAt(set, 'spec.template.spec'),
  };
}

function ownerKeys({ metadata }: KubeResource): Key[] {
  const owners = metadata.ownerReferences ?? [];
  return owners.map(({ name }) => ({ namespace: metadata.namespace ?? '', name }));
}

function isOwned({ metadata }: KubeResource, set: KubeResource): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => uid === set.metadata.uid);
}

function rank({ status }: Machine): number {
  return ['Running', 'Provisioned'].indexOf(status?.phase ?? '') === -1 ? 0 : status?.nodeRef === undefined ? 1 : 2;
}
