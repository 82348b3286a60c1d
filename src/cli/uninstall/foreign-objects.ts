import { ApiError, isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';
import { nameOf } from '../install/kinds.ts';
import { accountOf, isOwn } from './own-objects.ts';

interface ServedKind {
  name: string;
  kind: string;
  namespaced: boolean;
  verbs: string[];
}

/** Objects in the namespace that neither this installation nor the cluster itself has put there. */
export async function foreignObjects(client: Client, namespace: string, signal: AbortSignal): Promise<string[]> {
  const resources = await namespacedResources(client, signal);
  const lists = await Promise.all(
    resources.map(async resource => {
      const { items } = await client.listAll(resource, { namespace, signal }).catch(noneIfUnlistable);
      return items
        .filter(object => !isOfCluster(resource, object) && !isOwn(resource, object))
        .map(object => nameOf({ ...object, kind: resource.kind }));
    }),
  );
  return [...new Set(lists.flat())].sort();
}

async function namespacedResources(client: Client, signal: AbortSignal): Promise<Resource[]> {
  const { groups } = await client.raw<{ groups: { preferredVersion: { groupVersion: string } }[] }>('GET', '/apis', {
    signal,
  });
  const versions = ['v1', ...groups.map(({ preferredVersion }) => preferredVersion.groupVersion)];
  return (await Promise.all(versions.map(each => served(client, each, signal)))).flat();
}

async function served(client: Client, groupVersion: string, signal: AbortSignal): Promise<Resource[]> {
  const [group = '', version = ''] = groupVersion.includes('/') ? groupVersion.split('/') : ['', groupVersion];
  const path = group === '' ? '/api/v1' : `/apis/${groupVersion}`;
  // The list of groups still has that of a CRD that was just deleted.
  const list = await client.raw<{ resources: ServedKind[] }>('GET', path, { signal }).catch(unless(isNotFound));
  // What cannot be created, such as PackageManifests of OLM, is a view of other objects.
  const isStored = (verbs: readonly string[]) => ['list', 'create'].every(verb => verbs.includes(verb));
  return (list?.resources ?? [])
    .filter(({ name, namespaced, verbs }) => namespaced && !name.includes('/') && isStored(verbs))
    .filter(({ kind }) => !ofEveryNamespace.includes(kind))
    .map(({ name, kind, namespaced }) => ({ group, version, plural: name, kind, namespaced }));
}

/** Made by controllers for other objects, which are listed themselves, or records of what happened. */
const ofEveryNamespace: readonly string[] = ['Event', 'Endpoints', 'EndpointSlice', 'ControllerRevision'];

/** Kinds of aggregated servers may not be listable. */
function noneIfUnlistable(error: unknown): { items: KubeResource[] } {
  if (error instanceof ApiError && [404, 405].includes(error.code)) return { items: [] };
  throw error;
}

const accountsOfCluster: readonly string[] = ['default', 'builder', 'deployer'];
const mapsOfCluster: readonly string[] = ['kube-root-ca.crt', 'openshift-service-ca.crt'];

/** What Kubernetes and OpenShift put into every namespace. */
export function isOfCluster({ kind }: Pick<Resource, 'kind'>, object: KubeResource): boolean {
  const { name = '', labels = {} } = object.metadata;
  if (kind === 'ServiceAccount') return accountsOfCluster.includes(name);
  if (kind === 'ConfigMap') return mapsOfCluster.includes(name);
  if (kind === 'RoleBinding') return /^system:(deployers|image-builders|image-pullers)$/.test(name);
  // OLM copies the versions of operators for all namespaces into each of them.
  if (kind === 'ClusterServiceVersion') return Object.hasOwn(labels, 'olm.copiedFrom');
  return kind === 'Secret' && accountsOfCluster.includes(accountOf(object));
}
