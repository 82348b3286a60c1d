import { normalHostName } from '#base/dns-name.ts';
import type { NodeView } from '#contract/node.ts';

/** These Nodes, as product code finds them in a cache. */
export function nodeList(...nodes: readonly NodeView[]) {
  return {
    get: (name: string) => nodes.find(node => node.name === name),
    withAddress(wanted: Iterable<string>): NodeView[] {
      const addresses = new Set(wanted);
      return nodes.filter(node => node.addresses.some(({ address }) => addresses.has(normalHostName(address))));
    },
  };
}
