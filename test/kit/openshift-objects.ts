import { toBase64 } from '../../src/base/bytes.ts';
import { printPem } from '../../src/base/pem.ts';
import { configMapName, defaultNamespace, injectTrustedCaLabel, trustedCaKey } from '../../src/contract/names.ts';
import { type KubeObject, readObject } from '../../src/contract/object.ts';

/** Objects of an OpenShift cluster as `oc get -o yaml` shows them, reduced to what is read or might mislead a reader. */
export type PlainObject = Record<string, unknown>;

export const kubeletCaPem = printPem('CERTIFICATE', new Uint8Array([0x30, 0x03, 0x02, 0x01, 0x2a]));
export const registryCaPem = printPem('CERTIFICATE', new Uint8Array([0x30, 0x03, 0x02, 0x01, 0x2b]));
export const cloudConfigText = '{"cloud":"AzurePublicCloud","resourceGroup":"east-7x2kq-rg"}\n';
export const credentialProviderText = `apiVersion: kubelet.config.k8s.io/v1
kind: CredentialProviderConfig
providers:
  - name: ecr-credential-provider
    matchImages:
      - "*.dkr.ecr.*.amazonaws.com"
    defaultCacheDuration: "12h"
    apiVersion: credentialprovider.kubelet.k8s.io/v1
`;

/** `networks.config.openshift.io` cluster. */
export function networkConfig(spec: PlainObject = {}): PlainObject {
  return object('config.openshift.io/v1', 'Network', {
    spec: {
      networkType: 'OVNKubernetes',
      clusterNetwork: [{ cidr: '10.128.0.0/14', hostPrefix: 23 }],
      serviceNetwork: ['172.30.0.0/16'],
      externalIP: { policy: {} },
      ...spec,
    },
    status: { networkType: 'OVNKubernetes', serviceNetwork: ['172.30.0.0/16'], clusterNetworkMTU: 8901 },
  });
}

/** `networks.operator.openshift.io` cluster, by default with a hybrid overlay. */
export function networkOperator(hybridOverlayConfig: PlainObject | null = hybridOverlay()): PlainObject {
  return object('operator.openshift.io/v1', 'Network', {
    spec: {
      managementState: 'Managed',
      defaultNetwork: {
        type: 'OVNKubernetes',
        ovnKubernetesConfig: { mtu: 8901, genevePort: 6081, ...(hybridOverlayConfig && { hybridOverlayConfig }) },
      },
    },
  });
}

export function hybridOverlay(members: PlainObject = {}): PlainObject {
  return { hybridClusterNetwork: [{ cidr: '10.132.0.0/14', hostPrefix: 23 }], ...members };
}

export function infrastructure(platform: string, status: PlainObject = {}): PlainObject {
  return object('config.openshift.io/v1', 'Infrastructure', {
    spec: { platformSpec: { type: platform } },
    status: {
      infrastructureName: 'east-7x2kq',
      platform,
      platformStatus: { type: platform },
      apiServerURL: 'https://api.east.example.com:6443',
      apiServerInternalURI: 'https://api-int.east.example.com:6443',
      ...status,
    },
  });
}

export function apiServer(spec: PlainObject = {}): PlainObject {
  return object('config.openshift.io/v1', 'APIServer', { spec: { audit: { profile: 'Default' }, ...spec } });
}

/** The kubelet unit of a Linux worker with the options given last, each on its own line. */
export function kubeletUnit(options: readonly string[] = []): string {
  const command = [
    '/usr/local/bin/kubenswrapper',
    '/usr/bin/kubelet',
    '--config=/etc/kubernetes/kubelet.conf',
    '--kubeconfig=/var/lib/kubelet/kubeconfig',
    // oxlint-disable-next-line no-template-curly-in-string -- systemd resolves it
    '--node-labels=node-role.kubernetes.io/worker,node.openshift.io/os_id=${ID}',
    ...options,
    '--v=2',
  ];
  const pre = 'ExecStartPre=/bin/mkdir --parents /etc/kubernetes/manifests';
  const start = `ExecStart=${command.join(' \\\n      ')}`;
  return `[Unit]\nRequires=crio.service\n\n[Service]\nType=notify\n${pre}\n${start}\n\nRestart=always\n\n[Install]\nWantedBy=multi-user.target\n`;
}

