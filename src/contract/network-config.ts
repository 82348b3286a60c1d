import { hnsNetwork } from './names.ts';
import { file } from './paths.ts';

/** The network of the hybrid overlay, as the agent finds it on its host. */
export interface OverlayNetwork {
  /** Address prefix of the node's pod network. */
  subnet: string;
  /** Address of the host on the physical network. */
  managementIp: string;
}

/** Configuration of the CNI plug-in. Without the file the kubelet reports NetworkNotReady. */
export function cniConfig(network: OverlayNetwork, serviceCidr: string): string {
  const policy = (value: object) => ({ name: 'EndpointPolicy', value });
  return JSON.stringify(
    {
      cniVersion: '0.2.0',
      name: hnsNetwork.overlay,
      type: 'win-overlay',
      apiVersion: 2,
      capabilities: { portMappings: true, dns: true },
      ipam: { type: 'host-local', subnet: network.subnet },
      policies: [
        policy({
          type: 'OutBoundNAT',
          settings: { exceptionList: [serviceCidr], destinationPrefix: '', needEncap: false },
        }),
        policy({ type: 'SDNRoute', settings: { exceptionList: [], destinationPrefix: serviceCidr, needEncap: true } }),
        policy({ type: 'ProviderAddress', settings: { providerAddress: network.managementIp } }),
      ],
    },
    undefined,
    2,
  );
}

export interface KubeProxyFacts {
  nodeName: string;
  /** The node's hybrid overlay subnet. */
  clusterCidr: string;
  /** Address of the endpoint from which kube-proxy sends load-balanced traffic. */
  sourceVip: string;
  verbosity: number;
  featureGates: readonly string[];
}

/** Configuration of kube-proxy; all other settings keep their defaults. */
export function kubeProxyConfig(facts: KubeProxyFacts): string {
  return JSON.stringify(
    {
      kind: 'KubeProxyConfiguration',
      apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
      ...(facts.featureGates.length > 0 && {
        featureGates: Object.fromEntries(facts.featureGates.map(name => [name, true])),
      }),
      clientConnection: { kubeconfig: file.kubeconfig },
      mode: 'kernelspace',
      hostnameOverride: facts.nodeName,
      clusterCIDR: facts.clusterCidr,
      logging: { verbosity: facts.verbosity },
      winkernel: { networkName: hnsNetwork.overlay, sourceVip: facts.sourceVip, enableDSR: true },
    },
    undefined,
    2,
  );
}
