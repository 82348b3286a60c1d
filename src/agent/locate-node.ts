import { nodeLabel } from '#contract/names.ts';
import { type NodeView, readNode } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import type { Client } from '#kube/client.ts';
import { nodes } from '#kube/resources.ts';
import { findOwnNode, type LocalAddress } from './own-node.ts';
import type { Adapter, System } from './ports.ts';

/** Asks the API server which Node this host is; rejects with NODE_NOT_FOUND when it is none. */
export async function locateOwnNode(
  client: Pick<Client, 'listAll'>,
  system: Pick<System, 'adapters' | 'hostName'>,
  signal: AbortSignal,
): Promise<NodeView> {
  const [adapters, hostName] = await Promise.all([system.adapters(), system.hostName()]);
  const { items } = await client.listAll(nodes, { labelSelector: `${nodeLabel.os}=windows`, signal });
  // Objects of a list do not say what they are.
  const views = items.map(item => readNode(readObject({ apiVersion: 'v1', kind: 'Node', ...item })));
  return findOwnNode(views, addressesOf(adapters), hostName);
}

/** Those of the way to everywhere first: that is the interface whose address the kubelet reports. */
export function addressesOf(adapters: readonly Adapter[]): LocalAddress[] {
  const rank = ({ defaultRouteMetric, isUp }: Adapter) => defaultRouteMetric ?? (isUp ? 1e9 : 1e10);
  return adapters
    .toSorted((one, other) => rank(one) - rank(other))
    .flatMap(({ addresses }) => addresses.map(cidr => ({ address: cidr.split('/')[0] ?? '', cidr })));
}
