import { normalHostName } from '#base/dns-name.ts';
import { boundNode, byAge, byNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { NodeView } from '#contract/node.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { hasConditionStatus } from '#base/condition.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { NodeReader } from '#node/node-reader.ts';

/** The oldest eligible instance whose record has this Node name. */
export function findInstance(name: string, store: StoreView<WindowsInstance>): WindowsInstance | undefined {
  return store.byIndex(byNode, name).filter(isEligible).toSorted(byAge)[0];
}

/** Requests of hosts that are rejected or being deleted are not approved. */
export function isEligible({ metadata, status }: WindowsInstance): boolean {
  const isRejected = hasConditionStatus(status?.conditions, instanceCondition.accepted, 'False');
  return metadata.deletionTimestamp === undefined && !isRejected;
}

/**
 * Which of the names belong to other hosts, with their owner. Names that other hosts report about themselves count only against
 * names that this host reports: its Node name, the dialed address and names that an administrator set cannot be taken from it.
 */
export function takenNames(
  names: readonly string[],
  own: WindowsInstance,
  instances: StoreView<WindowsInstance>,
  nodes: Pick<NodeReader, 'get' | 'withAddress'>,
): Record<string, string> {
  const taken: Record<string, string> = {};
  const fixed = new Set(fixedNames(own).map(normalHostName));
  const ownName = normalHostName(boundNode(own) ?? '');
  for (const name of names) {
    const wanted = normalHostName(name);
    const isWanted = (text: string) => normalHostName(text) === wanted;
    const isFixed = fixed.has(wanted);
    const isClaim = !isFixed && wanted !== ownName;
    const others = instances.byIndex(byHostName, wanted).filter(other => other.metadata.uid !== own.metadata.uid);
    const named = [nodes.get(wanted) ?? []].flat();
    const otherNodes = [...named, ...nodes.withAddress([wanted])].filter(node => node.name !== boundNode(own));
    const instance = others.find(other =>
      [
        ...fixedNames(other),
        ...(isFixed ? [] : [boundNode(other) ?? '']),
        ...(isClaim ? claimedNames(other) : []),
      ].some(isWanted),
    );
    const node = isFixed
      ? undefined
      : otherNodes.find(other => [other.name, ...(isClaim ? reportedNames(other) : [])].some(isWanted));
    const holder = instance === undefined ? node && `Node ${node.name}` : `WindowsInstance ${instance.metadata.name}`;
    if (holder !== undefined) taken[name] = holder;
  }
  return taken;
}

/** Index of instances by all their names, in lower case. */
export const byHostName = 'host name';

export function hostNames(instance: WindowsInstance): string[] {
  const names = [...fixedNames(instance), boundNode(instance) ?? '', ...claimedNames(instance)];
  return [...new Set(names.map(normalHostName))].filter(name => name !== '');
}

/** Set by an administrator, or dialed by the operator. */
function fixedNames({ spec, status }: WindowsInstance): string[] {
  const dialed = status?.host?.addresses[0] ?? status?.ipv4;
  return [spec.address, dialed, ...(spec.servingNames ?? [])].filter(text => text !== undefined);
}

/** Reported by the host over the pinned connection. */
function claimedNames({ status }: WindowsInstance): string[] {
  return status?.host?.addresses ?? [];
}

function reportedNames({ addresses }: NodeView): string[] {
  return addresses.map(({ address }) => address);
}
