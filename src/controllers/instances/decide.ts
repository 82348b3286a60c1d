import { normalHostName, sameHost } from '#base/dns-name.ts';

/** What is recorded of the host of an instance. What its Node reports about itself is no part of it. */
export interface RecordedHost {
  /** Name of the Node that the host is; undefined while it has not joined. */
  node: string | undefined;
  /** How the instance calls its host: by name or address. */
  address: string;
  /** Addresses that were read over the pinned connection. */
  addresses: readonly string[];
}

/** An entry of windows-instances as far as it is known. */
export interface ListedEntry {
  /** As written. */
  address: string;
  /** What it resolves to; undefined for an entry that cannot be read or resolved. */
  ipv4: string | undefined;
  /** Name of the Node in the record of the instance that was made for it; undefined without one. */
  node: string | undefined;
}

/** What became of the entries of windows-instances; failures are entries that did not parse or resolve. */
export interface ListedEntries {
  entries: readonly ListedEntry[];
  failures: readonly ListedEntry[];
}

export const noEntries: ListedEntries = { entries: [], failures: [] };

/**
 * What becomes of the WindowsInstance of an entry that is no longer there. If another entry is the same host, that one takes it
 * over. While it may be one that could not be read or resolved, nothing is deleted.
 */
export function decideOrphan(
  host: RecordedHost,
  { entries, failures }: ListedEntries,
): { do: 'delete' | 'keep'; why: string } {
  if (host.node !== undefined && entries.some(entry => isSameHost(host, entry))) {
    return { do: 'delete', why: 'another entry of windows-instances is the same host' };
  }
  const doubtful = host.node === undefined ? undefined : failures.find(entry => isSameHost(host, entry));
  return doubtful === undefined
    ? { do: 'delete', why: 'its entry of windows-instances is gone' }
    : { do: 'keep', why: `it may be ${doubtful.address}, whose entry could not be read or resolved` };
}

/** By the record of both where there is one, else by what the entry says: the name in full or in short, or an address. */
export function isSameHost({ node, address, addresses }: RecordedHost, entry: ListedEntry): boolean {
  if (node !== undefined && entry.node !== undefined) return node === entry.node;
  const isNamed = [node ?? '', address].some(name => sameHost(name, entry.address));
  const listed = [entry.address, entry.ipv4 ?? ''].map(normalHostName);
  return isNamed || addresses.some(each => each !== '' && listed.includes(each));
}
