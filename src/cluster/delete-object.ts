import { isConflict, isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';

/** Deletes exactly this object: one that was created again under its name has another UID and stays. */
export async function deleteObject<T extends KubeResource>(
  client: Pick<Client, 'delete'>,
  resource: Resource<T>,
  { metadata }: T,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', namespace, uid, deletionTimestamp } = metadata;
  if (deletionTimestamp !== undefined) return;
  const options = {
    signal,
    ...(namespace !== undefined && { namespace }),
    ...(uid !== undefined && { preconditions: { uid } }),
  };
  await client.delete(resource, name, options).catch(unless(isNotFound, isConflict));
}
