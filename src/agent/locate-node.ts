import { identity, nodeLabel } from '#contract/names.ts';
import { type NodeView, readNode } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import { isApiError } from '#kube/api-error.ts';
import type { Client, ListOptions } from '#kube/client.ts';
import { nodes } from '#kube/resources.ts';
import type { Identity } from '#kube/transport/connection.ts';
import { factsOf } from './identity/certificate.ts';
import { findOwnNode, type LocalAddress } from './own-node.ts';
import type { Adapter, System } from './ports.ts';

/**
 * Asks the API server which Node this host is; rejects with NODE_NOT_FOUND when it is none. Whoever shows a certificate may
 * not look at all Nodes, but the certificate says for which one it is.
 */
export async function locateOwnNode(
  client: Pick<Client, 'listAll'>,
  system: Pick<System, 'adapters' | 'hostName'>,
  signal: AbortSignal,
  shown?: Pick<Identity, 'current'>,
): Promise<NodeView> {
  const [adapters, hostName] = await Promise.all([system.adapters(), system.hostName()]);
  const list = async (scope: Pick<ListOptions, 'labelSelector' | 'fieldSelector'>) => {
    const { items } = await client.listAll(nodes, { ...scope, signal });
    // Objects of a list do not say what they are.
    return items.map(item => readNode(readObject({ apiVersion: 'v1', kind: 'Node', ...item })));
  };
  const views = await list({ labelSelector: `${nodeLabel.os}=windows` }).catch(async (error: unknown) => {
    const name = isApiError(error, 'Forbidden') ? await certifiedName(shown, signal) : undefined;
    if (name === undefined) throw error;
    return list({ fieldSelector: `metadata.name=${name}` });
  });
  return findOwnNode(views, addressesOf(adapters), hostName);
}

/** The Node for which the certificate was issued that we show; undefined when we show none. */
async function certifiedName(
  shown: Pick<Identity, 'current'> | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { clientCertificate } = (await shown?.current(signal)) ?? {};
  const { commonName = '' } = clientCertificate === undefined ? {} : factsOf(clientCertificate.certificate);
  return commonName.startsWith(identity.agentUserPrefix)
    ? commonName.slice(identity.agentUserPrefix.length)
    : undefined;
}

/** Those of the way to everywhere first: that is the interface whose address the kubelet reports. */
export function addressesOf(adapters: readonly Adapter[]): LocalAddress[] {
  const rank = ({ defaultRouteMetric, isUp }: Adapter) => defaultRouteMetric ?? (isUp ? 1e9 : 1e10);
  return adapters
    .toSorted((one, other) => rank(one) - rank(other))
    .flatMap(({ addresses }) => addresses.map(cidr => ({ address: cidr.split('/')[0] ?? '', cidr })));
}
