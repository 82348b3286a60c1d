import { normalHostName } from '#base/dns-name.ts';
import { boundNode, byNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { isWindowsNode } from '#contract/node.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { Node } from '#kube/resources.ts';
import type { NodeNames } from '#node/lifecycle/node-names.ts';

export interface OrphanSources {
  nodes: Pick<StoreView<Node>, 'indexValues' | 'byIndex'>;
  instances: Pick<StoreView<WindowsInstance>, 'byIndex'>;
  names: Pick<NodeNames, 'machineNames'>;
  isLeaving: (instance: WindowsInstance) => boolean;
}

/** Index of the Windows Nodes that an operator has configured completely, by name. */
export const byConfiguredName = 'configured name';

export function configuredName({ metadata }: Node): string[] {
  const { name, labels = {}, annotations = {} } = metadata;
  const isConfigured = isWindowsNode({ labels }) && Object.hasOwn(annotations, nodeAnnotation.version);
  return name === undefined || !isConfigured ? [] : [name];
}

/** Whether there is a configured Windows Node that no staying instance has recorded and that can be the Node of this one. */
export function hasOrphans(instance: WindowsInstance, { nodes, instances, names, isLeaving }: OrphanSources): boolean {
  // Only asked for hosts that are not recorded: it looks at all Nodes.
  if (boundNode(instance) !== undefined) return false;
  const isOrphan = (name: string) => instances.byIndex(byNode, name).every(isLeaving);
  const machineNames = names.machineNames(instance)?.map(normalHostName);
  if (machineNames === undefined) return nodes.indexValues(byConfiguredName).some(isOrphan);
  return machineNames.some(name => nodes.byIndex(byConfiguredName, name).length > 0 && isOrphan(name));
}

/** Another instance that recorded the host of this one, which gives it up. */
export function successorOf(
  instance: WindowsInstance,
  instances: Pick<StoreView<WindowsInstance>, 'byIndex'>,
  isLeaving: (instance: WindowsInstance) => boolean,
): string | undefined {
  const name = boundNode(instance);
  const { hostKey } = instance.status ?? {};
  if (name === undefined || hostKey === undefined || !isLeaving(instance)) return undefined;
  const successor = instances.byIndex(byNode, name).find(({ metadata, status, spec }) => {
    const isOther = metadata.uid !== instance.metadata.uid;
    const isSameHost = status?.host?.name === name && status.hostKey === hostKey;
    return isOther && isSameHost && !isLeaving({ metadata, spec });
  });
  return successor?.metadata.name;
}
