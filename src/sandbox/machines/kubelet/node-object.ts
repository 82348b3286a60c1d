import type { Condition } from '#base/condition.ts';
import { windowsBuildLabel } from '#contract/supported-versions.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import type { Node, Taint } from '#kube/resources.ts';
import type { KubeletHost } from './kubelet-host.ts';

export interface NodeFacts {
  name: string;
  nodeIp: string;
  labels: Readonly<Record<string, string>>;
  taints: readonly Taint[];
  maxPods: number;
  host: Pick<KubeletHost, 'hostName' | 'osBuild' | 'osImage' | 'bootId' | 'kubeletVersion' | 'cpus' | 'memoryBytes'>;
}

export function newNode(facts: NodeFacts, conditions: readonly Condition[]): Node {
  return {
    metadata: { name: facts.name, labels: { ...facts.labels, ...defaultLabels(facts) } },
    spec: { taints: [...facts.taints] },
    status: nodeStatus(facts, conditions),
  };
}

/** Labels that a kubelet also restores on an existing Node, unlike those of --node-labels. */
export function defaultLabels({ name, host }: NodeFacts): Record<string, string> {
  return {
    'kubernetes.io/os': 'windows',
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/hostname': name,
    [windowsBuildLabel]: host.osBuild(),
  };
}

export function nodeStatus(facts: NodeFacts, conditions: readonly Condition[]): NonNullable<Node['status']> {
  const { name, nodeIp, maxPods, host } = facts;
  const version = host.kubeletVersion?.() ?? payloadKubeletVersion;
  const resources = {
    cpu: String(host.cpus()),
    memory: `${Math.floor(host.memoryBytes() / 1024)}Ki`,
    pods: String(maxPods),
  };
  return {
    conditions: [...conditions],
    addresses: [
      { type: 'InternalIP', address: nodeIp },
      { type: 'Hostname', address: name },
    ],
    capacity: resources,
    allocatable: resources,
    nodeInfo: {
      machineID: host.hostName(),
      systemUUID: '',
      bootID: host.bootId(),
      kernelVersion: host.osBuild(),
      osImage: host.osImage(),
      containerRuntimeVersion: 'containerd://2.1.4',
      kubeletVersion: version,
      kubeProxyVersion: version,
      operatingSystem: 'windows',
      architecture: 'amd64',
    },
  };
}
