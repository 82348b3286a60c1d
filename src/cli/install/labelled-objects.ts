import { operatorName } from '#contract/names.ts';
import { ApiError } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { queryText, resourcePath } from '#kube/http/path.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';

export interface ManagedObject extends KubeResource {
  metadata: KubeResource['metadata'] & { managedFields?: { manager?: string; operation?: string }[] };
}

/**
 * Objects with the label of the operator, in all namespaces. As the server sends them: other lists come without their
 * managers. Empty where the kind does not exist.
 */
export async function listLabelled(client: Client, resource: Resource, signal: AbortSignal): Promise<ManagedObject[]> {
  const query = queryText({ labelSelector: `app.kubernetes.io/name=${operatorName}`, limit: 500 });
  try {
    const list = await client.raw<{ items: ManagedObject[]; apiVersion: string }>(
      'GET',
      `${resourcePath(resource, {})}${query}`,
      { signal },
    );
    return list.items.map(each => ({ ...each, apiVersion: list.apiVersion, kind: resource.kind }));
  } catch (error) {
    if (error instanceof ApiError && [403, 404].includes(error.code)) return [];
    throw error;
  }
}
