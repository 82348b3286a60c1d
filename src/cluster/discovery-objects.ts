import { objectLabel } from '#contract/object.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import type { Resource } from '#kube/resource.ts';
import {
  configMaps,
  endpointSlices,
  endpointSlicesV1beta1,
  serviceCidrs,
  serviceCidrsV1beta1,
  services,
} from '#kube/resources.ts';

/** An object from which facts are discovered. */
export interface DiscoveryObject {
  /** The first one that the API server serves is used. */
  versions: readonly [Resource, ...Resource[]];
  namespace?: string;
  name: string;
}

/**
 * Objects of clusters other than OpenShift. Only components of the cluster and administrators can write them. They are selected by
 * name, because any user who can create EndpointSlices can label one as that of the Service `kubernetes`.
 */
export const discoveryObject = {
  /** kubeadm writes it for nodes that join. */
  clusterInfo: { versions: [configMaps], namespace: 'kube-public', name: 'cluster-info' },
  /** API servers publish their own addresses in it. */
  apiServers: { versions: [endpointSlices, endpointSlicesV1beta1], namespace: 'default', name: 'kubernetes' },
  /** API servers create it from their flag `--service-cluster-ip-range`. */
  serviceCidr: { versions: [serviceCidrs, serviceCidrsV1beta1], name: 'kubernetes' },
  kubeadmConfig: { versions: [configMaps], namespace: 'kube-system', name: 'kubeadm-config' },
  dnsService: { versions: [services], namespace: 'kube-system', name: 'kube-dns' },
} as const satisfies Record<string, DiscoveryObject>;

const all: readonly DiscoveryObject[] = Object.values(discoveryObject);

/** Their resources; not every API server has all of them. */
export const discoveryResources: readonly Resource[] = all.flatMap(({ versions }) => versions);

/** For clusters other than OpenShift. */
export const discoveryPermissions: readonly Permission[] = all.map(
  ({ versions: [{ group, plural }], namespace, name }) => ({
    in: namespace === undefined ? 'cluster' : { namespace },
    group,
    resources: [plural],
    verbs: reading,
    names: [name],
  }),
);

export function discoveryLabel({ versions: [{ kind }], ...meta }: DiscoveryObject): string {
  return objectLabel(kind, meta);
}

/** An object in the version that the API server serves. */
interface WatchedObject {
  resource: Resource;
  namespace?: string;
  name: string;
}

export interface DiscoveryAccess {
  readable: WatchedObject[];
  /** Labels of the objects that the operator is not allowed to read. */
  denied: string[];
}

/** An informer without permission never syncs, and the operator would not start. */
export async function checkDiscoveryAccess(
  client: Pick<Client, 'list'>,
  serves: (resource: Resource) => boolean,
  signal: AbortSignal,
): Promise<DiscoveryAccess> {
  const served = all.flatMap(({ versions, ...place }) => {
    const resource = versions.find(serves);
    return resource === undefined ? [] : [{ resource, ...place }];
  });
  const isAllowed = await Promise.all(served.map(object => isReadable(client, object, signal)));
  return {
    readable: served.filter((_, index) => isAllowed[index]),
    denied: served
      .filter((_, index) => !isAllowed[index])
      .map(({ resource: { kind }, ...meta }) => objectLabel(kind, meta)),
  };
}

async function isReadable(
  client: Pick<Client, 'list'>,
  { resource, name, ...namespace }: WatchedObject,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await client.list(resource, { ...namespace, fieldSelector: `metadata.name=${name}`, limit: 1, signal });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.code === 403) return false;
    throw error;
  }
}
