import { expect, test } from 'vitest';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import type { WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import type { Resource } from '#kube/resource.ts';
import { clusterRoles, configMaps, nodes, roles } from '#kube/resources.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { benchNamespace as namespace, benchVersion as version } from '../../../test/kit/source-bench.ts';
import { WatchedApi } from '../../../test/kit/watched-api.ts';
import { findIn, observeNode, observeShared, informersFrom } from './observe.ts';

function setUp() {
  const api = new WatchedApi(manualClock());
  return { api, sources: informersFrom(api.informers, namespace) };
}

test('watches nothing that it does not need', () => {
  const asked: string[] = [];
  const api = new WatchedApi(manualClock());
  const get = (resource: Resource, scope = {}) => {
    asked.push(`${resource.plural} ${JSON.stringify(scope)}`);
    return api.informers.get(resource, scope);
  };
  informersFrom({ get: get as typeof api.informers.get }, namespace);
  expect(asked).toEqual([
    'windowsinstances {"namespace":"wmco"}',
    'nodes {}',
    'configmaps {"namespace":"wmco"}',
    'serviceaccounts {"namespace":"wmco"}',
    'roles {"namespace":"wmco"}',
    'rolebindings {"namespace":"wmco"}',
    'clusterroles {"labelSelector":"app.kubernetes.io/part-of=wicd"}',
    'clusterrolebindings {"labelSelector":"app.kubernetes.io/part-of=wicd"}',
  ]);
});

test('names the services ConfigMaps there are, and the own one even before it is there', () => {
  const { api, sources } = setUp();
  expect(observeShared(sources, { namespace, version }).configMaps).toEqual([`windows-services-${version}`]);
  for (const name of [`windows-services-${version}`, 'windows-services-old', 'windows-instances'])
    api.put(configMaps, { metadata: { name, namespace } });
  api.put(configMaps, { metadata: { name: 'windows-services-elsewhere', namespace: 'other' } });
  expect(observeShared(sources, { namespace, version }).configMaps).toEqual([
    `windows-services-${version}`,
    'windows-services-old',
  ]);
});

const goNode = {
  metadata: {
    name: 'w',
    uid: 'u-1',
    labels: { 'kubernetes.io/os': 'windows' },
    annotations: { [nodeAnnotation.version]: 'go' },
  },
};
const bound = (status: WindowsInstanceStatus): WindowsInstance => ({
  metadata: { name: 'i', namespace },
  spec: { address: '10.0.0.5', username: 'Administrator' },
  status: { host: { name: 'w', addresses: [] }, ...status },
});

test('sees agents of the Go operator, by the record where an instance is bound to the Node', () => {
  const { api, sources } = setUp();
  const sees = () => observeShared(sources, { namespace, version }).formerAgents;
  api.put(configMaps, { metadata: { name: 'windows-services-go', namespace }, data: { services: '[]' } });
  expect(sees()).toBe(false);
  api.put(nodes, goNode);
  expect(sees()).toBe(true);
  api.put(windowsInstances, bound({ version: 'go' }));
  expect(sees()).toBe(true);
  api.put(windowsInstances, bound({ version: 'go', agent: { keyHash: 'a', installed: '' } }));
  expect(sees()).toBe(false);
});

test('reads a Node by its name, with its agent', () => {
  const { api, sources } = setUp();
  expect(observeNode(sources, 'w', version)).toBeUndefined();
  api.put(nodes, goNode);
  expect(observeNode(sources, 'w', version)).toEqual({ uid: 'u-1', agent: 'none' });
  api.put(windowsInstances, bound({}));
  expect(observeNode(sources, 'w', version)).toEqual({ uid: 'u-1', agent: 'current' });
});

test('finds objects of either scope, by kind, namespace and name', () => {
  const { api, sources } = setUp();
  const labels = { 'app.kubernetes.io/part-of': 'wicd' };
  api.put(clusterRoles, { metadata: { name: 'r', labels, uid: 'cluster' } });
  api.put(roles, { metadata: { name: 'r', namespace, uid: 'own' } });
  api.put(roles, { metadata: { name: 'r', namespace: 'other', uid: 'other' } });
  const found = (resource: typeof roles, place?: string) =>
    findIn(sources, { resource, object: { metadata: { name: 'r', ...(place && { namespace: place }) } } })?.metadata
      .uid;
  expect([found(clusterRoles), found(roles, namespace), found(roles, 'other')]).toEqual(['cluster', 'own', undefined]);
});

test('does not find a role of the cluster that lacks the label of the operator', () => {
  const { api, sources } = setUp();
  api.put(clusterRoles, { metadata: { name: 'r' } });
  expect(findIn(sources, { resource: clusterRoles, object: { metadata: { name: 'r' } } })).toBeUndefined();
});
