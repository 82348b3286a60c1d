import { normalHostName } from '#base/dns-name.ts';
import { attempt } from '#base/errors.ts';
import { isRecord } from '#base/fields.ts';
import { type NodeView, readNode } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { Node } from '#kube/resources.ts';

/** Reads Nodes of a cache, each version once. A Node that cannot be read counts as missing. */
export class NodeReader {
  readonly #store: Pick<StoreView<Node>, 'get' | 'byIndex'>;
  readonly #views = new WeakMap<Node, NodeView | 'unreadable'>();

  constructor(source: Pick<Informer<Node>, 'store' | 'addIndex'>) {
    this.#store = source.store;
    source.addIndex(byAddress, addressesOf);
  }

  /** Nodes that report one of these addresses, which are in lower case. */
  withAddress(addresses: Iterable<string>): NodeView[] {
    const found = [...new Set(addresses)].flatMap(address => this.#store.byIndex(byAddress, address));
    return [...new Set(found)].flatMap(node => this.read(node) ?? []);
  }

  get(name: string): NodeView | undefined {
    const node = this.#store.get({ namespace: '', name });
    return node && this.read(node);
  }

  read(node: Node): NodeView | undefined {
    const view = this.#views.get(node) ?? viewOf(node);
    this.#views.set(node, view);
    return view === 'unreadable' ? undefined : view;
  }
}

const byAddress = 'address';

function addressesOf({ status }: Node): string[] {
  const addresses: unknown = status?.addresses;
  const items: unknown[] = Array.isArray(addresses) ? addresses : [];
  return items.flatMap(item => {
    const address = isRecord(item) ? item['address'] : undefined;
    return typeof address === 'string' ? [normalHostName(address)] : [];
  });
}

function viewOf(node: Node): NodeView | 'unreadable' {
  const read = attempt(() => readNode(readObject(node)));
  return read.ok ? read.value : 'unreadable';
}
