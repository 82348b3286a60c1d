import { normalHostName } from '#base/dns-name.ts';
import { AppError } from '#base/errors.ts';
import { isIpv6 } from '#base/ipv4.ts';
import { nodeLabel, removedTaint } from './names.ts';
import type { KubeObject } from './object.ts';

export interface NodeAddress {
  type: string;
  address: string;
}

export interface NodeView {
  name: string;
  uid: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  addresses: NodeAddress[];
  ready: boolean;
  /** The kubelet has sent no heartbeat for a while, so that nothing is known: the host may be rebooting. */
  isSilent?: boolean;
  /** What the Node says about being ready or not. */
  readyMessage?: string;
  unschedulable: boolean;
  /** What its kubelet says; evidence about this Node alone. */
  kubeletVersion?: string;
  /** The operator has tainted it: its host was removed by force and has registered again. */
  isRemoved?: boolean;
}

export function readNode(object: KubeObject): NodeView {
  const [spec, status] = [object.fields.object('spec'), object.fields.object('status')];
  const kubeletVersion = status.object('nodeInfo').string('kubeletVersion') ?? '';
  const ready = status.objects('conditions').find(item => item.string('type') === 'Ready');
  return {
    name: object.meta.name,
    uid: object.meta.uid,
    labels: object.meta.labels,
    annotations: object.meta.annotations,
    addresses: status.objects('addresses').map(item => ({
      type: item.string('type') ?? '',
      address: item.string('address') ?? '',
    })),
    ready: ready?.string('status') === 'True',
    ...(ready?.string('status') === 'Unknown' && { isSilent: true }),
    readyMessage: ready?.string('message') ?? '',
    unschedulable: spec.boolean('unschedulable') ?? false,
    ...(kubeletVersion !== '' && { kubeletVersion }),
    ...(spec.objects('taints').some(taint => taint.string('key') === removedTaint.key) && { isRemoved: true }),
  };
}

export function isWindowsNode(node: Pick<NodeView, 'labels'>): boolean {
  return node.labels[nodeLabel.os] === 'windows';
}

/** The address over which the operator reaches a Node: the first internal one that is not IPv6. */
export function usableAddress(addresses: readonly NodeAddress[], node = 'node'): string {
  const internal = addresses.filter(({ type }) => type === 'InternalIP' || type === 'InternalDNS');
  const usable = internal.find(({ address }) => address !== '' && !isIpv6(address));
  if (usable !== undefined) return usable.address;
  throw new AppError('NODE_ADDRESS_MISSING', `${node}: no usable address`, {
    remedy: 'Configure the kubelet to report an InternalIP (IPv4) or InternalDNS address.',
  });
}

/** The Node with this address of any type; names are compared without case. */
export function findNodeByAddress<T extends Pick<NodeView, 'addresses'>>(
  address: string,
  nodes: readonly T[],
): T | undefined {
  const wanted = normalHostName(address);
  if (wanted === '') return undefined;
  return nodes.find(node => node.addresses.some(item => normalHostName(item.address) === wanted));
}
