import type { Client } from '#kube/client.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';

/** As kubectl says it. */
export type Applied = 'created' | 'configured' | 'unchanged';

/** Creates an object, or changes what differs. `patchOf` may throw for an object that must not be changed. */
export async function applyObject<T extends KubeResource>(
  client: Pick<Client, 'find' | 'create' | 'patch'>,
  resource: Resource<T>,
  object: T,
  { signal, patchOf = () => object }: { signal: AbortSignal; patchOf?: (existing: T) => unknown },
): Promise<Applied> {
  const { name = '', namespace } = object.metadata;
  const options = { signal, ...(namespace !== undefined && { namespace }) };
  const existing = await client.find(resource, name, options);
  if (existing === undefined) {
    await client.create(resource, object, options);
    return 'created';
  }
  const after = await client.patch(resource, name, { type: 'merge', body: patchOf(existing) }, options);
  return after.metadata.resourceVersion === existing.metadata.resourceVersion ? 'unchanged' : 'configured';
}
