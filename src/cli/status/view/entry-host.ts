import { normalHostName } from '#base/dns-name.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { type EntryResult, parseEntries } from '#contract/instances.ts';
import { configMapName } from '#contract/names.ts';
import { type ClusterView, duplicatePhase, emptyHost, type HostView } from './host-view.ts';
import { hasInstance } from './lookups.ts';

/** Entries of windows-instances without an instance: invalid, or not yet seen by the operator. */
export function hostsOfEntries({ entries, instances }: Pick<ClusterView, 'entries' | 'instances'>): HostView[] {
  return parseEntries(entries).flatMap(entry => hostOfEntry(entry, instances));
}

function hostOfEntry(entry: EntryResult, instances: readonly WindowsInstance[]): HostView[] {
  const { address } = entry;
  const isDuplicate = !entry.ok && entry.error.code === 'INSTANCE_DUPLICATE';
  // The conditions of an instance report problems of its entry, except a second entry of the same host.
  if (hasInstance(instances, 'ConfigMap', address) && !isDuplicate) return [];
  // As written: in lower case it would be the name of the other entry.
  const name = isDuplicate ? address : normalHostName(address);
  const base = { ...emptyHost, name, address, source: { kind: 'ConfigMap', name: address } as const };
  if (entry.ok) {
    const note = `listed in ${configMapName.instances}; waiting for the operator`;
    return [{ ...base, phase: 'Pending', tone: 'busy', note }];
  }
  const { code, message, remedy } = entry.error;
  return [
    { ...base, phase: isDuplicate ? duplicatePhase : 'Rejected', tone: 'bad', problem: { code, message, remedy } },
  ];
}
