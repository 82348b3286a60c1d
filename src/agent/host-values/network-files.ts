import { AppError, shown } from '#base/errors.ts';
import { parseIpv4, parseIpv4Cidr } from '#base/ipv4.ts';
import { hnsNetwork, vipEndpoint } from '#contract/names.ts';
import { cniConfig, kubeProxyConfig } from '#contract/network-config.ts';
import { overlayRemedy } from '#contract/overlay-remedy.ts';
import { readObject } from '#contract/object.ts';
import { file } from '#contract/paths.ts';
import { poll, type Waiting } from '#base/waiting/poll.ts';
import type { Files, HnsEndpoint, HnsNetwork, HostNetwork, HostPorts, NodeSource, System } from '../ports.ts';
import { recordChangedFiles } from '../state.ts';
import { withoutLength } from './node-ip.ts';

type Limits = Omit<Waiting, 'patience'>;
type Ports = Pick<HostPorts, 'files' | 'network' | 'system'>;

/** The hybrid overlay creates its network only after its start. */
const patience = { everyMs: 1000, limitMs: 19_000 };

/**
 * Writes the configuration of the CNI plugin and of kube-proxy for the network of the hybrid overlay. True when that of
 * kube-proxy has changed; the other is read for every pod.
 */
export async function writeNetworkFiles(
  given: Readonly<Record<string, string>>,
  node: NodeSource | undefined,
  ports: Ports,
  limits: Limits,
): Promise<boolean> {
  const facts = nodeFacts(given, node);
  const network = await findOverlay(ports.network, limits);
  await writeIfDifferent(file.cniConfig, cniConfig(network, facts.serviceCidr), ports.files);
  const sourceVip = await findSourceVip(network.id, ports, limits);
  const text = kubeProxyConfig({ ...facts, sourceVip });
  return writeIfDifferent(file.kubeProxyConfig, text, ports.files, () =>
    recordChangedFiles([file.kubeProxyConfig], ports.files),
  );
}

interface NodeFacts {
  nodeName: string;
  clusterCidr: string;
  serviceCidr: string;
  verbosity: number;
  featureGates: string[];
}

function nodeFacts(given: Readonly<Record<string, string>>, node: NodeSource | undefined): NodeFacts {
  const { serviceCIDR: serviceCidr = '', subnetAnnotation = '', verbosity = '0', featureGates = '' } = given;
  if (parseIpv4Cidr(serviceCidr) === undefined) throw wrongArgument('serviceCIDR', serviceCidr);
  if (!/^\d$/.test(verbosity)) throw wrongArgument('verbosity', verbosity);
  if (!/^[A-Za-z0-9,]{0,200}$/.test(featureGates)) throw wrongArgument('featureGates', featureGates);
  const annotations = node === undefined ? {} : readObject(node.object).meta.annotations;
  const clusterCidr = annotations[subnetAnnotation] ?? '';
  if (node === undefined)
    throw missing(
      'waiting for the kubelet to register the Node',
      `Run \`Get-Content ${file.kubeletLog} -Tail 20\` on the host.`,
    );
  if (clusterCidr === '') {
    throw missing(`waiting for OVN-Kubernetes to assign a pod subnet to node ${node.name}`, overlayRemedy);
  }
  if (parseIpv4Cidr(clusterCidr) === undefined) {
    throw new AppError(
      'NODE_SUBNET_INVALID',
      `Node ${node.name}: annotation ${subnetAnnotation} is ${shown(clusterCidr)}, not an IPv4 subnet`,
      { remedy: overlayRemedy },
    );
  }
  return {
    nodeName: node.name,
    clusterCidr,
    serviceCidr,
    verbosity: Number(verbosity),
    featureGates: featureGates.split(',').filter(name => name !== ''),
  };
}

type Overlay = { id: string; subnet: string; managementIp: string };

