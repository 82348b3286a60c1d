import { normalHostName } from '#base/dns-name.ts';
import { isIp } from '#base/ipv4.ts';

export interface HostsFile {
  addressesOf(name: string): readonly string[];
}

/** Invalid lines are skipped, as in other resolvers. */
export function parseHostsFile(text: string): HostsFile {
  const addresses = new Map<string, string[]>();
  for (const line of text.slice(0, maxCharacters).split('\n')) {
    const [address = '', ...hosts] = line.replace(/#.*/, '').trim().split(/\s+/);
    if (!isIp(address)) continue;
    for (const host of hosts) add(addresses, normalHostName(host), address);
  }
  return { addressesOf: name => addresses.get(normalHostName(name)) ?? [] };
}

const maxCharacters = 1_000_000;

function add(map: Map<string, string[]>, key: string, value: string): void {
  const known = map.get(key) ?? [];
  if (!known.includes(value)) map.set(key, [...known, value]);
}
