import { AppError, shown } from '#base/errors.ts';
import { parseIpv4 } from '#base/ipv4.ts';
import type { HostPorts, Route } from '../ports.ts';
import { bestAdapter } from './node-ip.ts';

type Ports = Pick<HostPorts, 'routes' | 'system'>;

/**
 * Sends packets for one address to the default gateway. The network of the hybrid overlay takes over the adapter, and a reboot drops
 * the route, so that it is checked in every pass. Routes to the address over an earlier gateway or adapter are removed.
 */
export async function ensureHostRoute(address: string, { routes, system }: Ports): Promise<void> {
  if (parseIpv4(address) === undefined) throw wrongAddress(address);
  const known = await routes.list();
  const { index } = bestAdapter(await system.adapters()).adapter;
  const wanted = { destination: `${address}/32`, gateway: gatewayOf(index, known), interfaceIndex: index, metric: 0 };
  const present = known.filter(({ destination }) => destination === wanted.destination);
  const isWanted = ({ gateway, interfaceIndex }: Route) => gateway === wanted.gateway && interfaceIndex === index;
  // Before the others are removed: the address must be reachable all the time.
  if (!present.some(isWanted)) await routes.add(wanted);
  for (const route of present) if (!isWanted(route)) await routes.remove(route);
}

function gatewayOf(index: number, routes: readonly Route[]): string {
  const [best] = routes
    .filter(({ destination, interfaceIndex }) => destination === '0.0.0.0/0' && interfaceIndex === index)
    .toSorted((one, other) => one.metric - other.metric);
  if (best !== undefined) return best.gateway;
  throw new AppError('HOST_VALUE_UNKNOWN', `the adapter ${index} has no default gateway`, {
    remedy: 'Configure a default gateway on the host, with DHCP or manually.',
  });
}

function wrongAddress(address: string): AppError {
  return new AppError('SERVICES_MALFORMED', `preparation host-route: ${shown(address)} is not an IPv4 address`, {
    remedy: 'Delete the services ConfigMap; the operator creates it again.',
  });
}
