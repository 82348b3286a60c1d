import { Fields } from '#base/fields.ts';
import type { Client } from '#kube/client.ts';
import { apiVersionOf, type Resource } from '#kube/resource.ts';
import { infrastructures } from '#kube/resources-openshift.ts';

export interface DetectedCluster {
  /** OpenShift and OKD describe themselves in objects; any other cluster has to be described by its administrator. */
  kind: 'openshift' | 'kubernetes';
  /** The gitVersion of the API server. */
  serverVersion: string;
  /** Whether the API server knows the resource; an informer of any other would wait for ever. */
  serves: (resource: Resource) => boolean;
}

/** Asks the API server what it is and which of the resources it has. */
export async function detectCluster(
  client: Pick<Client, 'raw'>,
  asked: readonly Resource[],
  signal: AbortSignal,
): Promise<DetectedCluster> {
  const [version, groups] = await Promise.all([
    client.raw('GET', '/version', { signal }),
    client.raw('GET', '/apis', { signal }),
  ]);
  const offered = new Set(groupVersions(groups));
  const wanted = new Set([infrastructures, ...asked].map(apiVersionOf).filter(each => offered.has(each)));
  const known = new Set<string>();
  const ask = async (apiVersion: string) => {
    const list = new Fields(await client.raw('GET', `/apis/${apiVersion}`, { signal }), `/apis/${apiVersion}`);
    for (const resource of list.objects('resources')) known.add(`${apiVersion}/${resource.string('name')}`);
  };
  await Promise.all([...wanted].map(ask));
  const serves = (resource: Resource) =>
    // The core is not among the groups, and every server has what we need of it.
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
