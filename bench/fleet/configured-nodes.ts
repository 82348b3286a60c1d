import { timestamp } from '../../src/base/clock.ts';
import { sha256 } from '../../src/base/sha256.ts';
import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import { emptyReport, printReport } from '../../src/contract/agent-report.ts';
import {
  instanceAnnotation,
  managedByLabel,
  nodeAnnotation,
  nodeLabel,
  windowsTaint,
} from '../../src/contract/names.ts';
import type { WindowsInstanceStatus } from '../../src/contract/windows-instance/resource.ts';
import { nodeAccess } from '../../src/controllers/agent-access/desired.ts';
import { newReport } from '../../src/controllers/agent-reports/decide.ts';
import type { KubeResource } from '../../src/kube/resource.ts';
import { configMaps, type Node, nodes, pods } from '../../src/kube/resources.ts';
import { conditionReason } from '../../src/node/lifecycle/instance-status.ts';
import { configureSteps } from '../../src/node/lifecycle/configure/steps.ts';
import type { LocalApi } from '../../src/sandbox/apiserver/ports.ts';

export interface ConfiguredNodes {
  count: number;
  imagesPerNode: number;
  podsPerNode: number;
  namespace: string;
  /** Of the operator that configured them. */
  version: string;
  /** SHA-256 of the public key that all agents use here. */
  keyHash: string;
  nowMs: number;
}

export const podNamespace = 'fleet';

export function nodeName(index: number): string {
  return `win-${index}`;
}

export function nodeAddress(index: number): string {
  return `10.${20 + (index >> 16)}.${(index >> 8) & 255}.${index & 255}`;
}

/** Data of windows-instances. */
export function entriesOf(count: number): Record<string, string> {
  return Object.fromEntries(range(count).map(index => [nodeAddress(index), 'username=Administrator']));
}

/** Creates everything that a finished join of one host leaves in the cluster. */
export function createConfiguredNode(api: LocalApi, index: number, mapUid: string, options: ConfiguredNodes): void {
  const { namespace, podsPerNode } = options;
  const name = nodeName(index);
  const node = api.create(nodes, configuredNode(index, options));
  const uid = node.metadata.uid ?? '';
  const instance = api.create(windowsInstances, configuredInstance(index, mapUid, options));
  const status = configuredStatus(index, uid, options);
  api.replace(windowsInstances, { ...instance, status } as KubeResource, { subresource: 'status' });
  const bootId = `${name}-1`;
  const report = { ...emptyReport, version: options.version, bootId, nodeUid: uid, confirmedBoot: bootId };
  api.create(configMaps, { ...newReport(name, namespace), data: printReport(report) } as KubeResource);
  const facts = { namespace, isFormer: false, hasCloudNodeManager: false };
  for (const { resource, object } of nodeAccess({ name, uid }, facts)) api.create(resource, object);
  for (const number of range(podsPerNode)) api.create(pods, podOf(name, number));
}

function configuredInstance(index: number, mapUid: string, { namespace }: ConfiguredNodes): KubeResource {
  const address = nodeAddress(index);
  const metadata = {
    name: address,
    namespace,
    labels: { [managedByLabel.key]: managedByLabel.value },
    annotations: { [instanceAnnotation.sourceUid]: mapUid },
  };
  const { group, version, kind } = windowsInstances;
  const spec = { address, username: 'Administrator', source: { kind: 'ConfigMap', name: address } };
  return { apiVersion: `${group}/${version}`, kind, metadata, spec } as KubeResource;
}

function configuredStatus(index: number, nodeUID: string, options: ConfiguredNodes): WindowsInstanceStatus {
  const { version, keyHash, nowMs } = options;
  const [name, address, time] = [nodeName(index), nodeAddress(index), timestamp(nowMs)];
  const condition = { status: 'True', observedGeneration: 1, lastTransitionTime: time } as const;
  const joined = { ...condition, reason: conditionReason.joined, message: `Node ${name} runs version ${version}` };
  const message = `The kubelet accepts connections at ${address}:10250.`;
  const token = (use: 'kubelet' | 'agent') => ({
    id: `JTI=${sha256(`${use} ${name}`).slice(0, 36)}`,
    use,
    expires: time,
  });
  return {
    timeline: configureSteps.map(({ name: step }) => ({ name: step, started: time, finished: time, attempts: 1 })),
    phase: 'Ready',
    observedGeneration: 1,
    conditions: [
      { ...joined, type: 'Configured' },
      { ...joined, type: 'Ready' },
      { ...condition, type: 'KubeletReachable', reason: 'Reachable', message },
    ],
    hostKey: `ecdsa-sha2-nistp256 ${hostKey}`,
    ipv4: address,
    host: { name, addresses: [address] },
    tokens: [token('kubelet'), token('agent')],
    certifiedName: name,
    node: name,
    nodeUID,
    agent: { keyHash, installed: time, certificateEnds: timestamp(nowMs + 12 * hourMs) },
    version,
  };
}

