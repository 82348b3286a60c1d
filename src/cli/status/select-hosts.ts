import { namesNear } from '#base/closest.ts';
import { normalHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import type { ClusterView, HostView, ListName } from './view/host-view.ts';

/** The hosts with these names; all when there are none. A name is any of: instance, address, DNS name, Machine, Node. */
export function selectHosts(hosts: readonly HostView[], names: readonly string[]): HostView[] {
  if (names.length === 0) return [...hosts];
  const chosen = new Set(names.flatMap(name => matching(hosts, name)));
  return hosts.filter(host => chosen.has(host));
}

export interface Selection {
  hosts: HostView[];
  /** An error for each name that no host has. */
  unknown: AppError[];
}

/** Fails if no host has any of the names. */
export function selectKnownHosts(
  hosts: readonly HostView[],
  names: readonly string[],
  { unread }: Pick<ClusterView, 'unread'>,
): Selection {
  const found = selectHosts(hosts, names);
  const unknown = names
    .filter(name => matching(hosts, name).length === 0)
    .map(name => unknownHost(name, hosts, unread));
  const [first] = unknown;
  if (first !== undefined && found.length === 0) throw first;
  return { hosts: found, unknown };
}

/** The host with this name. Fails if it is not exactly one. */
export function selectHost(all: readonly HostView[], name: string, view: Pick<ClusterView, 'unread'>): HostView {
  const { hosts } = selectKnownHosts(all, [name], view);
  // Two entries of one host differ in their spelling only.
  const exact = hosts.filter(({ source }) => source.name === name);
  const [host, ...others] = exact.length === 1 ? exact : hosts;
  if (host !== undefined && others.length === 0) return host;
  const names = hosts.map(each => each.name).join(', ');
  throw new AppError('HOST_AMBIGUOUS', `${shown(name)} is a name of ${hosts.length} hosts: ${names.slice(0, 500)}`, {
    remedy: 'Use the name of one of them, as `wmco status` prints it.',
  });
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

function unknownHost(name: string, hosts: readonly HostView[], unread: readonly ListName[]): AppError {
  const known = namesNear(
    name,
    hosts.map(host => host.name),
  );
  const unreadNodes = unread.includes('nodes') ? ', as far as it can be read: Nodes cannot' : '';
  return new AppError('HOST_UNKNOWN', `this cluster has no Windows host ${shown(name)}${unreadNodes}`, {
    remedy: known === '' ? 'Add it to the ConfigMap windows-instances.' : `Use one of: ${known}.`,
  });
}
