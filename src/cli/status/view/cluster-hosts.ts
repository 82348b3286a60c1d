import { hostsOfEntries } from './entry-host.ts';
import type { ClusterView, HostView } from './host-view.ts';
import { hostOfInstance } from './instance-host.ts';
import { withAdvice } from './advice.ts';
import { hostsOfMachines } from './machine-host.ts';
import { hostsOfNodes } from './node-host.ts';
import { withWorkerRole } from './worker-role.ts';

const order = new Intl.Collator('en', { numeric: true });

/** Every host once: WindowsInstances, entries and Machines without one, and Windows Nodes that none of them describes. */
export function hostViews(view: ClusterView): HostView[] {
  const described = [
    ...view.instances.map(instance => hostOfInstance(instance, view)),
    ...hostsOfEntries(view),
    ...hostsOfMachines(view),
  ];
  const hosts = [...described, ...hostsOfNodes(view, described)];
  return sortHosts(hosts.map(host => withWorkerRole(withAdvice(host), view)));
}

export function sortHosts(hosts: readonly HostView[]): HostView[] {
  return hosts.toSorted((a, b) => order.compare(a.name, b.name));
}
