import { Fields, isRecord } from '#base/fields.ts';
import { isIp } from '#base/ipv4.ts';
import type { KubeObject } from '#contract/object.ts';
import type { Reserved } from '#contract/reserved.ts';

/** What of names and addresses is the cluster's own, from `networks.config`, `networks.operator` and `infrastructures`. */
export function openshiftReserved(
  config: KubeObject,
  operator: KubeObject | undefined,
  infrastructure: KubeObject,
): Reserved {
  const spec = config.fields.object('spec');
  const overlay = operator?.fields
    .object('spec')
    .object('defaultNetwork')
    .object('ovnKubernetesConfig')
    .object('hybridOverlayConfig');
  const pods = [...spec.objects('clusterNetwork'), ...(overlay?.objects('hybridClusterNetwork') ?? [])];
  const status = infrastructure.fields.object('status');
  const urls = ['apiServerURL', 'apiServerInternalURI'].map(name => status.string(name) ?? '');
  const hosts = urls.flatMap(hostOf);
  return {
    networks: [...spec.strings('serviceNetwork'), ...pods.map(entry => entry.string('cidr') ?? '')],
    addresses: [...hosts.filter(isIp), ...addressesIn(status.raw('platformStatus'))],
    names: hosts.filter(host => !isIp(host)),
    // The installer calls the API server api.DOMAIN and the ingress *.apps.DOMAIN.
    domains: hosts.filter(host => host.startsWith('api.')).map(host => `apps.${host.slice('api.'.length)}`),
  };
}

/** In a cluster that its administrator has described. */
export function kubernetesReserved(apiServerUrl: string, serviceCidr: string): Reserved {
  const hosts = hostOf(apiServerUrl);
  return {
    networks: [serviceCidr],
    addresses: hosts.filter(isIp),
    names: hosts.filter(host => !isIp(host)),
    domains: [],
  };
}

function hostOf(url: string): string[] {
  return URL.canParse(url) ? [new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')] : [];
}

const members = ['apiServerInternalIP', 'apiServerInternalIPs', 'ingressIP', 'ingressIPs'];

/** Each platform has a member of its own, with the same members below it. */
function addressesIn(platformStatus: unknown): string[] {
  const platforms = isRecord(platformStatus) ? Object.values(platformStatus).filter(isRecord) : [];
  return platforms.flatMap(platform => {
    const fields = new Fields(platform, 'platformStatus');
    return members
      .flatMap(name => [fields.raw(name) ?? []].flat())
      .filter(text => typeof text === 'string' && isIp(text));
  }) as string[];
}
