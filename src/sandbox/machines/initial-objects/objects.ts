import { toBase64 } from '#base/bytes.ts';
import { timestamp } from '#base/clock.ts';
import {
  agentName,
  configMapName,
  identity,
  machineLabel,
  monitoringLabel,
  namespaceName,
  nodeLabel,
  operatorName,
  secretKey,
  secretName,
} from '#contract/names.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import { clusterRoleBindings, configMaps, namespaces, nodes, secrets, serviceAccounts } from '#kube/resources.ts';
import {
  apiServerConfigs,
  controllerConfigs,
  infrastructures,
  machineConfigs,
  machineSets,
  networkConfigs,
  networkOperators,
} from '#kube/resources-openshift.ts';
import { clusterVersions } from './definitions.ts';
import { kubeadmObjects } from './kubeadm.ts';

export const machineSetName = 'winworker';

export type ClusterKind = 'openshift' | 'kubernetes';

export interface InitialFacts {
  kind: ClusterKind;
  /** Of the operator. */
  namespace: string;
  platform: string;
  apiServerUrl: string;
  /** In PEM form. */
  ca: string;
  /** SSH key for hosts (PEM); undefined to omit the Secret. */
  privateKey: string | undefined;
  /** Data of windows-instances; undefined to omit the ConfigMap. */
  instances: Readonly<Record<string, string>> | undefined;
  /** Replicas of the MachineSet. */
  machines: number;
  nowMs: number;
}

export interface InitialObject {
  resource: Resource;
  object: KubeResource;
}

/** Objects of a cluster, in the order of creation. */
export function initialObjects(facts: InitialFacts): InitialObject[] {
  return facts.kind === 'openshift'
    ? [
        ...namespaceObjects(facts),
        ...clusterObjects(facts),
        ...nodeObjects(facts),
        ...accountObjects(),
        pullSecret,
        ...installedObjects(facts),
        ...hostObjects(facts),
      ]
    : [
        object(namespaces, facts.namespace),
        ...kubeadmObjects(facts),
        ...description(facts),
        ...nodeObjects(facts),
        ...installedObjects(facts),
        ...hostObjects({ ...facts, machines: 0 }),
      ];
}

const object = (resource: Resource, name: string, members: object = {}): InitialObject => ({
  resource,
  object: { metadata: { name }, ...members },
});

const inNamespace = (resource: Resource, namespace: string, name: string, members: object = {}): InitialObject => ({
  resource,
  object: { metadata: { name, namespace }, ...members },
});

function namespaceObjects({ namespace }: InitialFacts): InitialObject[] {
  const others = Object.values(namespaceName).map(name => object(namespaces, name));
  const labels = { [monitoringLabel]: 'true' };
  return [...others, { resource: namespaces, object: { metadata: { name: namespace, labels } } }];
}

/** An administrator sets what the operator cannot discover. */
function description({ namespace, platform }: InitialFacts): InitialObject[] {
  return platform === 'None' ? [] : [inNamespace(configMaps, namespace, 'windows-cluster', { data: { platform } })];
}

function nodeObjects({ nowMs }: InitialFacts): InitialObject[] {
  return [
    linuxNode('linux-control-plane-0', '10.0.0.2', 'node-role.kubernetes.io/control-plane', nowMs),
    linuxNode('linux-worker-0', '10.0.0.3', nodeLabel.worker, nowMs),
  ];
}

function clusterObjects({ platform, apiServerUrl, ca }: InitialFacts): InitialObject[] {
  return [
    object(infrastructures, 'cluster', {
      spec: { platformSpec: { type: platform } },
      status: {
        infrastructureName: 'sandbox-7x2kq',
        platform,
        platformStatus: { type: platform },
        apiServerURL: apiServerUrl,
        apiServerInternalURI: apiServerUrl,
      },
    }),
    object(networkConfigs, 'cluster', {
      spec: {
        networkType: 'OVNKubernetes',
        clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
        serviceNetwork: ['172.30.0.0/16'],
      },
    }),
    object(networkOperators, 'cluster', {
      spec: {
        defaultNetwork: { type: 'OVNKubernetes', ovnKubernetesConfig: { hybridOverlayConfig: overlay(platform) } },
      },
    }),
    object(apiServerConfigs, 'cluster', { spec: {} }),
    object(clusterVersions, 'version', { status: { desired: { version: '4.23.0' } } }),
    object(machineConfigs, 'rendered-worker-5d0c8f8b', { spec: { config: workerIgnition(platform) } }),
    object(controllerConfigs, 'machine-config-controller', {
      spec: { clusterDNSIP: '172.30.0.10', kubeAPIServerServingCAData: toBase64(ca) },
    }),
  ];
}

