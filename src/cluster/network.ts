import { AppError, shown } from '#base/errors.ts';
import type { Fields } from '#base/fields.ts';
import { isIpv6, parseIpv4, parseIpv4Cidr, printIpv4 } from '#base/ipv4.ts';
import type { KubeObject } from '#contract/object.ts';
import type { Network } from './facts.ts';

const supportedType = 'OVNKubernetes';
const dnsOffset = 10;
const configureOverlay =
  'Set spec.defaultNetwork.ovnKubernetesConfig.hybridOverlayConfig.hybridClusterNetwork of networks.operator.openshift.io cluster.';

/** Reads the network from `networks.config.openshift.io` and `networks.operator.openshift.io`, both named cluster. */
export function readNetwork(config: KubeObject, operator: KubeObject | undefined): Network {
  readNetworkType(config);
  const serviceCidr = readServiceCidr(config);
  return { serviceCidr, clusterDns: clusterDns(serviceCidr), vxlanPort: operator ? vxlanPort(operator) : '' };
}

/** The network type, which must be one that can carry Windows nodes. */
export function readNetworkType(config: KubeObject): string {
  const type = config.fields.object('spec').string('networkType') ?? '';
  if (type === supportedType) return type;
  throw new AppError('NETWORK_TYPE_UNSUPPORTED', `${config.label}: ${type || '(none)'} : network type not supported`, {
    remedy: `Windows nodes need the network type ${supportedType}; migrate the cluster network to it.`,
  });
}

/** The first service network. The others of a dual-stack cluster are not used on Windows. */
export function readServiceCidr(config: KubeObject): string {
  const [first = ''] = config.fields.object('spec').strings('serviceNetwork');
  const whyNot = unusable(first);
  if (whyNot !== undefined) throw invalidServiceCidr(`${config.label}: spec.serviceNetwork`, first, whyNot);
  return first;
}

/** The address at which the cluster's DNS service answers. */
export function clusterDns(serviceCidr: string): string {
  const network = parseIpv4Cidr(serviceCidr);
  const whyNot = unusable(serviceCidr);
  if (network === undefined || whyNot !== undefined) throw invalidServiceCidr('service network', serviceCidr, whyNot);
  return printIpv4(network.base + dnsOffset);
}

/** Refuses a cluster in which OVN-Kubernetes gives Windows nodes no overlay. */
export function checkHybridOverlay(operator: KubeObject): void {
  const overlay = hybridOverlay(operator);
  if (overlay === undefined) {
    throw new AppError(
      'NETWORK_HYBRID_OVERLAY_MISSING',
      `${operator.label}: cluster is not configured for OVN hybrid networking`,
      { remedy: configureOverlay },
    );
  }
  if (overlay.objects('hybridClusterNetwork').length === 0) throw invalidOverlay(operator);
}

/** Decimal port of the overlay, or empty when the cluster uses the default. */
export function vxlanPort(operator: KubeObject): string {
  const port = hybridOverlay(operator)?.number('hybridOverlayVXLANPort');
  if (port === undefined) return '';
  if (Number.isInteger(port) && port > 0 && port < 65_536) return String(port);
  throw invalidOverlay(operator, `: hybridOverlayVXLANPort is ${port}`);
}

/** All pod networks of the cluster, those of Linux and of Windows nodes; Windows cannot use addresses of class E. */
export function readPodNetworks(config: KubeObject, operator: KubeObject): string[] {
  const entries = [
    ...config.fields.object('spec').objects('clusterNetwork'),
    ...(hybridOverlay(operator)?.objects('hybridClusterNetwork') ?? []),
  ];
  return entries.map(readPodNetwork);
}

function readPodNetwork(entry: Fields): string {
  const cidr = entry.requiredString('cidr');
  if (isClassE(cidr)) {
    throw new AppError('NETWORK_CLASS_E', `${entry.label}: cluster network ${cidr} reaches into 240.0.0.0/4`, {
      remedy: 'Windows drops packets of 240.0.0.0/4: choose another cluster network before adding Windows nodes.',
    });
  }
  if (parseIpv4Cidr(cidr) !== undefined || isIpv6Cidr(cidr)) return cidr;
  throw new AppError('FIELD_INVALID', `${entry.label}: ${entry.path}.cidr is ${shown(cidr)}, not a CIDR`, {
    remedy: `Set ${entry.path}.cidr to a network such as 10.128.0.0/14.`,
  });
}

function isClassE(cidr: string): boolean {
  const network = parseIpv4Cidr(cidr);
  return network !== undefined && network.base + network.size > (parseIpv4('240.0.0.0') ?? 0);
}

/** Networks of the second family of a dual-stack cluster are none of our business, but they are networks. */
function isIpv6Cidr(cidr: string): boolean {
  const [address = '', length = ''] = cidr.split('/', 2);
  return isIpv6(address) && /^\d{1,3}$/.test(length);
}

/** The settings of the overlay; undefined when any level above them is absent. An empty object is present. */
function hybridOverlay(operator: KubeObject): Fields | undefined {
  const ovn = operator.fields.object('spec').object('defaultNetwork').object('ovnKubernetesConfig');
  return ovn.raw('hybridOverlayConfig') === undefined ? undefined : ovn.object('hybridOverlayConfig');
}

function invalidOverlay(operator: KubeObject, detail = ''): AppError {
  const what = `${operator.label}: invalid OVN hybrid networking configuration${detail}`;
  return new AppError('NETWORK_HYBRID_OVERLAY_INVALID', what, { remedy: configureOverlay });
}

function unusable(cidr: string): string | undefined {
  const network = parseIpv4Cidr(cidr);
  if (network !== undefined) return network.size > dnsOffset ? undefined : 'has no tenth address for the DNS service';
  if (cidr === '') return 'is missing';
  return isIpv6Cidr(cidr) ? 'is IPv6, and Windows nodes need IPv4 first' : 'is no CIDR';
}

function invalidServiceCidr(subject: string, cidr: string, whyNot = 'is no CIDR'): AppError {
  return new AppError('NETWORK_SERVICE_CIDR_INVALID', `${subject}: ${shown(cidr)} ${whyNot}`, {
    remedy: 'The first entry of spec.serviceNetwork must be an IPv4 network of at least 16 addresses.',
  });
}
