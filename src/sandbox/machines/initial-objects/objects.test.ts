import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { textFromBase64 } from '#base/bytes.ts';
import { checkCluster, openshiftFacts } from '#cluster/openshift.ts';
import { defaultNamespace, secretName } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { payloadKubeletVersion } from '#contract/version.ts';
import { apiVersionOf } from '#kube/resource.ts';
import {
  clusterRoleBindings,
  configMaps,
  customResourceDefinitions,
  namespaces,
  nodes,
  secrets,
  serviceAccounts,
} from '#kube/resources.ts';
import { machineSets } from '#kube/resources-openshift.ts';
import { type EmbeddedCluster, startEmbeddedCluster } from '../../embedded-cluster.ts';
import type { StoredObject } from '../../apiserver/ports.ts';
import { quiet } from '../../../../test/kit/local-api.ts';
import { definitions } from './definitions.ts';
import { createInitialObjects } from './install.ts';
import { type InitialFacts, initialObjects } from './objects.ts';

const facts: InitialFacts = {
  kind: 'openshift',
  namespace: defaultNamespace,
  platform: 'None',
  apiServerUrl: 'https://127.0.0.1:6443',
  ca: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  privateKey: 'the private key',
  instances: { '10.0.1.12': 'username=Administrator' },
  machines: 2,
  nowMs: Date.UTC(2026, 2, 1),
};

let cluster: EmbeddedCluster;
beforeAll(async () => {
  cluster = await startEmbeddedCluster();
  await createInitialObjects(cluster.api, { ...facts, ca: cluster.ca }, systemClock);
  await quiet(cluster.api);
});
afterAll(() => cluster.close());

const settings = {
  namespace: defaultNamespace,
  version: '1',
  debug: false,
  logRotation: { fileSize: '', fileAge: '', flushInterval: '' },
  proxy: {},
};

/** Everything in the cluster, as a dump of it would show it. */
function dump() {
  const kinds = cluster.api.resources();
  return kinds.flatMap(kind =>
    cluster.api.list(kind).map(object => readObject({ ...object, apiVersion: apiVersionOf(kind), kind: kind.kind })),
  );
}

test('the operator finds every fact it needs', () => {
  const { facts: found, findings } = openshiftFacts(dump(), settings);
  expect(findings).toEqual([]);
  expect(found).toMatchObject({
    platform: 'None',
    apiServerUrl: 'https://127.0.0.1:6443',
    network: { serviceCidr: '172.30.0.0/16', clusterDns: '172.30.0.10', vxlanPort: '' },
    kubeletArguments: {},
    workerFiles: {},
    kubeletCa: cluster.ca,
    registryBundles: [],
  });
});

test('every check of a cluster passes', () => {
  const failed = checkCluster(dump(), settings, payloadKubeletVersion).filter(({ ok }) => !ok);
  expect(failed).toEqual([]);
});

test.each(['None', 'VSphere', 'Nutanix', 'Azure', 'AWS', 'GCP'])('every check passes on %s, too', platform => {
  const objects = initialObjects({ ...facts, platform, ca: cluster.ca }).map(({ resource, object }) =>
    readObject({ apiVersion: apiVersionOf(resource), kind: resource.kind, ...object }),
  );
  expect(checkCluster(objects, settings, payloadKubeletVersion).filter(({ ok }) => !ok)).toEqual([]);
});

const find = (resource: Parameters<EmbeddedCluster['api']['get']>[0], name: string, namespace = '') =>
  cluster.api.get(resource, { namespace, name });
const dataOf = (object: StoredObject | undefined, key: string) =>
  textFromBase64((object?.['data'] as Record<string, string> | undefined)?.[key] ?? '');

test('namespaces of OpenShift and of the operator are there, that one watched by the monitoring', () => {
  const names = cluster.api.list(namespaces).map(({ metadata }) => metadata.name);
  for (const name of ['openshift-machine-api', 'openshift-machine-config-operator', 'openshift-config']) {
    expect(names).toContain(name);
  }
  expect(find(namespaces, defaultNamespace)?.metadata.labels).toMatchObject({
    'openshift.io/cluster-monitoring': 'true',
  });
});

test('the private key is the one given, and the TLS pair is left to the service CA', () => {
  const key = find(secrets, secretName.privateKey, defaultNamespace);
  expect(dataOf(key, 'private-key.pem')).toBe('the private key');
  expect(find(secrets, secretName.tls, defaultNamespace)).toBeUndefined();
  expect(dataOf(find(secrets, secretName.pullSecret, 'openshift-config'), '.dockerconfigjson')).toBe('{"auths":{}}');
});

test('the bootstrap token is filled in by the cluster and may ask for certificates', async () => {
  const token = () => find(secrets, secretName.bootstrapToken, 'openshift-machine-config-operator');
  await expect
    .poll(() => Object.keys((token()?.['data'] as object | undefined) ?? {}).sort())
    .toEqual(['ca.crt', 'namespace', 'token']);
  expect(find(serviceAccounts, 'node-bootstrapper', 'openshift-machine-config-operator')).toBeDefined();
  expect(find(clusterRoleBindings, 'system-bootstrap-node-bootstrapper')).toMatchObject({
    roleRef: { name: 'system:node-bootstrapper' },
  });
});

