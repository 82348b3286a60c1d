import { expect, test } from 'vitest';
import { builtInType, emptyObject } from './built-in-types.ts';
import { type MergeType, memberType } from './merge-type.ts';

/** The type at a path; a star stands for the items of a list. */
function typeAt(group: string, kind: string, path: string): MergeType | undefined {
  let type: MergeType | undefined = builtInType(group, kind);
  for (const step of path.split('.')) {
    if (type === undefined) return undefined;
    if (step === '*') type = type.is === 'list' ? type.item : undefined;
    else type = memberType(type, step)?.type;
  }
  return type;
}

/** As the OpenAPI document of kube-apiserver 1.20 has them: list-map-keys and patch-merge-key. */
const lists: [string, string, string, string[], string | undefined][] = [
  ['', 'ConfigMap', 'metadata.finalizers', [], ''],
  ['', 'ConfigMap', 'metadata.ownerReferences', ['uid'], 'uid'],
  ['example.com', 'Anything', 'metadata.ownerReferences', ['uid'], 'uid'],
  ['', 'Namespace', 'status.conditions', ['type'], 'type'],
  ['', 'Node', 'spec.podCIDRs', [], ''],
  ['', 'Node', 'status.addresses', ['type'], 'type'],
  ['', 'Node', 'status.conditions', ['type'], 'type'],
  ['', 'Pod', 'spec.containers', ['name'], 'name'],
  ['', 'Pod', 'spec.initContainers', ['name'], 'name'],
  ['', 'Pod', 'spec.ephemeralContainers', ['name'], 'name'],
  ['', 'Pod', 'spec.containers.*.env', ['name'], 'name'],
  ['', 'Pod', 'spec.containers.*.ports', ['containerPort', 'protocol'], 'containerPort'],
  ['', 'Pod', 'spec.containers.*.volumeDevices', ['devicePath'], 'devicePath'],
  ['', 'Pod', 'spec.initContainers.*.volumeMounts', ['mountPath'], 'mountPath'],
  ['', 'Pod', 'spec.hostAliases', ['ip'], 'ip'],
  ['', 'Pod', 'spec.imagePullSecrets', ['name'], 'name'],
  ['', 'Pod', 'spec.topologySpreadConstraints', ['topologyKey', 'whenUnsatisfiable'], 'topologyKey'],
  ['', 'Pod', 'spec.volumes', ['name'], 'name'],
  ['', 'Pod', 'status.conditions', ['type'], 'type'],
  ['', 'Pod', 'status.podIPs', ['ip'], 'ip'],
  ['', 'Service', 'spec.ports', ['port', 'protocol'], 'port'],
  ['', 'Service', 'status.conditions', ['type'], 'type'],
  ['', 'ServiceAccount', 'secrets', ['name'], 'name'],
  ['', 'PersistentVolumeClaim', 'status.conditions', ['type'], 'type'],
  ['', 'ReplicationController', 'spec.template.spec.containers', ['name'], 'name'],
  ['', 'PodTemplate', 'template.spec.volumes', ['name'], 'name'],
  ['apps', 'Deployment', 'spec.template.spec.containers.*.env', ['name'], 'name'],
  ['apps', 'Deployment', 'spec.template.metadata.ownerReferences', ['uid'], 'uid'],
  ['apps', 'Deployment', 'status.conditions', ['type'], 'type'],
  ['apps', 'DaemonSet', 'spec.template.spec.volumes', ['name'], 'name'],
  ['apps', 'ReplicaSet', 'status.conditions', ['type'], 'type'],
  ['apps', 'StatefulSet', 'status.conditions', ['type'], 'type'],
  ['batch', 'Job', 'spec.template.spec.containers', ['name'], 'name'],
  ['batch', 'CronJob', 'spec.jobTemplate.spec.template.spec.containers', ['name'], 'name'],
  ['policy', 'PodDisruptionBudget', 'status.conditions', ['type'], 'type'],
  ['apiregistration.k8s.io', 'APIService', 'status.conditions', ['type'], 'type'],
  ['certificates.k8s.io', 'CertificateSigningRequest', 'status.conditions', ['type'], undefined],
];

