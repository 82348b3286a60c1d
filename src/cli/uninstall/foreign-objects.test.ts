import { expect, test } from 'vitest';
import { ApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import { foreignObjects } from './foreign-objects.ts';

const verbs = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const kinds: Record<string, { name: string; kind: string; namespaced: boolean; verbs: string[] }[]> = {
  '/api/v1': [
    { name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs },
    { name: 'pods/log', kind: 'Pod', namespaced: true, verbs: ['get'] },
  ],
  '/apis/operators.coreos.com/v1alpha1': [
    { name: 'clusterserviceversions', kind: 'ClusterServiceVersion', namespaced: true, verbs },
  ],
  '/apis/packages.operators.coreos.com/v1': [
    { name: 'packagemanifests', kind: 'PackageManifest', namespaced: true, verbs: ['get', 'list'] },
  ],
};
const groups = Object.keys(kinds)
  .filter(path => path.startsWith('/apis/'))
  .concat('/apis/deleted.example.com/v1')
  .map(path => ({ preferredVersion: { groupVersion: path.slice('/apis/'.length) } }));

const labels = { 'app.kubernetes.io/name': 'windows-machine-config-operator' };
const objects: Record<string, KubeResource['metadata'][]> = {
  configmaps: [{ name: 'kube-root-ca.crt' }, { name: 'windows-instances' }, { name: 'of-a-user', labels }],
  clusterserviceversions: [{ name: 'gitops.v1', labels: { 'olm.copiedFrom': 'gitops' } }, { name: 'own.v1' }],
  packagemanifests: [{ name: 'elasticsearch' }],
};

/** Answers as an OpenShift with OLM. */
const cluster = {
  raw: async (_method: string, path: string) => {
    if (path === '/apis') return { groups };
    if (kinds[path] === undefined) throw new ApiError({ code: 404 }, `GET ${path}`);
    return { resources: kinds[path] };
  },
  listAll: ({ plural }: Resource) =>
    Promise.resolve({
      items: (objects[plural] ?? []).map(metadata => ({ metadata: { namespace: 'ns', ...metadata } })),
    }),
} as unknown as Client;

test('views of OLM and a group whose CRD is gone are not foreign, and objects of users are, with any label', async () => {
  expect(await foreignObjects(cluster, 'ns', new AbortController().signal)).toEqual([
    'ClusterServiceVersion ns/own.v1',
    'ConfigMap ns/of-a-user',
  ]);
});
