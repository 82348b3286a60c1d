import { Fields, isRecord } from '#base/fields.ts';
import { isIp } from '#base/ipv4.ts';
import type { KubeObject } from '#contract/object.ts';
import type { Reserved } from '#contract/reserved.ts';
import { podNetworks } from './network.ts';

/** Names and addresses of the cluster itself, from `networks.config`, `networks.operator` and `infrastructures`. */
export function openshiftReserved(
  config: KubeObject,
  operator: KubeObject | undefined,
  infrastructure: KubeObject,
): Reserved {
  const spec = config.fields.object('spec');
  const status = infrastructure.fields.object('status');
  const urls = ['apiServerURL', 'apiServerInternalURI'].map(name => status.string(name) ?? '');
  const hosts = urls.flatMap(hostOf);
  return {
    networks: [
      ...spec.strings('serviceNetwork'),
      ...podNetworks(config, operator).map(entry => entry.string('cidr') ?? ''),
    ],
    addresses: [...hosts.filter(isIp), ...addressesIn(status.raw('platformStatus'))],
    names: hosts.filter(host => !isIp(host)),
    // The installer names the API server api.DOMAIN and the ingress *.apps.DOMAIN.
    domains: hosts.filter(host => host.startsWith('api.')).map(host => `apps.${host.slice('api.'.length)}`),
  };
}

/** The URL may be that of a load balancer, so the addresses of the API servers are reserved, too. */
export function kubernetesReserved(
  apiServerUrl: string,
  serviceCidr: string,
  apiServers: readonly string[] = [],
): Reserved {
  const hosts = hostOf(apiServerUrl);
  return {
    networks: [serviceCidr],
    addresses: [...new Set([...hosts.filter(isIp), ...apiServers])],
    names: hosts.filter(host => !isIp(host)),
    domains: [],
  };
}

function hostOf(url: string): string[] {
  return URL.canParse(url) ? [new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')] : [];
}

const members = ['apiServerInternalIP', 'apiServerInternalIPs', 'ingressIP', 'ingressIPs'];

/** Every platform has its own member, with the same members below it. */
function addressesIn(platformStatus: unknown): string[] {
  const platforms = isRecord(platformStatus) ? Object.values(platformStatus).filter(isRecord) : [];
  return platforms.flatMap(platform => {
    const fields = new Fields(platform, 'platformStatus');
    return members
      .flatMap(name => [fields.raw(name) ?? []].flat())
      .filter(text => typeof text === 'string' && isIp(text));
  }) as string[];
}
