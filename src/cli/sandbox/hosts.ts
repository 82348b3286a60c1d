import { type ClusterView, type HostView, hostViews, sortHosts } from '../status/view/host-view.ts';
import type { SimulatedMachine } from './running.ts';

/** Hosts under their sandbox names, which --faults uses, too. */
export function sandboxHosts(view: ClusterView, machines: readonly SimulatedMachine[]): HostView[] {
  const names = new Map(
    machines.flatMap(({ name, address, dnsName }) => [
      [address, name] as const,
      ...(dnsName === undefined ? [] : [[dnsName, name] as const]),
    ]),
  );
  return sortHosts(hostViews(view).map(host => ({ ...host, name: names.get(host.address) ?? host.name })));
}
