import { normalHostName, sameHost } from '#base/dns-name.ts';

/** The recorded host of an instance, without what its Node reports about itself. */
export interface RecordedHost {
  /** Name of its Node; undefined before it joined. */
  node: string | undefined;
  /** spec.address: a name or an address. */
  address: string;
  /** Addresses that were read over the pinned connection. */
  addresses: readonly string[];
  /** A journey may have left something on it. */
  isTouched: boolean;
}

/** `remove`: the host is to be removed; `delete`: only the object, and the host stays unchanged. */
export type OrphanDecision = { do: 'delete' | 'keep' | 'remove'; why: string };

/** An entry of windows-instances. */
export interface ListedEntry {
  /** As written. */
  address: string;
  /** Resolved address; undefined for an entry that cannot be parsed or resolved. */
  ipv4: string | undefined;
  /** Node in the record of its instance. */
  node: string | undefined;
}

/** Failures are entries that cannot be parsed or resolved. */
export interface ListedEntries {
  entries: readonly ListedEntry[];
  failures: readonly ListedEntry[];
}

export const noEntries: ListedEntries = { entries: [], failures: [] };

/**
 * Decides about the WindowsInstance of a removed entry. If another entry is the same host, its own instance takes over. While it may be
 * an entry that cannot be parsed or resolved, or the host of `unidentified`, the instance is kept.
 */
export function decideOrphan(
  host: RecordedHost,
  { entries, failures }: ListedEntries,
  unidentified?: string,
): OrphanDecision {
  const why = 'its entry of windows-instances is gone';
  if (host.node !== undefined && entries.some(entry => isSameHost(host, entry))) {
    return { do: 'delete', why: 'another entry of windows-instances is the same host' };
  }
  if (!host.isTouched) return { do: 'delete', why };
  const candidate = host.node === undefined ? undefined : failures.find(entry => isSameHost(host, entry));
  if (candidate !== undefined) {
    return { do: 'keep', why: `it may be ${candidate.address}, whose entry could not be read or resolved` };
  }
  if (unidentified === undefined) return { do: 'remove', why };
  return { do: 'keep', why: `it may be the host of WindowsInstance ${unidentified}, which is not identified yet` };
}

/** By the records of both, else by the entry: its name, fully qualified or short, or an address. */
export function isSameHost({ node, address, addresses }: RecordedHost, entry: ListedEntry): boolean {
  if (node !== undefined && entry.node !== undefined) return node === entry.node;
  const isNamed = [node ?? '', address].some(name => sameHost(name, entry.address));
  const listed = [entry.address, entry.ipv4 ?? ''].map(normalHostName);
  return isNamed || addresses.some(each => each !== '' && listed.includes(each));
}
