import { type ClusterView, type HostView, hostViews, inOrder } from '../status/view/host-view.ts';
import type { SimulatedMachine } from './running.ts';

/** The hosts of the cluster under the names they have in the sandbox, by which faults are given to them. */
export function sandboxHosts(view: ClusterView, machines: readonly SimulatedMachine[]): HostView[] {
  const names = new Map(
    machines.flatMap(({ name, address, dnsName }) => [
      [address, name] as const,
      ...(dnsName === undefined ? [] : [[dnsName, name] as const]),
    ]),
  );
  return inOrder(hostViews(view).map(host => ({ ...host, name: names.get(host.address) ?? host.name })));
}
