/** Names that users, other components and existing clusters depend on. They must never change. */

export const prefix = 'windowsmachineconfig.openshift.io';

export const operatorName = 'windows-machine-config-operator';
export const defaultNamespace = 'openshift-windows-machine-config-operator';

export const nodeAnnotation = {
  /** Written by the agent: the node is fully configured by this operator version. */
  version: `${prefix}/version`,
  /** Written by the operator: which services ConfigMap the agent must apply. */
  desiredVersion: `${prefix}/desired-version`,
  /** New, written by the operator: the settings of services that the agent may apply, as version and hashes. */
  desiredServices: `${prefix}/desired-services`,
  pubKeyHash: `${prefix}/pub-key-hash`,
  username: `${prefix}/username`,
  /** Requests a reboot of the host; the value is empty. */
  rebootRequired: `${prefix}/reboot-required`,
  sshHostKey: `${prefix}/ssh-host-key`,
  sshHostKeyType: `${prefix}/ssh-host-key-type`,
  /** New: the operator has cordoned this Node. A Node that is cordoned without it was cordoned by a user. */
  cordoned: `${prefix}/cordoned`,
  /** Owned by OVN. */
  hybridOverlaySubnet: 'k8s.ovn.org/hybrid-overlay-node-subnet',
  hybridOverlayGatewayMac: 'k8s.ovn.org/hybrid-overlay-distributed-router-gateway-mac',
} as const;

/** Annotations that only a Node configured by an operator has. */
export const operatorAnnotations = [
  nodeAnnotation.version,
  nodeAnnotation.desiredVersion,
  nodeAnnotation.pubKeyHash,
] as const;

export const nodeLabel = {
  os: 'kubernetes.io/os',
  osId: 'node.openshift.io/os_id',
  byoh: `${prefix}/byoh`,
  worker: 'node-role.kubernetes.io/worker',
  upgrading: `${prefix}/upgrading`,
} as const;

export const machineLabel = {
  osId: 'machine.openshift.io/os-id',
  /** The infrastructure name of the cluster. */
  cluster: 'machine.openshift.io/cluster-api-cluster',
  machineSet: 'machine.openshift.io/cluster-api-machineset',
  role: 'machine.openshift.io/cluster-api-machine-role',
  type: 'machine.openshift.io/cluster-api-machine-type',
  ignore: `${prefix}/ignore`,
} as const;

export const servicesAnnotation = {
  /** On a services ConfigMap: part of the hash of its content. */
  salt: `${prefix}/hash-salt`,
} as const;

export const keysAnnotation = {
  /** On the Secret of former private keys: their hashes, the newest last. */
  order: `${prefix}/key-order`,
} as const;

export const instanceAnnotation = {
  /** UID of the Machine or ConfigMap of a WindowsInstance; only its events are shown. */
  sourceUid: `${prefix}/source-uid`,
  /** Set by an administrator: any new value ends the backoff of a failed host. */
  retry: `${prefix}/retry`,
  /**
   * The host is to be removed; the value is the time of the request. Written by the operator when the entry or a Direct
   * instance was deleted, and by `wmco remove`. Without it the host stays.
   */
  removal: `${prefix}/removal`,
  /** Record of a deleted Direct instance, as JSON: the operator creates it again to remove its host. */
  record: `${prefix}/record`,
  /** Set by an administrator: the removal skips a host that does not answer, and pods that cannot be evicted. */
  forceRemoval: `${prefix}/force-removal`,
  /** Set by an administrator: the host stays at this version. */
  pinnedVersion: `${prefix}/pinned-version`,
  /** Set by an administrator: this version was rolled back on this host, and the others are upgraded nevertheless. */
  acceptedRollback: `${prefix}/accepted-rollback`,
  /** Set by an administrator: any new value requests a reboot of the host. */
  reboot: `${prefix}/reboot`,
} as const;

/** Keeps pods off a Node that registered again after it was removed by force. */
export const removedTaint = { key: `${prefix}/removed`, value: 'by-force', effect: 'NoExecute' } as const;

/** Keeps Linux pods off Windows nodes; the kubelet registers with it. */
export const windowsTaint = { key: 'os', value: 'Windows', effect: 'NoSchedule' } as const;

export const secretName = {
  privateKey: 'cloud-private-key',
  /** New: private keys that hosts accepted, by the hash of their public key; written by the operator. */
  privateKeys: 'windows-private-keys',
  userData: 'windows-user-data',
  tls: 'windows-machine-config-operator-tls',
  agentToken: 'windows-instance-config-daemon',
  bootstrapToken: 'node-bootstrapper-token',
  pullSecret: 'pull-secret',
} as const;

export const secretKey = {
  privateKey: 'private-key.pem',
  userData: 'userData',
  ca: 'ca.crt',
  token: 'token',
  tlsCertificate: 'tls.crt',
  tlsKey: 'tls.key',
  dockerConfig: '.dockerconfigjson',
} as const;

