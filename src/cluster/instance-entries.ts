import { normalHostName } from '#base/dns-name.ts';
import { type EntryResult, parseEntries } from '#contract/instances.ts';
import type { ConfigMap } from '#kube/resources.ts';

type ByHost = ReadonlyMap<string, readonly EntryResult[]>;

/** The entries of windows-instances by host. Each version of the ConfigMap is parsed once, not once for each host. */
export class InstanceEntries {
  readonly #parsed = new WeakMap<ConfigMap, ByHost>();

  /** The entries of a host, in lower case: several when its name is listed in several spellings. */
  of(host: string, map: ConfigMap | undefined): readonly EntryResult[] {
    if (map === undefined) return [];
    const parsed = this.#parsed.get(map) ?? parse(map);
    this.#parsed.set(map, parsed);
    return parsed.get(host) ?? [];
  }
}

function parse({ data = {} }: ConfigMap): ByHost {
  return Map.groupBy(parseEntries(data), ({ address }) => normalHostName(address));
}

/** All hosts that are listed. */
export function listedHosts({ data = {} }: ConfigMap): string[] {
  return [...new Set(Object.keys(data).map(normalHostName))];
}

/** Hosts whose entries differ between two versions. */
export function changedHosts({ data: old = {} }: ConfigMap, { data: now = {} }: ConfigMap): string[] {
  const addresses = [...new Set([...Object.keys(old), ...Object.keys(now)])];
  return [...new Set(addresses.filter(address => old[address] !== now[address]).map(normalHostName))];
}
