import { Slots } from '#base/waiting/slots.ts';
import { deleteInstance } from '#cluster/instance-sync/apply-plan.ts';
import {
  byNode,
  byDialed,
  bySpecName,
  dialedAddresses,
  indexByNode,
  specNames,
  type WindowsInstance,
  windowsInstances,
} from '#cluster/windows-instance-resource.ts';
import { Drainer } from '#kube/drain/drain.ts';
import { onlyLeader } from '#kube/leader/leader.ts';
import { keyOf } from '#kube/resource.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import { BundleHashCache } from '#node/bundle-hash-cache.ts';
import { createHostKeyStore } from '#node/host-keys/host-key-store.ts';
import { createClusterNodes } from '#node/lifecycle/cluster-nodes.ts';
import type { LifecycleDeps } from '#node/lifecycle/deps.ts';
import { NodeNames } from '#node/lifecycle/node-names.ts';
import type { LifecycleLimits, LifecycleParts, LifecycleRollout } from '../controller.ts';

/** Everything that journeys share. */
export function createDeps(
  parts: LifecycleParts & { rollout: LifecycleRollout },
  { joins, uploads }: LifecycleLimits,
  isLeaving: (instance: WindowsInstance) => boolean,
): LifecycleDeps {
  const {
    client,
    informers,
    namespace,
    connect,
    dialTcp,
    resolver,
    inputs,
    payload,
    machineNames,
    rollout,
    leader = onlyLeader,
    clock,
    log,
    metrics,
  } = parts;
  const instances = informers.get(windowsInstances, { namespace });
  instances.addIndex(byNode, indexByNode);
  instances.addIndex(bySpecName, specNames);
  instances.addIndex(byDialed, dialedAddresses);
  return {
    connect,
    dialTcp,
    resolver,
    inputs,
    payload,
    leader,
    nodes: createClusterNodes({
      client,
      nodes: informers.get(nodes),
      configMaps: informers.get(configMaps, { namespace }),
      namespace,
      drainer: new Drainer({ client, clock, log }),
    }),
    hostKeys: createHostKeyStore(parts),
    slots: { joins: new Slots(joins), uploads: new Slots(uploads) },
    grants: rollout.grants,
    bundleHashes: new BundleHashCache(),
    names: new NodeNames({
      holders: name => instances.store.byIndex(byNode, name),
      named: name => instances.store.byIndex(bySpecName, name),
      dialed: ipv4 => instances.store.byIndex(byDialed, ipv4),
      find: instance => instances.store.get(keyOf(instance)),
      isLeaving,
      discard: (instance, signal) => deleteInstance(instance, 'its host was taken over', { client, log, signal }),
      ...(machineNames && { machines: machineNames }),
    }),
    clock,
    log,
    metrics,
  };
}
