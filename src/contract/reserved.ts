import { normalHostName } from '#base/dns-name.ts';
import { isIp, isIpv6, parseIpv4, parseIpv4Cidr } from '#base/ipv4.ts';

/** Names and addresses of the cluster itself, which no host and no node certificate may have. */
export interface Reserved {
  /** Service and pod networks, as CIDR. */
  networks: readonly string[];
  /** API and ingress addresses. */
  addresses: readonly string[];
  /** Host names of the API servers. */
  names: readonly string[];
  /** Domains whose names are all reserved, such as that of the ingress. */
  domains: readonly string[];
}

export const noReservations: Reserved = { networks: [], addresses: [], names: [], domains: [] };

/** Why a name or address is reserved; undefined when it is not. */
export function reservedProblem(text: string, reserved: Reserved): string | undefined {
  return isIp(text) ? addressProblem(text, reserved) : nameProblem(normalHostName(text), reserved);
}

function addressProblem(address: string, { networks, addresses }: Reserved): string | undefined {
  if (addresses.includes(address)) return 'is an address of the cluster';
  const bits = parseIpv4(address);
  if (bits === undefined) return isIpv6(address) && /^(::1?|fe80:.*|ff.*)$/i.test(address) ? notOfAHost : undefined;
  if (special.some(network => contains(network, bits))) return notOfAHost;
  const network = networks.find(each => contains(each, bits));
  return network === undefined ? undefined : `is in the network ${network} of the cluster`;
}

const notOfAHost = 'cannot be the address of a host';
const special = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3'];

function contains(cidr: string, bits: number): boolean {
  const network = parseIpv4Cidr(cidr);
  return network !== undefined && bits >= network.base && bits < network.base + network.size;
}

/** Services in the namespace `default`; OpenShift has both. */
const apiServerNames = ['kubernetes', 'openshift'];
const ownDomains = ['svc', 'cluster.local', 'localhost'];

function nameProblem(name: string, { names, domains }: Reserved): string | undefined {
  if (name.includes('*')) return 'is a wildcard';
  if (apiServerNames.some(each => name === each || name.startsWith(`${each}.`))) return 'is a name of the API server';
  // Many programs parse `10.1` and `0x7f000001` as addresses.
  if (/^(\d+|0x[0-9a-f]*)$/.test(name.split('.').at(-1) ?? '')) return 'can be parsed as an address';
  if (names.some(each => normalHostName(each) === name)) return 'is a name of the API server';
  const isBelow = (domain: string) => name === domain || name.endsWith(`.${domain}`);
  // `x.svc.cluster.local` and `x.svc` are names of services in any cluster domain.
  if (name.split('.').slice(1).includes('svc') || ownDomains.some(isBelow)) return 'is a name of a service';
  const domain = domains.map(normalHostName).find(isBelow);
  return domain === undefined ? undefined : `is below the domain ${domain} of the cluster`;
}
