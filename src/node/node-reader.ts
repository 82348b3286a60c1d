import { attempt } from '#base/errors.ts';
import { type NodeView, readNode } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { Node } from '#kube/resources.ts';

/** Reads Nodes of a cache, each version once. A Node that cannot be read counts as missing. */
export class NodeReader {
  readonly #store: Pick<StoreView<Node>, 'list' | 'get'>;
  readonly #views = new WeakMap<Node, NodeView | 'unreadable'>();

  constructor(store: Pick<StoreView<Node>, 'list' | 'get'>) {
    this.#store = store;
  }

  list(): NodeView[] {
    return this.#store.list().flatMap(node => this.read(node) ?? []);
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

function viewOf(node: Node): NodeView | 'unreadable' {
  const read = attempt(() => readNode(readObject(node)));
  return read.ok ? read.value : 'unreadable';
}
