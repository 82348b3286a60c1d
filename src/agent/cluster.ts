import { versionOfServicesConfigMap, servicesConfigMapName } from '#contract/version.ts';
import { isApiError, isNotFound } from '#kube/api-error.ts';
import type { Client, JsonPatchOperation } from '#kube/client.ts';
import type { KubeResource } from '#kube/resource.ts';
import { configMaps, type Node, nodes } from '#kube/resources.ts';
import type { Cluster } from './ports.ts';

export type ClusterClient = Pick<Client, 'get' | 'listAll' | 'patch'>;

export interface ClusterOptions {
  client: ClusterClient;
  /** Undefined where there is no Node. */
  nodeName: string | undefined;
  /** Where the services ConfigMaps are. */
  namespace: string;
  signal: AbortSignal;
}

/** The cluster as the API server has it, asked anew each time. */
export function createCluster(options: ClusterOptions): Cluster {
  const { client, nodeName, namespace, signal } = options;
  return {
    node: async () => (nodeName === undefined ? undefined : found(() => client.get(nodes, nodeName, { signal }))),
    annotateNode: annotations => annotateNode(client, nodeName ?? '', annotations, signal),
    servicesConfigMap: version =>
      found(() => client.get(configMaps, servicesConfigMapName(version), { namespace, signal })),
    servicesConfigMaps: async () => {
      const { items } = await client.listAll(configMaps, { namespace, signal });
      return items
        .filter(({ metadata }) => versionOfServicesConfigMap(metadata.name ?? '') !== undefined)
        .map(item => ({ apiVersion: 'v1', kind: 'ConfigMap', ...item }));
    },
  };
}

/** How often the patch is made anew because somebody else changed the Node between our look and our patch. */
const attempts = 4;

/**
 * Sets annotations of a Node and removes those given as null, by JSON Patch: the form that admission policies on the
 * agent's requests know.
 */
export async function annotateNode(
  client: Pick<Client, 'get' | 'patch'>,
  name: string,
  annotations: Readonly<Record<string, string | null>>,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const body = annotationPatch(await client.get(nodes, name, { signal }), annotations);
    if (body.length === 0) return;
    try {
      await client.patch(nodes, name, { type: 'json', body }, { signal });
      return;
    } catch (error) {
      // What was tested or was to be removed is not what it was when we looked.
      if (attempt === attempts || !isApiError(error, 'Invalid')) throw error;
    }
  }
}

/** The operations from the Node as it is; none when it is as wanted already. */
export function annotationPatch(
  node: Pick<Node, 'metadata'>,
  annotations: Readonly<Record<string, string | null>>,
): JsonPatchOperation[] {
  const { annotations: present, resourceVersion } = node.metadata;
  const operations = Object.entries(annotations).flatMap(([key, value]): JsonPatchOperation[] => {
    const path = `/metadata/annotations/${pointerPart(key)}`;
    const before = present !== undefined && Object.hasOwn(present, key) ? present[key] : undefined;
    if (value === null) return before === undefined ? [] : [{ op: 'remove', path }];
    return before === value ? [] : [{ op: 'add', path, value }];
  });
  if (present !== undefined || operations.length === 0) return operations;
  // An empty map put in the place of one that came meanwhile would take the annotations of others away.
  return [
    { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
    { op: 'add', path: '/metadata/annotations', value: {} },
    ...operations,
  ];
}

function pointerPart(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

async function found<T extends KubeResource>(get: () => Promise<T>): Promise<T | undefined> {
  try {
    return await get();
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
