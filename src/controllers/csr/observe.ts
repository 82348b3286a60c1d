import { normalHostName } from '#base/dns-name.ts';
import { attempt } from '#base/errors.ts';
import {
  boundNode,
  byAge,
  byNode,
  type WindowsInstance,
  windowsInstances,
} from '#cluster/windows-instance-resource.ts';
import { readObject } from '#contract/object.ts';
import { type NodeView, readNode } from '#contract/node.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import type { Client } from '#kube/client.ts';
import { hasConditionStatus } from '#base/condition.ts';
import type { StoreView } from '#kube/informer/store.ts';
import { keyOf } from '#kube/resource.ts';
import { type Node, nodes as nodeResource } from '#kube/resources.ts';

/** The instance whose record has this Node name; the oldest if there should be two. */
export function findInstance(name: string, store: StoreView<WindowsInstance>): WindowsInstance | undefined {
  return store.byIndex(byNode, name).filter(isEligible).toSorted(byAge)[0];
}

/** Requests of hosts that are not accepted, or about to go, are not approved. */
export function isEligible({ metadata, status }: WindowsInstance): boolean {
  const isRejected = hasConditionStatus(status?.conditions, instanceCondition.accepted, 'False');
  return metadata.deletionTimestamp === undefined && !isRejected;
}

/**
 * Which of the names belong to other hosts. What other hosts and nodes say about themselves counts only against what this host says
 * about itself: its node name, the address that the operator dials and what the administrator has written cannot be taken from it.
 */
export function takenNames(
  names: readonly string[],
  own: WindowsInstance,
  instances: StoreView<WindowsInstance>,
  nodes: readonly NodeView[],
): Record<string, string> {
  const taken: Record<string, string> = {};
  const others = instances.list().filter(other => other.metadata.uid !== own.metadata.uid);
  const otherNodes = nodes.filter(node => node.name !== boundNode(own));
  const fixed = new Set(fixedNames(own).map(normalHostName));
  const ownName = normalHostName(boundNode(own) ?? '');
  for (const name of names) {
    const wanted = normalHostName(name);
    const isWanted = (text: string) => normalHostName(text) === wanted;
    // What is written or dialed for this host cannot be taken by the name that another host gives itself.
    const isFixed = fixed.has(wanted);
    const isClaim = !isFixed && wanted !== ownName;
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

/** By the administrator, or by the operator's own dialing. */
function fixedNames({ spec, status }: WindowsInstance): string[] {
  const dialed = status?.host?.addresses[0] ?? status?.ipv4;
  return [spec.address, dialed, ...(spec.servingNames ?? [])].filter(text => text !== undefined);
}

/** What the host has said over the pinned connection. */
function claimedNames({ status }: WindowsInstance): string[] {
  return status?.host?.addresses ?? [];
}

function reportedNames({ addresses }: NodeView): string[] {
  return addresses.map(({ address }) => address);
}

/** All Nodes, each read once for as long as it stays what it is. */
export class NodeReader {
  readonly #store: StoreView<Node>;
  readonly #views = new WeakMap<Node, NodeView | undefined>();

  constructor(store: StoreView<Node>) {
    this.#store = store;
  }

  list(): NodeView[] {
    return this.#store.list().flatMap(node => this.#read(node) ?? []);
  }

  get(name: string): NodeView | undefined {
    const node = this.#store.get({ namespace: '', name });
    return node && this.#read(node);
  }

  #read(node: Node): NodeView | undefined {
    if (!this.#views.has(node)) {
      const read = attempt(() => readNode(readObject(node)));
      this.#views.set(node, read.ok ? read.value : undefined);
    }
    return this.#views.get(node);
  }
}

type Finder = Pick<Client, 'find'>;

/** As the server has it now: what is decided for good is not decided by an old picture. */
export async function freshNode(name: string, client: Finder, signal: AbortSignal): Promise<NodeView | undefined> {
  const found = await client.find(nodeResource, name, { signal });
  return found && readNode(readObject(found));
}

export async function freshInstance(
  instance: WindowsInstance,
  client: Finder,
  signal: AbortSignal,
): Promise<WindowsInstance | undefined> {
  const { name, namespace } = keyOf(instance);
  const found = await client.find(windowsInstances, name, { namespace, signal });
  if (found === undefined || found.metadata.uid !== instance.metadata.uid) return undefined;
  return isEligible(found) ? found : undefined;
}
