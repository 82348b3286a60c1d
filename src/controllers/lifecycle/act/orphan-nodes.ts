import { normalHostName } from '#base/dns-name.ts';
import { changedHosts, listedHosts } from '#cluster/instance-entries.ts';
import { bySource, sourceText } from '#cluster/instance-source.ts';
import { boundNode, byNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { isWindowsNode } from '#contract/node.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { ConfigMap, Node } from '#kube/resources.ts';

interface OrphanSources {
  nodes: Pick<Informer<Node>, 'store' | 'addHandler'>;
  /** With the indexes by Node and by source. */
  instances: Pick<Informer<WindowsInstance>, 'store' | 'addHandler'>;
  /** The ConfigMap windows-instances. */
  maps: Pick<Informer<ConfigMap>, 'addHandler'>;
  isLeaving: (instance: WindowsInstance) => boolean;
}

/**
 * Names of the Windows Nodes that an operator has configured completely and that no instance has recorded, except instances that give
 * up their host. Kept up to date by events, so that a new host costs the same in a large cluster.
 */
export class OrphanNodes {
  readonly #sources: OrphanSources;
  readonly #names = new Set<string>();

  constructor(sources: OrphanSources) {
    const { nodes, instances, maps } = sources;
    this.#sources = sources;
    const lookAtNode = ({ metadata }: Node) => this.#look(metadata.name);
    const lookAtRecord = (instance: WindowsInstance) => this.#look(boundNode(instance));
    const lookAtEntries = (hosts: readonly string[]) =>
      hosts
        .flatMap(name => instances.store.byIndex(bySource, sourceText({ kind: 'ConfigMap', name })))
        .forEach(lookAtRecord);
    nodes.addHandler({ added: lookAtNode, updated: (_old, now) => lookAtNode(now), deleted: lookAtNode });
    instances.addHandler({
      added: lookAtRecord,
      updated: (old, now) => {
        lookAtRecord(now);
        if (boundNode(old) !== boundNode(now)) lookAtRecord(old);
      },
      deleted: lookAtRecord,
    });
    const lookAtMap = (map: ConfigMap) => lookAtEntries(listedHosts(map));
    maps.addHandler({
      added: lookAtMap,
      updated: (old, now) => lookAtEntries(changedHosts(old, now)),
      deleted: lookAtMap,
    });
  }

  /** Whether one of them can be the Node of the instance. The host of a Machine has one of the names of the Machine. */
  includesNodeOf(instance: WindowsInstance, machineNames: readonly string[] | undefined): boolean {
    if (boundNode(instance) !== undefined) return false;
    if (machineNames === undefined) return this.#names.size > 0;
    return machineNames.some(name => this.#names.has(normalHostName(name)));
  }

  #look(name: string | undefined): void {
    if (name === undefined) return;
    const { nodes, instances, isLeaving } = this.#sources;
    const node = nodes.store.get({ namespace: '', name });
    const isOrphan = node !== undefined && isConfigured(node) && instances.store.byIndex(byNode, name).every(isLeaving);
    if (isOrphan) this.#names.add(name);
    else this.#names.delete(name);
  }
}

function isConfigured({ metadata: { labels = {}, annotations = {} } }: Node): boolean {
  return isWindowsNode({ labels }) && Object.hasOwn(annotations, nodeAnnotation.version);
}
