import { expect, test } from 'vitest';
import { operatorName } from '#contract/names.ts';
import { operatorPermissions } from '#operator/permissions.ts';
import type { Permission } from '#kube/permissions.ts';
import type { PolicyRule } from '#kube/resources.ts';
import { operatorDeployment } from '../deployment.ts';
import { clusterServiceVersion } from './csv.ts';
import { serviceRules } from './rules.ts';

const digest = (letter: string) => `sha256:${letter.repeat(64)}`;
const options = { version: '11.0.0', image: 'quay.io/a/operator:v1', bundleImage: 'quay.io/a/bundle:v1' };
const { metadata, spec } = clusterServiceVersion(options);

/** Where OLM lets the operator use a permission. */
const places: [name: string, permission: Permission['in'], place: 'own' | 'cluster'][] = [
  ['the namespace of the operator', 'own namespace', 'own'],
  ['the cluster', 'cluster', 'cluster'],
  ['openshift-machine-api', { namespace: 'openshift-machine-api' }, 'cluster'],
  ['default', { namespace: 'default' }, 'cluster'],
];
for (const [name, where, place] of places) {
  test(`a permission in ${name} becomes one of ${place === 'own' ? 'a Role' : 'a ClusterRole'}`, () => {
    const rules = serviceRules([{ in: where, group: '', resources: ['secrets'], verbs: ['get'], names: ['a'] }]);
    const other = place === 'own' ? 'cluster' : 'own';
    expect(rules[place]).toEqual([{ apiGroups: [''], resources: ['secrets'], resourceNames: ['a'], verbs: ['get'] }]);
    expect(rules[other]).toEqual([]);
  });
}

const covers = (rule: PolicyRule, { group, resources, verbs, names }: Permission) =>
  rule.apiGroups?.includes(group) === true &&
  resources.every(each => rule.resources?.includes(each)) &&
  verbs.every(each => rule.verbs.includes(each)) &&
  (rule.resourceNames === undefined || names?.every(each => rule.resourceNames?.includes(each)) === true);
const each = (permission: Permission): Permission[] =>
  permission.resources.flatMap(resource =>
    permission.verbs.map(verb => ({ ...permission, resources: [resource], verbs: [verb] })),
  );

test('OLM grants every permission of the operator, and none of its own namespace for the whole cluster', () => {
  const { own, cluster } = serviceRules();
  const missing = operatorPermissions.flatMap(each).filter(permission => {
    const granted = permission.in === 'own namespace' ? own : cluster;
    return permission.names?.length !== 0 && !granted.some(rule => covers(rule, permission));
  });
  expect(missing).toEqual([]);
  expect(cluster.filter(({ resources }) => resources?.includes('configmaps'))).toEqual([]);
  const secrets = cluster.filter(({ resources }) => resources?.includes('secrets'));
  expect(
    secrets.filter(({ resourceNames, verbs }) => resourceNames === undefined && verbs.join() !== 'create'),
  ).toEqual([]);
});

test('the pod is that of an installation without OLM', () => {
  const [deployment] = spec.install.spec.deployments;
  const { spec: same } = operatorDeployment({ namespace: 'x', image: options.image, platform: 'openshift' });
  expect(deployment).toMatchObject({ name: operatorName, spec: same });
});

test('a release names its images by digest', () => {
  const image = `quay.io/a/operator@${digest('a')}`;
  const pauseImage = `mcr.microsoft.com/oss/kubernetes/pause@${digest('b')}`;
  const release = clusterServiceVersion({ ...options, image, pauseImage, createdAt: '2026-01-02T03:04:05Z' });
  expect(release.spec.relatedImages).toEqual([
    { name: 'operator', image },
    { name: 'pause', image: pauseImage },
  ]);
  expect(release.metadata.annotations).toMatchObject({ containerImage: image, createdAt: '2026-01-02T03:04:05Z' });
  expect(metadata.annotations).not.toHaveProperty('createdAt');
});

test('names that users and guides depend on', () => {
  expect(metadata.name).toBe('windows-machine-config-operator.v11.0.0');
  expect(metadata.annotations).toMatchObject({
    'operatorframework.io/suggested-namespace': 'openshift-windows-machine-config-operator',
    'operatorframework.io/cluster-monitoring': 'true',
    'olm.skipRange': '>=10.22.0 <11.0.0',
  });
  expect(spec.displayName).toBe('Windows Machine Config Operator');
  expect(spec.installModes.filter(({ supported }) => supported)).toEqual([{ type: 'OwnNamespace', supported: true }]);
});