async function findOverlay(network: HostNetwork, limits: Limits): Promise<Overlay> {
  let seen: readonly HnsNetwork[] = [];
  const found = await poll(
    async () => {
      seen = await network.networks();
      return overlayOf(seen);
    },
    { ...limits, patience },
  );
  if (found !== undefined) return found;
  const names = seen.map(({ name }) => name).join(', ') || 'none';
  throw missing(
    `waiting for hybrid-overlay-node to create the network ${hnsNetwork.overlay}; found: ${names}`,
    `Run \`Get-Content ${file.hybridOverlayLog} -Tail 20\` on the host.`,
  );
}

/** A part of the network that is set up while the host joins. The message follows the name of a service and "is". */
function missing(message: string, remedy: string): AppError {
  return new AppError('HOST_NETWORK_MISSING', message, { remedy });
}

/** Undefined until the network has all required values. */
function overlayOf(networks: readonly HnsNetwork[]): Overlay | undefined {
  const network = networks.find(({ name }) => name === hnsNetwork.overlay);
  const subnet = network?.subnets.find(prefix => parseIpv4Cidr(prefix) !== undefined);
  if (network === undefined || subnet === undefined || parseIpv4(network.managementIp) === undefined) return undefined;
  return { id: network.id, subnet, managementIp: network.managementIp };
}

/** The address of the source VIP endpoint of kube-proxy, which is created if it is missing. */
async function findSourceVip(networkId: string, ports: Ports, limits: Limits): Promise<string> {
  const endpoint = await ensureEndpoint(networkId, ports);
  const address = await poll(() => addressOf(endpoint, ports), { ...limits, patience });
  if (address !== undefined) return address;
  throw missing(
    `waiting for an IPv4 address of the endpoint ${vipEndpoint} (${endpoint.id})`,
    'Run on the host: Restart-Service hns.',
  );
}

async function ensureEndpoint(networkId: string, { network, system }: Ports): Promise<HnsEndpoint> {
  const isSourceVip = (endpoint: HnsEndpoint) => endpoint.name === vipEndpoint && sameId(endpoint.networkId, networkId);
  const found = (await network.endpoints()).find(isSourceVip);
  if (found === undefined) {
    const created = await network.createEndpoint(networkId, vipEndpoint);
    await network.attachToHost(created.id);
    return created;
  }
  // An attached endpoint has an adapter; without one, an earlier attempt may have been interrupted before it was attached.
  // Windows rejects a second attach.
  if ((await adapterOf(found, system)) === undefined) await network.attachToHost(found.id).catch(() => undefined);
  return found;
}

async function addressOf(endpoint: HnsEndpoint, { network, system }: Ports): Promise<string | undefined> {
  const seen = (await network.endpoints()).find(({ id }) => sameId(id, endpoint.id)) ?? endpoint;
  const adapter = await adapterOf(seen, system);
  const addresses = adapter?.addresses.map(withoutLength) ?? [];
  return [endpoint.ipAddress, seen.ipAddress, ...addresses].find(address => parseIpv4(address) !== undefined);
}

async function adapterOf({ mac }: HnsEndpoint, system: System) {
  const digits = (text: string) => text.toLowerCase().replaceAll(/[^0-9a-f]/g, '');
  return mac === '' ? undefined : (await system.adapters()).find(adapter => digits(adapter.mac) === digits(mac));
}

function sameId(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

async function writeIfDifferent(
  path: string,
  text: string,
  files: Files,
  before: () => Promise<void> = async () => undefined,
): Promise<boolean> {
  if ((await files.read(path))?.replaceAll('\r', '') === text) return false;
  await before();
  await files.write(path, text);
  return true;
}

function wrongArgument(name: string, value: string): AppError {
  return new AppError('SERVICES_MALFORMED', `preparation cni-and-kube-proxy: ${name} is ${shown(value)}`, {
    remedy: 'Delete the services ConfigMap; the operator creates it again.',
  });
}
