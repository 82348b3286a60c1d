import { expect, test } from 'vitest';
import * as names from './names.ts';

/** Copied from the catalogue of names by hand: what live clusters, users' manifests and alerts already contain. */
const catalogue: [string, object, Record<string, string>][] = [
  [
    'annotations of Nodes',
    names.nodeAnnotation,
    {
      version: 'windowsmachineconfig.openshift.io/version',
      desiredVersion: 'windowsmachineconfig.openshift.io/desired-version',
      pubKeyHash: 'windowsmachineconfig.openshift.io/pub-key-hash',
      username: 'windowsmachineconfig.openshift.io/username',
      rebootRequired: 'windowsmachineconfig.openshift.io/reboot-required',
      sshHostKey: 'windowsmachineconfig.openshift.io/ssh-host-key',
      sshHostKeyType: 'windowsmachineconfig.openshift.io/ssh-host-key-type',
      hybridOverlaySubnet: 'k8s.ovn.org/hybrid-overlay-node-subnet',
      hybridOverlayGatewayMac: 'k8s.ovn.org/hybrid-overlay-distributed-router-gateway-mac',
    },
  ],
  [
    'labels of Nodes',
    names.nodeLabel,
    {
      os: 'kubernetes.io/os',
      osId: 'node.openshift.io/os_id',
      byoh: 'windowsmachineconfig.openshift.io/byoh',
      worker: 'node-role.kubernetes.io/worker',
      upgrading: 'windowsmachineconfig.openshift.io/upgrading',
    },
  ],
  [
    'labels of Machines',
    names.machineLabel,
    { osId: 'machine.openshift.io/os-id', ignore: 'windowsmachineconfig.openshift.io/ignore' },
  ],
  ['the taint', names.windowsTaint, { key: 'os', value: 'Windows', effect: 'NoSchedule' }],
  [
    'Secrets',
    names.secretName,
    {
      privateKey: 'cloud-private-key',
      userData: 'windows-user-data',
      tls: 'windows-machine-config-operator-tls',
      agentToken: 'windows-instance-config-daemon',
      bootstrapToken: 'node-bootstrapper-token',
      pullSecret: 'pull-secret',
    },
  ],
  [
    'keys of Secrets',
    names.secretKey,
    {
      privateKey: 'private-key.pem',
      userData: 'userData',
      ca: 'ca.crt',
      token: 'token',
      tlsCertificate: 'tls.crt',
      tlsKey: 'tls.key',
      dockerConfig: '.dockerconfigjson',
    },
  ],
  [
    'namespaces',
    names.namespaceName,
    {
      machineApi: 'openshift-machine-api',
      clusterApi: 'openshift-cluster-api',
      machineConfig: 'openshift-machine-config-operator',
      config: 'openshift-config',
    },
  ],
  [
    'ConfigMaps',
    names.configMapName,
    {
      instances: 'windows-instances',
      servicesPrefix: 'windows-services-',
      trustedCa: 'trusted-ca',
      hostKeys: 'windows-ssh-host-keys',
      leaderLock: 'windows-machine-config-operator-lock',
    },
  ],
  [
    'the label of what we manage',
    names.managedByLabel,
    { key: 'app.kubernetes.io/managed-by', value: 'windows-machine-config-operator' },
  ],
  [
    'HNS networks',
    names.hnsNetwork,
    { base: 'BaseOVNKubernetesHybridOverlayNetwork', overlay: 'OVNKubernetesHybridOverlayNetwork' },
  ],
  [
    'identities',
    names.identity,
    {
      nodeUserPrefix: 'system:node:',
      nodesGroup: 'system:nodes',
      authenticatedGroup: 'system:authenticated',
      agentUserPrefix: 'system:wicd-node:',
      agentsGroup: 'system:wicd-nodes',
      nodeBootstrapper: 'system:serviceaccount:openshift-machine-config-operator:node-bootstrapper',
    },
  ],
  [
    'signers',
    names.signer,
    {
      kubeletClient: 'kubernetes.io/kube-apiserver-client-kubelet',
      kubeletServing: 'kubernetes.io/kubelet-serving',
      apiClient: 'kubernetes.io/kube-apiserver-client',
    },
  ],
];
for (const [name, actual, want] of catalogue) {
  test(`${name} keep their names`, () => expect(actual).toMatchObject(want));
}

const single: [string, string][] = [
  [names.prefix, 'windowsmachineconfig.openshift.io'],
  [names.operatorName, 'windows-machine-config-operator'],
  [names.defaultNamespace, 'openshift-windows-machine-config-operator'],
  [names.trustedCaKey, 'ca-bundle.crt'],
  [names.injectTrustedCaLabel, 'config.openshift.io/inject-trusted-cabundle'],
  [names.monitoringLabel, 'openshift.io/cluster-monitoring'],
  [names.agentName, 'windows-instance-config-daemon'],
  [names.managedTag, 'OpenShift managed'],
  [names.vipEndpoint, 'VIPEndpoint'],
];
for (const [actual, want] of single) test(`keeps the name ${want}`, () => expect(actual).toBe(want));

test('services are listed in the order in which they start', () => {
  expect(Object.values(names.serviceName)).toEqual([
    'containerd',
    'kubelet',
    'windows_exporter',
    'hybrid-overlay-node',
    'csi-proxy',
    'kube-proxy',
    'cloud-node-manager',
  ]);
});

test('every managed service says so in its description', () => {
  expect(names.managedDescription('kubelet')).toBe('OpenShift managed kubelet');
  expect(names.managedDescription(names.agentName)).toBe('OpenShift managed windows-instance-config-daemon');
});

test('the agent asks for its first certificate as the service account of its namespace', () => {
  expect(names.agentServiceAccountUser('wmco')).toBe('system:serviceaccount:wmco:windows-instance-config-daemon');
});

test('prefixes of users end with a colon, so that no other user can begin with them', () => {
  expect(names.identity.nodeUserPrefix.endsWith(':')).toBe(true);
  expect(names.identity.agentUserPrefix.endsWith(':')).toBe(true);
  expect('system:wicd-nodes:x'.startsWith(names.identity.agentUserPrefix)).toBe(false);
});

test('proxy variables are written in the order the Go operator writes them', () => {
  expect(names.proxyVariables).toEqual(['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY']);
});

test('ports are those users opened in their firewalls', () => {
  expect(names.ports).toEqual({ ssh: 22, kubelet: 10_250, exporter: 9182 });
});

test('platforms are spelled as the Infrastructure object spells them', () => {
  expect(names.platforms).toEqual(['AWS', 'Azure', 'GCP', 'VSphere', 'Nutanix', 'None']);
});

test('no two annotations and no two labels are the same', () => {
  for (const list of [names.nodeAnnotation, names.nodeLabel, names.secretName, names.configMapName]) {
    expect(new Set(Object.values(list)).size).toBe(Object.keys(list).length);
  }
});

test('every annotation and label is a qualified name that Kubernetes accepts', () => {
  const qualified = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
  const all = [...Object.values(names.nodeAnnotation), ...Object.values(names.nodeLabel), names.managedByLabel.key];
  for (const name of [...all, ...Object.values(names.machineLabel), names.monitoringLabel]) {
    expect(name).toMatch(qualified);
  }
});