const hourMs = 3_600_000;
const hostKey =
  'AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBM2Ac4i0nhq925RP74wQklbzi6WXLmr8Kzf2iMBCiUy2BnDfV8PC2bQKy9uymxoUyuxjEQVlvzGaS5av9bJl0Ls=';

function configuredNode(index: number, options: ConfiguredNodes): KubeResource {
  const { version, nowMs, imagesPerNode } = options;
  const [name, address, time] = [nodeName(index), nodeAddress(index), timestamp(nowMs)];
  const size = { cpu: '16', memory: '67108864Ki', pods: '250', 'ephemeral-storage': '133703660Ki' };
  return {
    metadata: {
      name,
      labels: {
        [nodeLabel.osId]: 'Windows',
        [nodeLabel.os]: 'windows',
        'kubernetes.io/arch': 'amd64',
        'kubernetes.io/hostname': name,
        'node.kubernetes.io/windows-build': '10.0.20348',
        [nodeLabel.byoh]: 'true',
        [nodeLabel.worker]: '',
      },
      annotations: {
        [nodeAnnotation.pubKeyHash]: sha256('public key'),
        [nodeAnnotation.username]: `${'wx4EBwMI'.repeat(18)}=z1R8`,
        [nodeAnnotation.sshHostKey]: hostKey,
        [nodeAnnotation.sshHostKeyType]: 'ecdsa-sha2-nistp256',
        [nodeAnnotation.desiredVersion]: version,
        [nodeAnnotation.version]: version,
        [nodeAnnotation.hybridOverlaySubnet]: `10.${132 + (index >> 8)}.${index & 255}.0/24`,
        [nodeAnnotation.hybridOverlayGatewayMac]: '0a:58:0a:84:00:03',
      },
    },
    spec: { taints: [{ ...windowsTaint }] },
    status: {
      conditions: heartbeatConditions(time),
      addresses: [
        { type: 'InternalIP', address },
        { type: 'Hostname', address: name },
      ],
      capacity: size,
      allocatable: size,
      nodeInfo: {
        machineID: name,
        systemUUID: sha256(name).slice(0, 36),
        bootID: `${name}-1`,
        kernelVersion: '10.0.20348.2966',
        osImage: 'Windows Server 2022 Datacenter',
        containerRuntimeVersion: 'containerd://2.1.4',
        kubeletVersion: 'v1.36.2',
        kubeProxyVersion: 'v1.36.2',
        operatingSystem: 'windows',
        architecture: 'amd64',
      },
      images: range(imagesPerNode).map(imageOf),
    },
  } as KubeResource;
}

function imageOf(number: number): object {
  const repository = `registry.example.com/team-${number % 7}/windows-service-${number}`;
  return {
    names: [`${repository}@sha256:${sha256(repository)}`, `${repository}:v1.${number}.0`],
    sizeBytes: 1_800_000_000 + number * 12_345_678,
  };
}

const healthy: [type: string, status: string, reason: string, message: string][] = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'kubelet is posting ready status'],
];

function heartbeatConditions(time: string): object[] {
  return healthy.map(([type, status, reason, message]) => ({
    type,
    status,
    reason,
    message,
    lastHeartbeatTime: time,
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));
}

/** What a kubelet writes every few minutes, and real clusters with other controllers more often. */
export function sendHeartbeat(api: LocalApi, index: number): void {
  const node = api.get(nodes, { namespace: '', name: nodeName(index) }) as Node | undefined;
  if (node === undefined) throw new Error(`there is no Node ${nodeName(index)}`);
  const conditions = heartbeatConditions(timestamp(api.clock.now()));
  api.replace(nodes, { ...node, status: { ...node.status, conditions } } as KubeResource, { subresource: 'status' });
}

export function changeLabel(api: LocalApi, index: number, value: string): void {
  const node = api.get(nodes, { namespace: '', name: nodeName(index) });
  if (node === undefined) throw new Error(`there is no Node ${nodeName(index)}`);
  const labels = { ...node.metadata.labels, 'example.com/fleet': value };
  api.replace(nodes, { ...node, metadata: { ...node.metadata, labels } });
}

function podOf(node: string, number: number): KubeResource {
  return {
    metadata: { name: `${node}-${number}`, namespace: podNamespace, labels: { app: 'fleet' } },
    spec: { nodeName: node, containers: [{ name: 'main', image: `registry.example.com/app-${number % 50}:v1` }] },
    status: { phase: 'Running' },
  } as KubeResource;
}

function range(length: number): number[] {
  return Array.from({ length }, (_, at) => at);
}
