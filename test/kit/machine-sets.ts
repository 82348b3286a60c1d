import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { MachineSet } from '../../src/kube/resources-openshift.ts';
import { repositoryRoot } from './run-wmco.ts';

type Json = Record<string, unknown>;

/** Name of the cluster in `examples/machinesets.yaml` and in every set here. */
export const infrastructureName = 'winc-7qk4d';

const exampleSet = parse(readFileSync(join(repositoryRoot, 'examples', 'machinesets.yaml'), 'utf8')) as {
  spec: { template: { spec: { providerSpec: { value: Json } } } };
};

export const infrastructureOf = (type: string, name = infrastructureName) => ({
  apiVersion: 'config.openshift.io/v1',
  kind: 'Infrastructure',
  metadata: { name: 'cluster' },
  status: { infrastructureName: name, platformStatus: { type } },
});

interface SetChange {
  name?: string;
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
}

/** A MachineSet of workers as an installer makes it. */
export function linuxSet(value: Json, { name, annotations, labels }: SetChange = {}): MachineSet {
  const setName = name ?? `${infrastructureName}-worker`;
  const cluster = { 'machine.openshift.io/cluster-api-cluster': infrastructureName };
  const selected = { ...cluster, 'machine.openshift.io/cluster-api-machineset': setName };
  const role = {
    'machine.openshift.io/cluster-api-machine-role': 'worker',
    'machine.openshift.io/cluster-api-machine-type': 'worker',
  };
  return {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'MachineSet',
    metadata: {
      name: setName,
      namespace: 'openshift-machine-api',
      labels: cluster,
      ...(annotations && { annotations }),
    },
    spec: {
      replicas: 3,
      selector: { matchLabels: selected },
      template: {
        metadata: { labels: { ...selected, ...role, ...labels } },
        spec: { lifecycleHooks: {}, metadata: { labels: { tier: 'linux' } }, providerSpec: { value } },
      },
    },
  };
}

const { value: awsSpec } = exampleSet.spec.template.spec.providerSpec;

/** What installers write for Linux workers, by platform type. */
export const linuxSpecs = {
  AWS: awsSpec,
  Azure: {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'AzureMachineProviderSpec',
    metadata: { creationTimestamp: null },
    acceleratedNetworking: true,
    credentialsSecret: { name: 'azure-cloud-credentials', namespace: 'openshift-machine-api' },
    image: {
      offer: '',
      publisher: '',
      resourceID: `/resourceGroups/${infrastructureName}-rg/providers/Microsoft.Compute/galleries/gallery_winc/images/${infrastructureName}-gen2/versions/latest`,
      sku: '',
      version: '',
    },
    location: 'westeurope',
    managedIdentity: `${infrastructureName}-identity`,
    networkResourceGroup: `${infrastructureName}-rg`,
    osDisk: {
      diskSettings: {},
      diskSizeGB: 128,
      managedDisk: { securityProfile: { diskEncryptionSet: {} }, storageAccountType: 'Premium_LRS' },
      osType: 'Linux',
    },
    publicIP: false,
    publicLoadBalancer: infrastructureName,
    resourceGroup: `${infrastructureName}-rg`,
    securityProfile: { settings: { securityType: 'TrustedLaunch', trustedLaunch: { uefiSettings: {} } } },
    sshPublicKey: 'ssh-rsa AAAA',
    subnet: `${infrastructureName}-worker-subnet`,
    userDataSecret: { name: 'worker-user-data', namespace: 'openshift-machine-api' },
    vmSize: 'Standard_D4s_v5',
    vnet: `${infrastructureName}-vnet`,
    zone: '2',
  },
  GCP: {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'GCPMachineProviderSpec',
    metadata: { creationTimestamp: null },
    canIPForward: false,
    confidentialCompute: 'Enabled',
    credentialsSecret: { name: 'gcp-cloud-credentials' },
    deletionProtection: false,
    disks: [
      {
        autoDelete: true,
        boot: true,
        image: 'projects/rhcos-cloud/global/images/rhcos-9-6-gcp-x86-64',
        labels: null,
        sizeGb: 64,
        type: 'pd-ssd',
      },
      { autoDelete: true, boot: false, image: '', sizeGb: 20, type: 'pd-standard' },
    ],
    machineType: 'n2-standard-4',
    networkInterfaces: [
      { network: `${infrastructureName}-network`, subnetwork: `${infrastructureName}-worker-subnet` },
    ],
    projectID: 'winc-project',
    region: 'europe-west4',
    serviceAccounts: [{ email: `${infrastructureName}-w@winc-project.iam.gserviceaccount.com`, scopes: ['all'] }],
    shieldedInstanceConfig: {},
    tags: [`${infrastructureName}-worker`],
    userDataSecret: { name: 'worker-user-data' },
    zone: 'europe-west4-a',
  },
  VSphere: {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: 'VSphereMachineProviderSpec',
    metadata: { creationTimestamp: null },
    cloneMode: 'linkedClone',
    credentialsSecret: { name: 'vsphere-cloud-credentials' },
    diskGiB: 120,
    memoryMiB: 16384,
    network: {
      devices: [
        { networkName: 'segment-7', ipAddrs: ['10.0.7.20/24'], gateway: '10.0.7.1', nameservers: ['10.0.0.2'] },
      ],
    },
    numCPUs: 4,
    numCoresPerSocket: 4,
    snapshot: 'base',
    tagIDs: ['urn:vmomi:InventoryServiceTag:5736bf56:GLOBAL'],
    template: `${infrastructureName}-rhcos-generated-region-generated-zone`,
    userDataSecret: { name: 'worker-user-data' },
    workspace: {
      datacenter: 'dc1',
      datastore: '/dc1/datastore/ssd',
      folder: `/dc1/vm/${infrastructureName}`,
      resourcePool: '/dc1/host/cluster1/Resources',
      server: 'vcenter.example.com',
    },
  },
  Nutanix: {
    apiVersion: 'machine.openshift.io/v1',
    kind: 'NutanixMachineProviderConfig',
    metadata: { creationTimestamp: null },
    bootType: '',
    categories: [{ key: `kubernetes-io-cluster-${infrastructureName}`, value: 'owned' }],
    cluster: { type: 'uuid', uuid: '0005b0f1-8f43-a0f2-02b7-3cecef193712' },
    credentialsSecret: { name: 'nutanix-credentials' },
    image: { name: `${infrastructureName}-rhcos`, type: 'name' },
    memorySize: '16Gi',
    project: { type: '' },
    subnets: [{ type: 'uuid', uuid: 'c7938dc6-7659-453e-a688-e26020c68e43' }],
    systemDiskSize: '120Gi',
    userDataSecret: { name: 'worker-user-data' },
    vcpuSockets: 4,
    vcpusPerSocket: 2,
  },
} as const satisfies Record<string, Json>;
