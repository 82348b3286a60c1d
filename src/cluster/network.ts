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

/** Fails for a network type that does not support Windows nodes. */
export function readNetworkType(config: KubeObject): string {
  const type = config.fields.object('spec').string('networkType') ?? '';
  if (type === supportedType) return type;
  throw new AppError('NETWORK_TYPE_UNSUPPORTED', `${config.label}: ${type || '(none)'} : network type not supported`, {
    remedy: `Windows nodes need the network type ${supportedType}; migrate the cluster network to it.`,
  });
}

/** The first service network; Windows does not use the second one of a dual-stack cluster. */
export function readServiceCidr(config: KubeObject): string {
  const [first = ''] = config.fields.object('spec').strings('serviceNetwork');
  const problem = cidrProblem(first);
  if (problem !== undefined) throw invalidServiceCidr(`${config.label}: spec.serviceNetwork`, first, problem);
  return first;
}

/** Address of the cluster's DNS service. */
export function clusterDns(serviceCidr: string): string {
  const network = parseIpv4Cidr(serviceCidr);
  const problem = cidrProblem(serviceCidr);
  if (network === undefined || problem !== undefined) throw invalidServiceCidr('service network', serviceCidr, problem);
  return printIpv4(network.base + dnsOffset);
}

/** Fails when OVN-Kubernetes has no hybrid overlay for Windows nodes. */
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

/** Pod networks of Linux and Windows nodes. Fails for class E addresses, which Windows cannot use. */
export function readPodNetworks(config: KubeObject, operator: KubeObject): string[] {
  return podNetworks(config, operator).map(readPodNetwork);
}

/** Entries of the pod networks, those of the hybrid overlay last. */
export function podNetworks(config: KubeObject, operator: KubeObject | undefined): Fields[] {
  const overlay = operator && hybridOverlay(operator);
  return [
    ...config.fields.object('spec').objects('clusterNetwork'),
    ...(overlay?.objects('hybridClusterNetwork') ?? []),
  ];
}

function readPodNetwork(entry: Fields): string {
  const cidr = entry.requiredString('cidr');
  if (isClassE(cidr)) {
    throw new AppError('NETWORK_CLASS_E', `${entry.label}: cluster network ${cidr} overlaps 240.0.0.0/4`, {
      remedy: 'Choose another cluster network before adding Windows nodes: Windows drops packets of 240.0.0.0/4.',
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

function isIpv6Cidr(cidr: string): boolean {
  const [address = '', length = ''] = cidr.split('/', 2);
  return isIpv6(address) && /^\d{1,3}$/.test(length);
}

/** Undefined when hybridOverlayConfig is missing; an empty object counts as present. */
function hybridOverlay(operator: KubeObject): Fields | undefined {
  const ovn = operator.fields.object('spec').object('defaultNetwork').object('ovnKubernetesConfig');
  return ovn.raw('hybridOverlayConfig') === undefined ? undefined : ovn.object('hybridOverlayConfig');
}

function invalidOverlay(operator: KubeObject, detail = ''): AppError {
  const what = `${operator.label}: invalid OVN hybrid networking configuration${detail}`;
  return new AppError('NETWORK_HYBRID_OVERLAY_INVALID', what, { remedy: configureOverlay });
}

function cidrProblem(cidr: string): string | undefined {
  const network = parseIpv4Cidr(cidr);
  if (network !== undefined) return network.size > dnsOffset ? undefined : 'has no tenth address for the DNS service';
  if (cidr === '') return 'is missing';
  return isIpv6Cidr(cidr) ? 'is IPv6, but Windows nodes need IPv4 first' : 'is not a CIDR';
}

function invalidServiceCidr(subject: string, cidr: string, problem = 'is not a CIDR'): AppError {
  return new AppError('NETWORK_SERVICE_CIDR_INVALID', `${subject}: ${shown(cidr)} ${problem}`, {
    remedy: 'Make the first entry of spec.serviceNetwork an IPv4 network of at least 16 addresses.',
  });
}