export const namespaceName = {
  machineApi: 'openshift-machine-api',
  clusterApi: 'openshift-cluster-api',
  machineConfig: 'openshift-machine-config-operator',
  config: 'openshift-config',
  /** Exists in clusters with a service CA. */
  serviceCa: 'openshift-service-ca',
} as const;

export const configMapName = {
  instances: 'windows-instances',
  servicesPrefix: 'windows-services-',
  trustedCa: 'trusted-ca',
  hostKeys: 'windows-ssh-host-keys',
  leaderLock: 'windows-machine-config-operator-lock',
  /** New: conditions of the operator itself. */
  operatorStatus: 'windows-machine-config-operator-status',
  /** New: settings of the disruption budget, written by users only. */
  rollout: 'windows-rollout',
  /** New: who is out of service by permission of the budget, written by the operator only. */
  rolloutGrants: 'windows-rollout-grants',
  /** New: hosts that were removed by force and may come back, written by the operator. */
  removedHosts: 'windows-removed-hosts',
  /** New: settings of kubelets, written by users only. */
  kubeletConfig: 'windows-kubelet-config',
} as const;

/** The Service for which a service CA issues the certificate of the exporters. It has no endpoints. */
export const exporterService = {
  name: 'windows-exporter',
  /** Names the Secret in which the service CA stores the pair. */
  secretAnnotation: 'service.alpha.openshift.io/serving-cert-secret-name',
  /** Written by the service CA when it cannot issue the pair. */
  errorAnnotations: [
    'service.beta.openshift.io/serving-cert-generation-error',
    'service.alpha.openshift.io/serving-cert-generation-error',
  ],
} as const;

export const trustedCaKey = 'ca-bundle.crt';
export const injectTrustedCaLabel = 'config.openshift.io/inject-trusted-cabundle';
export const managedByLabel = { key: 'app.kubernetes.io/managed-by', value: operatorName } as const;
export const monitoringLabel = 'openshift.io/cluster-monitoring';

export const agentName = 'windows-instance-config-daemon';

/** Temporary Windows service that swaps the files of a host; it starts again after a power cut. */
export const activationService = 'windows-instance-config-daemon-activation';

/** Windows service names, in the order in which the services start. */
export const serviceName = {
  containerd: 'containerd',
  kubelet: 'kubelet',
  exporter: 'windows_exporter',
  hybridOverlay: 'hybrid-overlay-node',
  csiProxy: 'csi-proxy',
  kubeProxy: 'kube-proxy',
  cloudNodeManager: 'cloud-node-manager',
} as const;

/** Prefix of the description of every managed service; leftovers are found by it. */
export const managedTag = 'OpenShift managed';

export function managedDescription(service: string): string {
  return `${managedTag} ${service}`;
}

export const hnsNetwork = {
  base: 'BaseOVNKubernetesHybridOverlayNetwork',
  overlay: 'OVNKubernetesHybridOverlayNetwork',
} as const;
export const vipEndpoint = 'VIPEndpoint';

/** Identities in certificates. */
export const identity = {
  nodeUserPrefix: 'system:node:',
  nodesGroup: 'system:nodes',
  authenticatedGroup: 'system:authenticated',
  agentUserPrefix: 'system:wicd-node:',
  agentsGroup: 'system:wicd-nodes',
  cloudNodeUserPrefix: 'system:wicd-cloud-node:',
  cloudNodesGroup: 'system:wicd-cloud-nodes',
  nodeBootstrapper: 'system:serviceaccount:openshift-machine-config-operator:node-bootstrapper',
} as const;

const serviceAccountPrefix = 'system:serviceaccount:';

export function isServiceAccount(username: string): boolean {
  return username.startsWith(serviceAccountPrefix);
}

export function agentServiceAccountUser(namespace: string): string {
  return `${serviceAccountPrefix}${namespace}:${agentName}`;
}

/**
 * Service account whose token a kubelet uses to request its first certificate. OpenShift has it; elsewhere the operator
 * creates it.
 */
export const bootstrapperName = 'node-bootstrapper';

export function bootstrapperUser(namespace: string): string {
  return `${serviceAccountPrefix}${namespace}:${bootstrapperName}`;
}

export const signer = {
  kubeletClient: 'kubernetes.io/kube-apiserver-client-kubelet',
  kubeletServing: 'kubernetes.io/kubelet-serving',
  apiClient: 'kubernetes.io/kube-apiserver-client',
} as const;

/** Platforms with special cases. */
export const platforms = ['AWS', 'Azure', 'GCP', 'VSphere', 'Nutanix', 'None'] as const;

/** Every platform type of Infrastructure objects. */
export const platformTypes = [
  ...platforms,
  'AlibabaCloud',
  'BareMetal',
  'EquinixMetal',
  'External',
  'IBMCloud',
  'KubeVirt',
  'Libvirt',
  'OpenStack',
  'PowerVS',
  'oVirt',
] as const;

/** Proxy variables that are copied to hosts, in the order in which they are written. */
export const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY'] as const;

export const ports = { ssh: 22, kubelet: 10250, exporter: 9182 } as const;