test.each(lists)('finds items of %s %s %s by %j', (...[group, kind, path, keys, mergeBy]) => {
  const type = typeAt(group, kind, path);
  expect(type).toMatchObject({ is: 'list', keys });
  expect(type?.is === 'list' ? type.mergeBy : 'no list').toBe(mergeBy);
});

const wholes: [string, string, string][] = [
  ['', 'Pod', 'spec.tolerations'],
  ['', 'Pod', 'spec.containers.*.command'],
  ['', 'Pod', 'spec.containers.*.envFrom'],
  ['', 'Node', 'spec.taints'],
  ['', 'Node', 'status.images'],
  ['', 'ServiceAccount', 'imagePullSecrets'],
  ['', 'Endpoints', 'subsets'],
  ['', 'Service', 'spec.clusterIPs'],
  ['', 'Namespace', 'spec.finalizers'],
  ['rbac.authorization.k8s.io', 'ClusterRole', 'rules'],
  ['rbac.authorization.k8s.io', 'RoleBinding', 'subjects'],
  ['apps', 'StatefulSet', 'spec.volumeClaimTemplates'],
  ['certificates.k8s.io', 'CertificateSigningRequest', 'spec.usages'],
  ['apiextensions.k8s.io', 'CustomResourceDefinition', 'spec.versions'],
];

test.each(wholes)('replaces the list %s %s %s as a whole', (group, kind, path) => {
  expect(typeAt(group, kind, path)?.is).not.toBe('list');
});

const selectors: [string, string, string][] = [
  ['apps', 'Deployment', 'spec.selector'],
  ['apps', 'DaemonSet', 'spec.selector'],
  ['batch', 'Job', 'spec.selector'],
  ['', 'PersistentVolumeClaim', 'spec.selector'],
  ['networking.k8s.io', 'NetworkPolicy', 'spec.podSelector'],
  ['policy', 'PodDisruptionBudget', 'spec.selector'],
  ['', 'Pod', 'spec.topologySpreadConstraints.*.labelSelector'],
];

test.each(selectors)('keeps the selector %s %s %s together', (group, kind, path) => {
  expect(typeAt(group, kind, path)?.is).toBe('leaf');
});

test('merges the selector of a Service label by label', () => {
  expect(typeAt('', 'Service', 'spec.selector')).toEqual({ is: 'free', named: true });
});

test('replaces the selector of a PodDisruptionBudget even by strategic merge patch', () => {
  expect(typeAt('policy', 'PodDisruptionBudget', 'spec.selector')).toEqual({ is: 'leaf', replaced: true });
});

test('takes a port without a protocol for TCP', () => {
  expect(typeAt('', 'Service', 'spec.ports')).toMatchObject({ defaults: { protocol: 'TCP' } });
  expect(typeAt('', 'Pod', 'spec.containers.*.ports')).toMatchObject({ defaults: { protocol: 'TCP' } });
});

test('does not mistake a kind of another group for a built-in one', () => {
  expect(typeAt('example.com', 'Pod', 'spec.containers')).toEqual({ is: 'free', named: true });
  expect(builtInType('', 'constructor')).toEqual(builtInType('', 'ConfigMap'));
});

const empties: [string, string, unknown][] = [
  ['', 'ConfigMap', { metadata: {} }],
  ['', 'Secret', { metadata: {} }],
  ['', 'Pod', { metadata: {}, spec: { containers: null }, status: {} }],
  ['', 'Node', { metadata: {}, spec: {}, status: { daemonEndpoints: { kubeletEndpoint: {} }, nodeInfo: {} } }],
  ['', 'Service', { metadata: {}, spec: {}, status: { loadBalancer: {} } }],
  ['', 'Event', { metadata: {}, involvedObject: {}, source: {} }],
  ['coordination.k8s.io', 'Lease', { metadata: {}, spec: {} }],
  ['rbac.authorization.k8s.io', 'RoleBinding', { metadata: {}, roleRef: {} }],
  [
    'apps',
    'Deployment',
    {
      metadata: {},
      spec: { strategy: {}, template: { metadata: {}, spec: { containers: null } } },
      status: {},
    },
  ],
  ['example.com', 'Pod', { metadata: {} }],
  ['', 'toString', { metadata: {} }],
];

test.each(empties)('knows what a new %s %s always holds', (group, kind, want) => {
  expect(emptyObject(group, kind)).toEqual(want);
});