/** A file in an ignition config, stored as base64 in a `data:` URL. */
export function ignitionFile(path: string, content: string | Uint8Array, contents: PlainObject = {}): PlainObject {
  const source = `data:text/plain;charset=utf-8;base64,${toBase64(content)}`;
  return { path, mode: 420, overwrite: true, contents: { source, compression: '', ...contents } };
}

export interface MachineConfigParts {
  name?: string;
  creationTimestamp?: string;
  unit?: string;
  files?: PlainObject[];
  /** Replaces members of the ignition config. */
  config?: PlainObject;
}

export function machineConfig(parts: MachineConfigParts = {}): PlainObject {
  const { unit = kubeletUnit(), files = [], config = {} } = parts;
  const { name = 'rendered-worker-5d0c8f8b', creationTimestamp = '2026-03-01T08:00:00Z' } = parts;
  const units = [
    { name: 'crio.service', dropins: [{ name: '10-mco-default-env.conf', contents: '' }] },
    { name: 'kubelet.service', enabled: true, contents: unit },
  ];
  const ignition = { ignition: { version: '3.5.0' }, storage: { files }, systemd: { units }, ...config };
  return object('machineconfiguration.openshift.io/v1', 'MachineConfig', {
    metadata: { name, creationTimestamp },
    spec: { config: ignition, osImageURL: 'quay.io/openshift/os@sha256:00', kernelType: 'default' },
  });
}

/** `controllerconfigs.machineconfiguration.openshift.io` machine-config-controller; bytes are base64, as in the API. */
export function controllerConfig(spec: PlainObject = {}): PlainObject {
  return object('machineconfiguration.openshift.io/v1', 'ControllerConfig', {
    metadata: { name: 'machine-config-controller' },
    spec: {
      clusterDNSIP: '172.30.0.10',
      kubeAPIServerServingCAData: toBase64(kubeletCaPem),
      imageRegistryBundleUserData: [{ file: 'mirror.example.com..5000', data: toBase64(registryCaPem) }],
      imageRegistryBundleData: [
        { file: 'image-registry.openshift-image-registry.svc..5000', data: toBase64(kubeletCaPem) },
      ],
      ...spec,
    },
  });
}

/** `proxies.config.openshift.io` cluster, by default without a proxy, as every cluster has it. */
export function proxyConfig(status: PlainObject = {}): PlainObject {
  return object('config.openshift.io/v1', 'Proxy', { spec: { trustedCA: { name: '' } }, status });
}

/** The ConfigMap into which the cluster injects the CA bundle of its proxy. */
export function trustedCa(bundle: string | undefined, namespace: string = defaultNamespace): PlainObject {
  return object('v1', 'ConfigMap', {
    metadata: { name: configMapName.trustedCa, namespace, labels: { [injectTrustedCaLabel]: 'true' } },
    data: bundle === undefined ? {} : { [trustedCaKey]: bundle },
  });
}

export function linuxNode(name: string, kubeletVersion: string): PlainObject {
  return object('v1', 'Node', {
    metadata: { name, labels: { 'kubernetes.io/os': 'linux' } },
    status: { nodeInfo: { kubeletVersion, osImage: 'Red Hat Enterprise Linux CoreOS' } },
  });
}

/** Every object that facts are read from. Replace one with another, or leave it out with null. */
export type ClusterParts = Record<
  'networkConfig' | 'networkOperator' | 'infrastructure' | 'apiServer' | 'machineConfig' | 'controllerConfig' | 'node',
  PlainObject | null
>;

/** All objects of a healthy cluster on Azure; what is given replaces the object of that name. */
export function openshiftCluster(overrides: Partial<ClusterParts> = {}): PlainObject[] {
  const unit = kubeletUnit(['--cloud-provider=external', '--cloud-config=/etc/kubernetes/cloud.conf']);
  const parts: ClusterParts = {
    networkConfig: networkConfig(),
    networkOperator: networkOperator(),
    infrastructure: infrastructure('Azure'),
    apiServer: apiServer(),
    machineConfig: machineConfig({ unit, files: [ignitionFile('/etc/kubernetes/cloud.conf', cloudConfigText)] }),
    controllerConfig: controllerConfig(),
    node: linuxNode('east-master-0', 'v1.36.4'),
    ...overrides,
  };
  return Object.values(parts).filter(part => part !== null);
}

export function readObjects(objects: readonly PlainObject[]): KubeObject[] {
  return objects.map(readObject);
}

function object(apiVersion: string, kind: string, members: PlainObject): PlainObject {
  return { apiVersion, kind, metadata: { name: 'cluster' }, ...members };
}
