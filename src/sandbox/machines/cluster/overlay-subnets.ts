import type { Log } from '#base/log.ts';
import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { type Node, nodes } from '#kube/resources.ts';
import { createController } from '../../apiserver/controllers/worker.ts';
import type { Controller, LocalApi, StoredObject } from '../../apiserver/ports.ts';
import type { Waits } from './waits.ts';

export interface SubnetOptions {
  waits: Waits;
  subnetMs: number;
  /** Whether the host gets a subnet. */
  isServed: (address: string) => boolean;
  log?: Log;
}

/** How soon a host is served whose fault has ended. */
const recheckMs = 1000;

/** Acts as OVN-Kubernetes: annotates Windows Nodes with a hybrid overlay subnet and gateway MAC. */
export function createOverlaySubnets({ waits, subnetMs, isServed, log }: SubnetOptions): Controller {
  return createController(
    {
      name: 'overlay-subnets',
      resource: nodes,
      reconcile: (key, api) => {
        const node: (StoredObject & Node) | undefined = api.get(nodes, key);
        if (node === undefined) waits.forget(key.name);
        if (node === undefined || !lacksSubnet(node)) return undefined;
        if (!isServed(addressOf(node))) return recheckMs;
        const leftMs = waits.left(key.name, subnetMs);
        if (leftMs > 0) return leftMs;
        annotate(node, api);
        return undefined;
      },
    },
    log,
  );
}

function lacksSubnet({ metadata }: Node): boolean {
  const isWindows = metadata.labels?.[nodeLabel.os] === 'windows';
  return isWindows && metadata.annotations?.[nodeAnnotation.hybridOverlaySubnet] === undefined;
}

function addressOf({ status }: Node): string {
  return status?.addresses?.find(({ type }) => type === 'InternalIP')?.address ?? '';
}

function annotate(node: StoredObject & Node, api: LocalApi): void {
  const taken = new Set(api.list(nodes).map(each => each.metadata.annotations?.[nodeAnnotation.hybridOverlaySubnet]));
  const subnets = Array.from({ length: 1024 }, (_, index) => `10.${132 + (index >> 8)}.${index & 255}.0/24`);
  const subnet = subnets.find(each => !taken.has(each));
  if (subnet === undefined) return;
  const octets = subnet.split('.').map(octet => Number.parseInt(octet, 10).toString(16).padStart(2, '0'));
  const annotations = {
    ...node.metadata.annotations,
    [nodeAnnotation.hybridOverlaySubnet]: subnet,
    [nodeAnnotation.hybridOverlayGatewayMac]: `0a:58:${octets.slice(0, 3).join(':')}:03`,
  };
  api.replace(nodes, { ...node, metadata: { ...node.metadata, annotations } });
}
