import { normalHostName } from '#base/dns-name.ts';

export interface HostKeyFacts {
  /** Data of the ConfigMap windows-ssh-host-keys. */
  entries: Readonly<Record<string, string>>;
  /** Addresses and names of instances, entries of windows-instances and Machines, in lower case. */
  needed: ReadonlySet<string>;
  /** A configured Windows Node is not recorded yet; which entry is its own cannot be known. */
  hasOrphans: boolean;
  /** Since when each entry has not been needed, as decided before. */
  unusedSince: ReadonlyMap<string, number>;
  /** Monotonic. */
  nowMs: number;
}

export interface HostKeyDecision {
  /** Addresses whose entries are removed. */
  remove: string[];
  unusedSince: ReadonlyMap<string, number>;
}

/** Administrators may store the key of a host before they list it. */
export const graceMs = 7 * 24 * 3_600_000;

/** An entry is removed when nothing has needed it for a week; a changed one has another week. */
export function decide({ entries, needed, hasOrphans, unusedSince, nowMs }: HostKeyFacts): HostKeyDecision {
  if (hasOrphans) return { remove: [], unusedSince: new Map() };
  const unused = Object.entries(entries).filter(([address]) => !needed.has(normalHostName(address)));
  const since = new Map(
    unused.map(([address, key]) => {
      const id = JSON.stringify([address, key]);
      return [id, unusedSince.get(id) ?? nowMs];
    }),
  );
  const isOver = ([address, key]: [string, string]) =>
    nowMs - (since.get(JSON.stringify([address, key])) ?? nowMs) >= graceMs;
  return { remove: unused.filter(isOver).map(([address]) => address), unusedSince: since };
}
