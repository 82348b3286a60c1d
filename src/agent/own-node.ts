import { sameHost } from '#base/dns-name.ts';
import { AppError } from '#base/errors.ts';
import { parseIpv4 } from '#base/ipv4.ts';
import { nodeLabel } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';

/** An address of a network interface, in the form in which the runtime lists them. */
export interface LocalAddress {
  address: string;
  /** Address and length of the network; null for what is no IP network. */
  cidr: string | null;
}

type Candidate = Pick<NodeView, 'name' | 'labels' | 'addresses'>;

/**
 * The Node that this host is: one that reports an IPv4 address of ours. A Node labelled with another operating system is
 * never ours. Among several an InternalIP counts most, then the label of Windows, then the host name, then the order of
 * our addresses: give those of the default route first.
 */
export function findOwnNode<T extends Candidate>(
  nodes: readonly T[],
  localAddresses: readonly LocalAddress[],
  hostName = '',
): T {
  const own = localAddresses.flatMap(usableIpv4);
  let best: { node: T; score: number } | undefined;
  for (const address of own) {
    for (const node of nodes) {
      const score = scoreOf(node, address, hostName);
      if (score > (best?.score ?? 0)) best = { node, score };
    }
  }
  if (best !== undefined) return best.node;
  throw new AppError(
    'NODE_NOT_FOUND',
    `unable to find associated node: no Node reports an address of this host (${own.join(', ') || 'it has none'})`,
    { remedy: 'Wait until the kubelet has registered the Node, and see that it reports the address of this host.' },
  );
}

function usableIpv4({ address, cidr }: LocalAddress): string[] {
  const text = address.replace(/^::ffff:/i, '');
  const bits = parseIpv4(text);
  if (cidr === null || bits === undefined) return [];
  // Loopback and link-local addresses are the same on many hosts, so they tell nothing.
  const isLoopback = Math.floor(bits / 2 ** 24) === 127;
  const isLinkLocal = Math.floor(bits / 2 ** 16) === 169 * 256 + 254;
  return isLoopback || isLinkLocal ? [] : [text];
}

/** 0 for a Node that is not ours. */
function scoreOf(node: Candidate, address: string, hostName: string): number {
  const os = node.labels[nodeLabel.os];
  const matches = node.addresses.filter(item => item.address === address);
  if (matches.length === 0 || (os !== undefined && os !== 'windows')) return 0;
  const isInternal = matches.some(({ type }) => type === 'InternalIP');
  const names = [node.name, ...node.addresses.filter(({ type }) => type === 'Hostname').map(item => item.address)];
  const isNamed = names.some(name => sameHost(name, hostName));
  return 1 + (isInternal ? 4 : 0) + (os === 'windows' ? 2 : 0) + (isNamed ? 1 : 0);
}
