import { normalHostName } from '#base/dns-name.ts';
import { listedHosts } from '#cluster/instance-entries.ts';
import type { Installation } from '#cluster/installation.ts';
import {
  byNode,
  hostAddresses,
  indexByNode,
  type WindowsInstance,
  windowsInstances,
} from '#cluster/windows-instance-resource.ts';
import { configMapName, nodeAnnotation } from '#contract/names.ts';
import { isWindowsNode } from '#contract/node.ts';
import { isConflict, isNotFound, unless } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { matching } from '#kube/controller/predicate.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { type Watch, watching } from '#kube/controller/watches.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { type ConfigMap, configMaps, type Node, nodes } from '#kube/resources.ts';
import { type Machine, machines } from '#kube/resources-openshift.ts';
import { windowsMachines } from '../machines/observe.ts';
import { decide, type HostKeyFacts } from './decide.ts';

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: ['get', ...reading, 'patch'] },
  { in: 'own namespace', group: windowsInstances.group, resources: [windowsInstances.plural], verbs: reading },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: reading },
];

export interface HostKeysParts extends ControllerParts {
  installation: Pick<Installation, 'problem'>;
  hasMachines: boolean;
}

const recheckMs = 3_600_000;

/** Removes stored host keys of hosts that no longer exist, such as Machines that were deleted before they became Nodes. */
export function hostKeysController(parts: HostKeysParts): Controller {
  const { informers, namespace, hasMachines } = parts;
  const key = { namespace, name: configMapName.hostKeys };
  const maps = informers.get(configMaps, { namespace });
  const instances = informers.get(windowsInstances, { namespace });
  const nodeSource = informers.get(nodes);
  const machineSource = hasMachines ? informers.get(machines, windowsMachines) : undefined;
  instances.addIndex(byNode, indexByNode);
  const isRecorded = ({ metadata }: Node) => instances.store.byIndex(byNode, metadata.name ?? '').length > 0;
  const keys = new HostKeys(parts, {
    map: () => maps.store.get(key),
    listed: () => maps.store.get({ namespace, name: configMapName.instances }),
    instances: () => instances.store.list(),
    machines: () => machineSource?.store.list() ?? [],
    hasOrphans: () => nodeSource.store.list().some(node => isConfigured(node) && !isRecorded(node)),
  });
  const others = [instances, nodeSource, ...(machineSource ? [machineSource] : [])];
  return new Controller({
    ...parts,
    name: 'host-keys',
    watches: [
      watching({ source: maps, predicate: matching<ConfigMap>(({ metadata }) => metadata.name === key.name) }),
      synced(others.map(source => source.synced)),
    ],
    reconcile: (_, pass) => keys.reconcile(pass),
  });
}

/** Waits for caches whose changes are no reason for a pass. */
function synced(caches: readonly Promise<void>[]): Watch {
  const all = Promise.all(caches).then(() => undefined);
  // An operator that is stopped before a controller waits for it would end with an error.
  all.catch(() => undefined);
  return { synced: all, start: () => () => undefined, relist: () => [] };
}

/** By an operator, perhaps the Go operator; a Node that claims this only keeps entries from being removed. */
function isConfigured({ metadata: { labels = {}, annotations = {} } }: Node): boolean {
  return isWindowsNode({ labels }) && Object.hasOwn(annotations, nodeAnnotation.version);
}

interface Sources {
  map: () => ConfigMap | undefined;
  /** The ConfigMap windows-instances. */
  listed: () => ConfigMap | undefined;
  instances: () => readonly WindowsInstance[];
  machines: () => readonly Machine[];
  hasOrphans: () => boolean;
}

class HostKeys {
  readonly #parts: HostKeysParts;
  readonly #sources: Sources;
  #unusedSince: HostKeyFacts['unusedSince'] = new Map();

  constructor(parts: HostKeysParts, sources: Sources) {
    this.#parts = parts;
    this.#sources = sources;
  }

  async reconcile(pass: Pass): Promise<Outcome> {
    const { map, listed, instances } = this.#sources;
    const { remove, unusedSince } = this.#decide(map(), listed(), instances());
    this.#unusedSince = unusedSince;
    if (remove.length > 0) await this.#remove(pass);
    return unusedSince.size === 0 && map() === undefined
      ? done
      : after(recheckMs, 'stored host keys may become unused');
  }

  #decide(
    map: ConfigMap | undefined,
    listed: ConfigMap | undefined,
    instances: readonly WindowsInstance[],
  ): ReturnType<typeof decide> {
    const { machines: listMachines, hasOrphans } = this.#sources;
    return decide({
      entries: map?.data ?? {},
      needed: new Set(
        [
          ...(listed === undefined ? [] : listedHosts(listed)),
          ...instances.flatMap(each => [...hostAddresses(each), each.status?.ipv4 ?? '']),
          ...listMachines().flatMap(addressesOf),
        ].map(normalHostName),
      ),
      hasOrphans: hasOrphans(),
      unusedSince: this.#unusedSince,
      nowMs: this.#parts.clock.monotonicMs(),
    });
  }

  /** Decides again with what is not in the caches yet; only this version of the ConfigMap is changed. */
  async #remove({ log, signal }: Pass): Promise<void> {
    const { client, namespace, installation } = this.#parts;
    const problem = await installation.problem(signal);
    if (problem !== undefined) return log.debug('Keeping stored host keys', { why: problem });
    const [map, listed, { items }] = await Promise.all([
      client.find(configMaps, configMapName.hostKeys, { namespace, signal }),
      client.find(configMaps, configMapName.instances, { namespace, signal }),
      client.listAll(windowsInstances, { namespace, signal }),
    ]);
    const { remove } = this.#decide(map, listed, items);
    if (map === undefined || remove.length === 0) return;
    const data = Object.fromEntries(remove.map(address => [address, null]));
    const body = { metadata: { resourceVersion: map.metadata.resourceVersion }, data };
    log.info('Removing stored host keys that nothing has needed for a week', { addresses: remove });
    await client
      .patch(configMaps, configMapName.hostKeys, { type: 'merge', body }, { namespace, signal })
      .catch(unless(isNotFound, isConflict));
  }
}

function addressesOf({ metadata, status }: Machine): string[] {
  const addresses: unknown = status?.addresses;
  const known = Array.isArray(addresses) ? (status?.addresses ?? []) : [];
  return [metadata.name ?? '', ...known.map(({ address }) => address)];
}