test('kube-proxy may read Services with the identity of its node', () => {
  expect(find(clusterRoleBindings, 'system:node-proxiers')).toMatchObject({
    roleRef: { name: 'system:node-proxier' },
    subjects: [{ kind: 'Group', name: 'system:nodes' }],
  });
});

test('service accounts of operator and agent are there', () => {
  for (const name of ['windows-machine-config-operator', 'windows-instance-config-daemon']) {
    expect(find(serviceAccounts, name, defaultNamespace)).toBeDefined();
  }
});

test('hosts are listed, and a MachineSet wants as many Machines as were asked for', () => {
  expect(find(configMaps, 'windows-instances', defaultNamespace)).toMatchObject({
    data: { '10.0.1.12': 'username=Administrator' },
  });
  expect(find(machineSets, 'winworker', 'openshift-machine-api')).toMatchObject({
    spec: {
      replicas: 2,
      template: {
        metadata: { labels: { 'machine.openshift.io/os-id': 'Windows' } },
        spec: {
          metadata: { labels: { 'node-role.kubernetes.io/worker': '' } },
          providerSpec: { value: { userDataSecret: { name: 'windows-user-data' } } },
        },
      },
    },
  });
});

test('there are Linux nodes beside, ready and of the version of the cluster', () => {
  for (const name of ['linux-control-plane-0', 'linux-worker-0']) {
    expect(find(nodes, name)).toMatchObject({
      status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: payloadKubeletVersion } },
    });
  }
});

const without: [string, Partial<InitialFacts>, string][] = [
  ['a private key', { privateKey: undefined }, secretName.privateKey],
  ['listed hosts', { instances: undefined }, 'windows-instances'],
  ['Machines', { machines: 0 }, 'winworker'],
];
for (const [name, over, missing] of without) {
  test(`a cluster without ${name} lacks only ${missing}`, () => {
    const names = (given: InitialFacts) => initialObjects(given).map(({ object }) => object.metadata.name);
    expect(names({ ...facts, ...over })).toEqual(names(facts).filter(each => each !== missing));
  });
}

test('every kind of the initial objects has a CRD or is built in', () => {
  const defined = new Set(definitions().map(({ metadata }) => metadata.name));
  for (const { resource } of initialObjects(facts)) {
    const isCore = ['', 'rbac.authorization.k8s.io'].includes(resource.group);
    expect(isCore || defined.has(`${resource.plural}.${resource.group}`)).toBe(true);
  }
});

test('all definitions are accepted by the API server, that of WindowsInstance among them', () => {
  for (const { metadata } of definitions()) {
    const stored = cluster.api.get(customResourceDefinitions, { namespace: '', name: metadata.name ?? '' });
    expect(stored).toMatchObject({
      status: {
        conditions: expect.arrayContaining([expect.objectContaining({ type: 'Established', status: 'True' })]),
      },
    });
  }
  expect(definitions().map(({ metadata }) => metadata.name)).toContain(
    'windowsinstances.windowsmachineconfig.openshift.io',
  );
});

test('kubectl shows what matters of Machines', () => {
  const machines = definitions().find(({ metadata }) => metadata.name === 'machines.machine.openshift.io');
  expect(machines?.spec.versions[0]?.['additionalPrinterColumns']).toMatchObject([
    { name: 'Phase' },
    { name: 'Address' },
    { name: 'Node' },
  ]);
});

test('the initial objects can be created only once', async () => {
  await expect(createInitialObjects(cluster.api, facts, systemClock)).rejects.toThrow(/already exists/);
});

const kubernetesObjects = (more: Partial<InitialFacts> = {}) =>
  initialObjects({ ...facts, kind: 'kubernetes', platform: 'None', ...more }).map(
    ({ resource, object }) => `${resource.kind}/${object.metadata.name}`,
  );

test('a Kubernetes cluster has what kubeadm and an administrator create', () => {
  expect(kubernetesObjects()).toEqual([
    `Namespace/${defaultNamespace}`,
    'ConfigMap/cluster-info',
    'ConfigMap/kubeadm-config',
    'ServiceCIDR/kubernetes',
    'Service/kubernetes',
    'EndpointSlice/kubernetes',
    'Service/kube-dns',
    'Node/linux-control-plane-0',
    'Node/linux-worker-0',
    'ServiceAccount/windows-machine-config-operator',
    'ServiceAccount/windows-instance-config-daemon',
    'Secret/cloud-private-key',
    'ConfigMap/windows-instances',
  ]);
});

test('an administrator of a Kubernetes cluster sets its platform', () => {
  expect(kubernetesObjects({ platform: 'VSphere' })).toContain('ConfigMap/windows-cluster');
});

test('a Kubernetes cluster has a CRD for each kind that is not built in', () => {
  const defined = definitions('kubernetes').map(({ metadata }) => metadata.name);
  expect(defined).toEqual([
    'endpointslices.discovery.k8s.io',
    'servicecidrs.networking.k8s.io',
    'windowsinstances.windowsmachineconfig.openshift.io',
  ]);
});
