import { Fields } from '#base/fields.ts';
import type { Client } from '#kube/client.ts';
import { apiVersionOf, type Resource } from '#kube/resource.ts';
import { infrastructures } from '#kube/resources-openshift.ts';

export interface DetectedCluster {
  /** OpenShift and OKD have config objects; facts of any other cluster are discovered or set by an administrator. */
  kind: 'openshift' | 'kubernetes';
  /** The gitVersion of the API server. */
  serverVersion: string;
  /** Whether the API server serves the resource; an informer of any other never syncs. */
  serves: (resource: Resource) => boolean;
}

/** Discovers the kind of cluster and which of the resources it serves. */
export async function detectCluster(
  client: Pick<Client, 'raw'>,
  resources: readonly Resource[],
  signal: AbortSignal,
): Promise<DetectedCluster> {
  const [version, groups] = await Promise.all([
    client.raw('GET', '/version', { signal }),
    client.raw('GET', '/apis', { signal }),
  ]);
  const served = new Set(groupVersions(groups));
  const wanted = new Set([infrastructures, ...resources].map(apiVersionOf).filter(each => served.has(each)));
  const known = new Set<string>();
  const discover = async (apiVersion: string) => {
    const list = new Fields(await client.raw('GET', `/apis/${apiVersion}`, { signal }), `/apis/${apiVersion}`);
    for (const resource of list.objects('resources')) known.add(`${apiVersion}/${resource.string('name')}`);
  };
  await Promise.all([...wanted].map(discover));
  const serves = (resource: Resource) =>
    // The core group is not listed under /apis, and every server has the core resources used here.
    resource.group === '' || known.has(`${apiVersionOf(resource)}/${resource.plural}`);
  return {
    kind: serves(infrastructures) ? 'openshift' : 'kubernetes',
    serverVersion: new Fields(version, '/version').string('gitVersion') ?? '',
    serves,
  };
}

function groupVersions(groups: unknown): string[] {
  return new Fields(groups, '/apis')
    .objects('groups')
    .flatMap(group => group.objects('versions').map(version => version.string('groupVersion') ?? ''));
}