/** vSphere uses the default VXLAN port itself. */
function overlay(platform: string): object {
  const hybridClusterNetwork = [{ cidr: '10.132.0.0/14', hostPrefix: 24 }];
  return { hybridClusterNetwork, ...(platform === 'VSphere' ? { hybridOverlayVXLANPort: 9898 } : {}) };
}

/** On Azure a cloud controller initializes each Node. */
function kubeletUnit(platform: string): string {
  const cloud = platform === 'Azure' ? ' --cloud-provider=external' : '';
  return `[Unit]\nRequires=crio.service\n\n[Service]\nType=notify\nExecStart=/usr/bin/kubelet --config=/etc/kubernetes/kubelet.conf${cloud} --v=2\n`;
}

function workerIgnition(platform: string): object {
  return {
    ignition: { version: '3.5.0' },
    storage: { files: [] },
    systemd: { units: [{ name: 'kubelet.service', enabled: true, contents: kubeletUnit(platform) }] },
  };
}

function linuxNode(name: string, address: string, role: string, nowMs: number): InitialObject {
  const time = timestamp(nowMs);
  const labels = { [nodeLabel.os]: 'linux', 'kubernetes.io/hostname': name, [role]: '' };
  const status = {
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: name },
    ],
    conditions: [
      { type: 'Ready', status: 'True', reason: 'KubeletReady', lastHeartbeatTime: time, lastTransitionTime: time },
    ],
    nodeInfo: { kubeletVersion: payloadKubeletVersion, operatingSystem: 'linux', architecture: 'amd64' },
  };
  return { resource: nodes, object: { metadata: { name, labels }, status } as KubeResource };
}

const bootstrapper = 'node-bootstrapper';

function accountObjects(): InitialObject[] {
  const namespace = namespaceName.machineConfig;
  const apiGroup = 'rbac.authorization.k8s.io';
  return [
    inNamespace(serviceAccounts, namespace, bootstrapper),
    object(clusterRoleBindings, 'system-bootstrap-node-bootstrapper', {
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:node-bootstrapper' },
      subjects: [{ kind: 'ServiceAccount', name: bootstrapper, namespace }],
    }),
    // kube-proxy on Windows uses the identity of the kubelet.
    object(clusterRoleBindings, 'system:node-proxiers', {
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'system:node-proxier' },
      subjects: [{ kind: 'Group', name: identity.nodesGroup, apiGroup }],
    }),
    {
      resource: secrets,
      object: {
        metadata: {
          name: secretName.bootstrapToken,
          namespace,
          annotations: { 'kubernetes.io/service-account.name': bootstrapper },
        },
        type: 'kubernetes.io/service-account-token',
      } as KubeResource,
    },
  ];
}

const secret = (where: string, name: string, data: Record<string, string>, type = 'Opaque') =>
  inNamespace(secrets, where, name, {
    type,
    data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, toBase64(text)])),
  });

const pullSecret = secret(
  namespaceName.config,
  secretName.pullSecret,
  { [secretKey.dockerConfig]: '{"auths":{}}' },
  'kubernetes.io/dockerconfigjson',
);

/** What an administrator creates to install the operator. */
function installedObjects({ namespace, privateKey }: InitialFacts): InitialObject[] {
  return [
    ...[operatorName, agentName].map(name => inNamespace(serviceAccounts, namespace, name)),
    ...(privateKey === undefined
      ? []
      : [secret(namespace, secretName.privateKey, { [secretKey.privateKey]: privateKey })]),
  ];
}

function hostObjects({ namespace, instances, machines }: InitialFacts): InitialObject[] {
  return [
    ...(instances === undefined
      ? []
      : [inNamespace(configMaps, namespace, configMapName.instances, { data: instances })]),
    ...(machines === 0 ? [] : [machineSet(machines)]),
  ];
}

function machineSet(replicas: number): InitialObject {
  const name = machineSetName;
  const labels = { [machineLabel.machineSet]: name, [machineLabel.osId]: 'Windows' };
  const spec = {
    metadata: { labels: { [nodeLabel.worker]: '' } },
    providerSpec: { value: { userDataSecret: { name: secretName.userData } } },
  };
  return inNamespace(machineSets, namespaceName.machineApi, name, {
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
  });
}
