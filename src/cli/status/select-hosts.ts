import { normalHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import type { HostView } from './view/host-view.ts';

/** The hosts with these names; all when there are none. A name is any of: instance, address, DNS name, Machine, Node. */
export function selectHosts(hosts: readonly HostView[], names: readonly string[]): HostView[] {
  if (names.length === 0) return [...hosts];
  const chosen = new Set(names.flatMap(name => matching(hosts, name)));
  return hosts.filter(host => chosen.has(host));
}

/** Fails for a name that no host has. */
export function selectKnownHosts(hosts: readonly HostView[], names: readonly string[]): HostView[] {
  const unknown = names.find(name => matching(hosts, name).length === 0);
  if (unknown !== undefined) throw unknownHost(unknown, hosts);
  return selectHosts(hosts, names);
}

/** By a full name, else by the first label of a DNS name. */
function matching(hosts: readonly HostView[], wanted: string): HostView[] {
  const name = normalHostName(wanted);
  const byName = hosts.filter(host => namesOf(host).includes(name));
  return byName.length > 0 ? byName : hosts.filter(host => namesOf(host).some(known => known.startsWith(`${name}.`)));
}

function namesOf({ name, aliases }: HostView): string[] {
  return [name, ...aliases].map(normalHostName);
}

function unknownHost(name: string, hosts: readonly HostView[]): AppError {
  const known = hosts.map(host => host.name).join(', ');
  return new AppError('HOST_UNKNOWN', `this cluster has no Windows host ${shown(name)}`, {
    remedy: known === '' ? 'Add it to the ConfigMap windows-instances.' : `Use one of: ${known.slice(0, 500)}.`,
  });
}
