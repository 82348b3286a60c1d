import { AppError } from '#base/errors.ts';
import { parseIpv4, parseIpv4Cidr } from '#base/ipv4.ts';
import type { Adapter } from '../ports.ts';

/** The IPv4 address of the adapter with the best default route. */
export function nodeIp(adapters: readonly Adapter[]): string {
  return bestAdapter(adapters).address;
}

/** The adapter with the best default route, and its IPv4 address. */
export function bestAdapter(adapters: readonly Adapter[]): { adapter: Adapter; address: string } {
  const [best] = adapters
    .filter(adapter => adapter.isUp && adapter.defaultRouteMetric !== undefined)
    .flatMap(adapter => {
      const address = adapter.addresses.map(withoutLength).find(isUsable);
      return address === undefined ? [] : [{ adapter, address }];
    })
    .toSorted((one, other) => byMetric(one.adapter, other.adapter));
  if (best !== undefined) return best;
  const seen = adapters.map(({ name, isUp }) => `${name} (${isUp ? 'up' : 'down'})`).join(', ') || 'none';
  throw new AppError('HOST_VALUE_UNKNOWN', `no adapter has an IPv4 address and a default route; adapters: ${seen}`, {
    remedy: 'Configure an IPv4 address and a default gateway on the host, with DHCP or manually.',
  });
}

function byMetric(one: Adapter, other: Adapter): number {
  return (one.defaultRouteMetric ?? 0) - (other.defaultRouteMetric ?? 0) || one.index - other.index;
}

export function withoutLength(address: string): string {
  return address.split('/', 1)[0] ?? '';
}

/** Not link-local, loopback or 0.0.0.0. */
function isUsable(address: string): boolean {
  const bits = parseIpv4(address);
  return bits !== undefined && bits !== 0 && !['169.254.0.0/16', '127.0.0.0/8'].some(range => isIn(bits, range));
}

function isIn(bits: number, range: string): boolean {
  const network = parseIpv4Cidr(range);
  return network !== undefined && bits >= network.base && bits < network.base + network.size;
}
