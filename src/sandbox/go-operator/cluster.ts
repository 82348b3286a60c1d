import { configMapName, nodeAnnotation, nodeLabel, operatorName } from '#contract/names.ts';
import {
  windowsInstanceGroup,
  windowsInstanceKind,
  windowsInstanceVersion,
} from '#contract/windows-instance/resource.ts';
import { isAlreadyExists, isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { keyOf, type KubeResource, type Resource } from '#kube/resource.ts';
import * as kinds from '#kube/resources.ts';
import { type GoClusterFacts, goClusterObjects, goLock, goPod, goPodName, goVersion } from './objects.ts';

/** How the Go operator has stored the SSH host key of a host: on its Node, in its ConfigMap only, or, before 2026, not at all. */
export type PinPlace = 'node' | 'configmap' | 'none';

export interface GoNode {
  name: string;
  /** As in `windows-instances`, or that of the Machine. */
  address: string;
  pin: PinPlace;
}

/**
 * Turns a cluster of this operator into one of the Go operator, which runs and leads: its objects, and the marks of its Nodes. Objects
 * that only this operator makes are deleted. No operator may run meanwhile.
 */
export async function turnIntoGoCluster(
  client: Client,
  nodes: readonly GoNode[],
  facts: Omit<GoClusterFacts, 'hostKeys'>,
): Promise<void> {
  const { namespace } = facts;
  const hostKeys: Record<string, string> = {};
  for (const node of nodes) {
    const key = await markGoNode(client, node);
    if (node.pin === 'configmap') hostKeys[node.address] = key;
  }
  await deleteOwnObjects(client, namespace);
  for (const { resource, object } of goClusterObjects({ ...facts, hostKeys })) await put(client, resource, object);
  const pod = await client.create(kinds.pods, goPod(namespace));
  const status = { phase: 'Running' };
  await client.patch(kinds.pods, goPodName, { type: 'merge', body: { status } }, { namespace, subresource: 'status' });
  await client.create(kinds.configMaps, goLock(namespace, pod.metadata.uid ?? ''));
}

/** Gives the Node what the Go operator writes there. Returns the host key that it had. */
export async function markGoNode(client: Client, { name, pin }: GoNode): Promise<string> {
  const { metadata } = await client.get(kinds.nodes, name);
  const key = metadata.annotations?.[nodeAnnotation.sshHostKey] ?? '';
  const annotations = {
    [nodeAnnotation.version]: goVersion,
    [nodeAnnotation.desiredVersion]: goVersion,
    [nodeAnnotation.desiredServices]: null,
    [nodeAnnotation.cordoned]: null,
    ...(pin !== 'node' && { [nodeAnnotation.sshHostKey]: null, [nodeAnnotation.sshHostKeyType]: null }),
  };
  const labels = { [nodeLabel.upgrading]: null };
  await client.patch(kinds.nodes, name, { type: 'merge', body: { metadata: { annotations, labels } } });
  return key;
}

const instances = kinds.ofNamespace<KubeResource>(
  `${windowsInstanceGroup}/${windowsInstanceVersion}`,
  windowsInstanceKind,
  'windowsinstances',
);

/** ConfigMaps that users or other components make, or that both operators have. */
const keptMaps: ReadonlySet<string> = new Set([
  'kube-root-ca.crt',
  'openshift-service-ca.crt',
  configMapName.instances,
  configMapName.trustedCa,
  configMapName.rollout,
  configMapName.kubeletConfig,
  'windows-cluster',
]);

const accessKinds: readonly Resource[] = [
  kinds.roles,
  kinds.roleBindings,
  kinds.clusterRoles,
  kinds.clusterRoleBindings,
];

async function deleteOwnObjects(client: Client, namespace: string): Promise<void> {
  const remove = async (resource: Resource, found: readonly KubeResource[]) => {
    for (const { name } of found.map(keyOf))
      await client.delete(resource, name, resource.namespaced ? { namespace } : {}).catch(unless(isNotFound));
  };
  await remove(instances, (await client.list(instances, { namespace })).items);
  const maps = (await client.list(kinds.configMaps, { namespace })).items;
  await remove(
    kinds.configMaps,
    maps.filter(({ metadata: { name = '' } }) => !keptMaps.has(name)),
  );
  for (const resource of accessKinds) {
    const labelSelector = `app.kubernetes.io/part-of=wicd`;
    const { items } = await client.list(resource, {
      labelSelector,
      ...(resource.namespaced && { namespace }),
    });
    await remove(resource, items);
  }
  await client.delete(kinds.leases, operatorName, { namespace }).catch(unless(isNotFound));
}

async function put(client: Client, resource: Resource, object: KubeResource): Promise<void> {
  const { name = '', namespace } = object.metadata;
  try {
    await client.create(resource, object);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    const place = namespace === undefined ? {} : { namespace };
    const { metadata: _, ...body } = object;
    await client.patch(resource, name, { type: 'merge', body }, place);
  }
}
