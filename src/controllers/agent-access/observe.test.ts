import { expect, test } from 'vitest';
import { nodeAnnotation } from '#contract/names.ts';
import type { Resource } from '#kube/resource.ts';
import { clusterRoles, configMaps, nodes, roles } from '#kube/resources.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { benchNamespace as namespace, benchVersion as version } from '../../../test/kit/source-bench.ts';
import { WatchedApi } from '../../../test/kit/watched-api.ts';
import { findIn, marksOf, observeNode, observeShared, sourcesFrom } from './observe.ts';

function world() {
  const api = new WatchedApi(manualClock());
  return { api, sources: sourcesFrom(api.informers, namespace) };
}

test('watches nothing that it does not need', () => {
  const asked: string[] = [];
  const api = new WatchedApi(manualClock());
  const get = (resource: Resource, scope = {}) => {
    asked.push(`${resource.plural} ${JSON.stringify(scope)}`);
    return api.informers.get(resource, scope);
  };
  sourcesFrom({ get: get as typeof api.informers.get }, namespace);
  expect(asked).toEqual([
    'nodes {}',
    'configmaps {"namespace":"wmco"}',
    'serviceaccounts {"namespace":"wmco"}',
    'roles {"namespace":"wmco"}',
    'rolebindings {"namespace":"wmco"}',
    'roles {"namespace":"default"}',
    'rolebindings {"namespace":"default"}',
    'clusterroles {"labelSelector":"app.kubernetes.io/part-of=wicd"}',
    'clusterrolebindings {"labelSelector":"app.kubernetes.io/part-of=wicd"}',
  ]);
});

test('names the services ConfigMaps there are, and the own one even before it is there', () => {
  const { api, sources } = world();
  expect(observeShared(sources, { namespace, version }).configMaps).toEqual([`windows-services-${version}`]);
  for (const name of [`windows-services-${version}`, 'windows-services-old', 'windows-instances'])
    api.put(configMaps, { metadata: { name, namespace } });
  api.put(configMaps, { metadata: { name: 'windows-services-elsewhere', namespace: 'other' } });
  expect(observeShared(sources, { namespace, version }).configMaps).toEqual([
    `windows-services-${version}`,
    'windows-services-old',
  ]);
});

test('sees agents of the Go operator', () => {
  const { api, sources } = world();
  api.put(configMaps, { metadata: { name: 'windows-services-go', namespace }, data: { services: '[]' } });
  expect(observeShared(sources, { namespace, version }).formerAgents).toBe(false);
  api.put(nodes, {
    metadata: {
      name: 'w',
      labels: { 'kubernetes.io/os': 'windows' },
      annotations: { [nodeAnnotation.version]: 'go' },
    },
  });
  expect(observeShared(sources, { namespace, version }).formerAgents).toBe(true);
});

test('reads a Node by its name', () => {
  const { api, sources } = world();
  expect(observeNode(sources, 'w')).toBeUndefined();
  api.put(nodes, { metadata: { name: 'w', uid: 'u-1', labels: { a: 'b' } } });
  expect(observeNode(sources, 'w')).toMatchObject({ name: 'w', uid: 'u-1', labels: { a: 'b' }, annotations: {} });
});

test('finds objects of either scope, by kind, namespace and name', () => {
  const { api, sources } = world();
  const labels = { 'app.kubernetes.io/part-of': 'wicd' };
  api.put(clusterRoles, { metadata: { name: 'r', labels, uid: 'cluster' } });
  api.put(roles, { metadata: { name: 'r', namespace, uid: 'own' } });
  api.put(roles, { metadata: { name: 'r', namespace: 'default', uid: 'default' } });
  api.put(roles, { metadata: { name: 'r', namespace: 'other', uid: 'other' } });
  const found = (resource: typeof roles, place?: string) =>
    findIn(sources, { resource, object: { metadata: { name: 'r', ...(place && { namespace: place }) } } })?.metadata
      .uid;
  expect([found(clusterRoles), found(roles, namespace), found(roles, 'default'), found(roles, 'other')]).toEqual([
    'cluster',
    'own',
    'default',
    undefined,
  ]);
});

test('does not find a role of the cluster that lacks our label', () => {
  const { api, sources } = world();
  api.put(clusterRoles, { metadata: { name: 'r' } });
  expect(findIn(sources, { resource: clusterRoles, object: { metadata: { name: 'r' } } })).toBeUndefined();
});

test('takes a Node without labels and annotations as it is', () => {
  expect(marksOf({ metadata: { name: 'n' } })).toEqual({ labels: {}, annotations: {} });
});
