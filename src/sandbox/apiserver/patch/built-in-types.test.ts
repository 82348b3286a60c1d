import { expect, test } from 'vitest';
import { builtInType } from './built-in-types.ts';
import { type MergeType, memberType } from './merge-type.ts';

/** The type at a path; a star stands for the items of a list. */
function typeAt(group: string, kind: string, path: string): MergeType | undefined {
  let type: MergeType | undefined = builtInType(group, kind);
  for (const step of path.split('.')) {
    if (type === undefined) return undefined;
    if (step === '*') type = type.is === 'list' ? type.item : undefined;
    else type = memberType(type, step);
  }
  return type;
}

/** As the OpenAPI document of kube-apiserver 1.20 has them: patch-merge-key. */
const lists: [string, string, string, string][] = [
  ['', 'ConfigMap', 'metadata.finalizers', ''],
  ['', 'ConfigMap', 'metadata.ownerReferences', 'uid'],
  ['example.com', 'Anything', 'metadata.ownerReferences', 'uid'],
  ['', 'Namespace', 'status.conditions', 'type'],
  ['', 'Node', 'spec.podCIDRs', ''],
  ['', 'Node', 'status.addresses', 'type'],
  ['', 'Node', 'status.conditions', 'type'],
  ['', 'Pod', 'spec.containers', 'name'],
  ['', 'Pod', 'spec.initContainers', 'name'],
  ['', 'Pod', 'spec.ephemeralContainers', 'name'],
  ['', 'Pod', 'spec.containers.*.env', 'name'],
  ['', 'Pod', 'spec.containers.*.ports', 'containerPort'],
  ['', 'Pod', 'spec.containers.*.volumeDevices', 'devicePath'],
  ['', 'Pod', 'spec.initContainers.*.volumeMounts', 'mountPath'],
  ['', 'Pod', 'spec.hostAliases', 'ip'],
  ['', 'Pod', 'spec.imagePullSecrets', 'name'],
  ['', 'Pod', 'spec.topologySpreadConstraints', 'topologyKey'],
  ['', 'Pod', 'spec.volumes', 'name'],
  ['', 'Pod', 'status.conditions', 'type'],
  ['', 'Pod', 'status.podIPs', 'ip'],
  ['', 'Service', 'spec.ports', 'port'],
  ['', 'Service', 'status.conditions', 'type'],
  ['', 'ServiceAccount', 'secrets', 'name'],
  ['apps', 'Deployment', 'spec.template.spec.containers.*.env', 'name'],
  ['apps', 'Deployment', 'spec.template.metadata.ownerReferences', 'uid'],
  ['apps', 'Deployment', 'status.conditions', 'type'],
  ['apps', 'DaemonSet', 'spec.template.spec.volumes', 'name'],
  ['apps', 'ReplicaSet', 'status.conditions', 'type'],
  ['policy', 'PodDisruptionBudget', 'status.conditions', 'type'],
];

test.each(lists)('finds items of %s %s %s by %j', (group, kind, path, mergeBy) => {
  expect(typeAt(group, kind, path)).toMatchObject({ is: 'list', mergeBy });
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
  ['certificates.k8s.io', 'CertificateSigningRequest', 'spec.usages'],
  ['certificates.k8s.io', 'CertificateSigningRequest', 'status.conditions'],
  ['apiextensions.k8s.io', 'CustomResourceDefinition', 'spec.versions'],
];

test.each(wholes)('replaces the list %s %s %s as a whole', (group, kind, path) => {
  expect(typeAt(group, kind, path)?.is).not.toBe('list');
});

test('replaces the selector of a PodDisruptionBudget as a whole', () => {
  expect(typeAt('policy', 'PodDisruptionBudget', 'spec.selector')).toEqual({ is: 'replaced' });
});

test('treats a kind of another group as custom', () => {
  expect(typeAt('example.com', 'Pod', 'spec.containers')).toEqual({ is: 'plain' });
  expect(builtInType('', 'constructor')).toEqual(builtInType('', 'ConfigMap'));
});
