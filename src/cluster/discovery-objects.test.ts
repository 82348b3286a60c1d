import { expect, test } from 'vitest';
import type { ListOptions } from '#kube/client.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Resource } from '#kube/resource.ts';
import { checkDiscoveryAccess, discoveryPermissions } from './discovery-objects.ts';

const { signal } = new AbortController();

/** A server that answers lists of these namespaces with this status. */
function clientWith(code: number, namespaces: readonly string[]) {
  const lists: string[] = [];
  const list = async ({ version, plural }: Resource, { namespace = '', fieldSelector }: ListOptions = {}) => {
    lists.push(`${namespace} ${plural} ${version} ${fieldSelector}`);
    if (namespaces.includes(namespace)) throw new ApiError({ code, message: 'no' }, 'GET');
    return { metadata: {}, items: [] };
  };
  return { client: { list: list as never }, lists };
}

const labelsOf = (objects: readonly { resource: Resource; name: string }[]) =>
  objects.map(({ resource: { version, plural }, name }) => `${plural} ${version} ${name}`);

const served: [name: string, isMissing: (resource: Resource) => boolean, want: string[]][] = [
  ['the newest versions', () => false, ['endpointslices v1 kubernetes', 'servicecidrs v1 kubernetes']],
  [
    'older versions where the API server has no newer ones',
    ({ group, version }) => group !== '' && version === 'v1',
    ['endpointslices v1beta1 kubernetes', 'servicecidrs v1beta1 kubernetes'],
  ],
  [
    'no kind that the API server does not serve',
    ({ group }) => group === 'networking.k8s.io',
    ['endpointslices v1 kubernetes'],
  ],
];
for (const [name, isMissing, want] of served) {
  test(`reads ${name}`, async () => {
    const { client, lists } = clientWith(403, []);
    const { readable, denied } = await checkDiscoveryAccess(client, each => !isMissing(each), signal);
    const core = ['configmaps v1 cluster-info', 'configmaps v1 kubeadm-config', 'services v1 kube-dns'];
    expect(labelsOf(readable).sort()).toEqual([...want, ...core].sort());
    expect(denied).toEqual([]);
    expect(lists).toHaveLength(readable.length);
    expect(lists).toContain('kube-public configmaps v1 metadata.name=cluster-info');
  });
}

test('tells which objects the operator is not allowed to read', async () => {
  const { readable, denied } = await checkDiscoveryAccess(clientWith(403, ['kube-system']).client, () => true, signal);
  expect(denied).toEqual(['ConfigMap kube-system/kubeadm-config', 'Service kube-system/kube-dns']);
  expect(readable).toHaveLength(3);
});

test('fails if the API server has a problem', async () => {
  const { client } = clientWith(503, ['default']);
  await expect(checkDiscoveryAccess(client, () => true, signal)).rejects.toMatchObject({ code: 503 });
});

test('needs to read single objects only', () => {
  for (const { names, verbs } of discoveryPermissions) {
    expect(names).toHaveLength(1);
    expect(verbs).toEqual(['list', 'watch']);
  }
});
