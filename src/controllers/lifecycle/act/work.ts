import { EventDeduper } from '#cluster/event-deduper.ts';
import { Installation } from '#cluster/installation.ts';
import { InstanceEntries } from '#cluster/instance-entries.ts';
import { isLeaving } from '#cluster/instance-removal.ts';
import { bySource, indexBySource } from '#cluster/instance-source.ts';
import {
  boundNode,
  byAddress,
  byNode,
  byReport,
  byRollout,
  hostAddresses,
  indexByReport,
  indexByRollout,
  type WindowsInstance,
  windowsInstances,
} from '#cluster/windows-instance-resource.ts';
import { configMapName } from '#contract/names.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { Key } from '#kube/resource.ts';
import { type ConfigMap, configMaps, type Node, nodes } from '#kube/resources.ts';
import type { LifecycleDeps } from '#node/lifecycle/deps.ts';
import type { RemovalCluster } from '#node/lifecycle/remove/journey.ts';
import { createRollout } from '#node/rollout/rollout.ts';
import type { LifecycleLimits, LifecycleParts, LifecycleRollout } from '../controller.ts';
import { Acceptance } from './acceptance.ts';
import { BrokenTimes } from './broken-times.ts';
import { createDeps } from './create-deps.ts';
import { DeletedInstances } from './deleted-instances.ts';
import { JourneyPlaces } from './journey-places.ts';
import { MarkTimes } from './mark-times.ts';
import { OrphanNodes } from './orphan-nodes.ts';
import { createRemovalCluster } from './removal-cluster.ts';
import { FirstRestart } from './restart-gate.ts';

/** What every pass uses. */
export type Work = LifecycleParts & {
  deps: LifecycleDeps;
  instances: Informer<WindowsInstance>;
  acceptance: Acceptance;
  /** Reports each address conflict once. */
  conflicts: EventDeduper;
  places: JourneyPlaces;
  broken: BrokenTimes;
  marks: MarkTimes;
  firstRestart: FirstRestart;
  orphans: OrphanNodes;
  isLeaving: (instance: WindowsInstance) => boolean;
  installation: Pick<Installation, 'problem' | 'recentProblem'>;
  removal: RemovalCluster;
};

interface CreatedWork {
  work: Work;
  nodeSource: Informer<Node>;
  /** With the ConfigMap windows-instances. */
  maps: Informer<ConfigMap>;
  /** All of the namespace: settings of the roll-out, and reports of agents. */
  allMaps: Informer<ConfigMap>;
  rollout: LifecycleRollout;
  deleted: DeletedInstances;
}

export function createWork(parts: LifecycleParts, limits: LifecycleLimits, wake: (key: Key) => void): CreatedWork {
  const { informers, namespace, client } = parts;
  const instances = informers.get(windowsInstances, { namespace });
  instances.addIndex(byAddress, hostAddresses);
  instances.addIndex(bySource, indexBySource);
  instances.addIndex(byReport, indexByReport);
  instances.addIndex(byRollout, indexByRollout);
  const nodeSource = informers.get(nodes);
  const maps = informers.get(configMaps, { namespace, fieldSelector: `metadata.name=${configMapName.instances}` });
  const acceptance = new Acceptance({ ...parts, instances, maps });
  const entries = new InstanceEntries();
  const isListed = (host: string) =>
    entries.of(host, maps.store.get({ namespace, name: configMapName.instances })).length > 0;
  const isLeavingNow = (instance: WindowsInstance) => isLeaving(instance, isListed);
  const rollout = parts.rollout ?? createRollout(parts);
  const installation = parts.installation ?? new Installation(client, namespace, parts.clock);
  const deleted = new DeletedInstances(instances, { ...parts, installation });
  const removal = createRemovalCluster({
    ...parts,
    installation,
    rivalsOf: instance => [
      ...acceptance.rivalsOf(instance),
      ...instances.store.byIndex(byNode, boundNode(instance) ?? ''),
    ],
    unidentified: () => instances.store.list().filter(({ status }) => status?.host === undefined),
    onDelete: instance => deleted.expect(instance),
  });
  const work: Work = {
    ...parts,
    deps: createDeps({ ...parts, rollout }, limits, isLeavingNow),
    instances,
    acceptance,
    conflicts: new EventDeduper(parts),
    places: new JourneyPlaces(limits.hosts, wake),
    broken: new BrokenTimes(),
    marks: new MarkTimes(),
    firstRestart: new FirstRestart(),
    orphans: new OrphanNodes({ nodes: nodeSource, instances, maps, isLeaving: isLeavingNow }),
    isLeaving: isLeavingNow,
    installation,
    removal,
  };
  return { work, nodeSource, maps, allMaps: informers.get(configMaps, { namespace }), rollout, deleted };
}
