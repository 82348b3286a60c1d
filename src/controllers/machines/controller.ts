import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { namespaceName, nodeAnnotation } from '#contract/names.ts';
import { instanceCondition, windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import { findCondition } from '#base/condition.ts';
import { Controller } from '#kube/controller/controller.ts';
import { allOf, changed, matching, type Predicate } from '#kube/controller/predicate.ts';
import { watching } from '#kube/controller/watches.ts';
import { type Key, keyOf } from '#kube/resource.ts';
import { type Node, nodes } from '#kube/resources.ts';
import { type Machine, machineSets, machines } from '#kube/resources-openshift.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { instancesPermission } from '#cluster/instance-sync/apply-plan.ts';
import { watchingSignal } from '#kube/controller/signal-watch.ts';
import { bySource, indexBySource, sourceOf } from '#cluster/instance-source.ts';
import { createRollout, grantsPermission } from '#node/rollout/rollout.ts';
import { MachineSource } from './act/machine-source.ts';
import { type MachinesParts, refusesKey, windowsMachines } from './observe.ts';

const inMachineApi = { namespace: namespaceName.machineApi };

export const permissions: readonly Permission[] = [
  { in: inMachineApi, group: machines.group, resources: ['machines'], verbs: ['get', ...reading, 'delete'] },
  { in: inMachineApi, group: machines.group, resources: ['machinesets'], verbs: reading },
  { in: inMachineApi, group: '', resources: ['events'], verbs: ['create', 'patch'] },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: ['get', ...reading] },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances/status'], verbs: ['patch'] },
  instancesPermission,
  grantsPermission,
];

const byNode = 'node';

/** Keeps a WindowsInstance for each Windows Machine, and replaces Machines that no retry can help. */
export function machinesController(parts: MachinesParts): Controller {
  const { informers, namespace } = parts;
  const sources = {
    machines: informers.get(machines, windowsMachines),
    machineSets: informers.get(machineSets, inMachineApi),
    nodes: informers.get(nodes),
    instances: informers.get(windowsInstances, { namespace }),
  };
  sources.machines.addIndex(byNode, indexByNode);
  sources.instances.addIndex(bySource, indexBySource);
  const stores = {
    machines: sources.machines.store,
    machineSets: sources.machineSets.store,
    nodes: sources.nodes.store,
    instances: sources.instances.store,
  };
  const rollout = parts.rollout ?? createRollout(parts);
  const source = new MachineSource({ ...parts, grants: rollout.grants }, stores);
  const machinesOfNode = ({ metadata }: Node) => stores.machines.byIndex(byNode, metadata.name ?? '').map(keyOf);
  const machinesOfInstance = (name: string) =>
    [stores.instances.get({ namespace, name })].flatMap(found => (found ? machineOf(found) : []));
  return new Controller({
    ...parts,
    name: 'machines',
    concurrency: 10,
    passTimeoutMs: 60_000,
    watches: [
      watching({ source: sources.machines }),
      watching({ source: sources.machineSets, keys: () => [] }),
      watching({ source: sources.nodes, predicate: nodeChanges, keys: machinesOfNode }),
      watching({ source: sources.instances, predicate: instanceChanges, keys: machineOf }),
      rollout.watchTurns(({ instance, journey }) => (journey === 'replace' ? machinesOfInstance(instance) : [])),
      watchingSignal(parts.onSettingsChange, () => stores.machines.list().map(keyOf)),
    ],
    reconcile: (key, pass) => source.reconcile(key, pass),
  });
}

/** Ignores heartbeats. */
const nodeChanges = changed<Node>(({ metadata: { uid, annotations = {} } }) => [
  uid,
  annotations[nodeAnnotation.version],
  annotations[nodeAnnotation.pubKeyHash],
]);

/** Of the status only the key of the host matters here, and whether it works. */
const instanceChanges: Predicate<WindowsInstance> = allOf<WindowsInstance>(
  matching(instance => sourceOf(instance)?.kind === 'Machine'),
  changed(instance => [
    instance.spec,
    instance.metadata.deletionTimestamp,
    instance.status?.version,
    instance.status?.key?.hash,
    refusesKey(instance),
    findCondition(instance.status?.conditions, instanceCondition.keyRefused)?.status,
  ]),
);

function machineOf(instance: WindowsInstance): Key[] {
  const source = sourceOf(instance);
  return source?.kind === 'Machine' ? [{ namespace: namespaceName.machineApi, name: source.name }] : [];
}

function indexByNode({ status }: Machine): string[] {
  return status?.nodeRef?.name === undefined ? [] : [status.nodeRef.name];
}
