import { operatorName } from '#contract/names.ts';
import { isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { queryText, resourcePath } from '#kube/http/path.ts';
import type { KubeResource, Resource } from '#kube/resource.ts';

export interface ManagedObject extends KubeResource {
  metadata: KubeResource['metadata'] & { managedFields?: { manager?: string; operation?: string }[] };
}

const pageSize = 500;

interface Page {
  items: ManagedObject[];
  apiVersion: string;
  metadata?: { continue?: string };
}

/**
 * Objects with the label of the operator, in all namespaces. As the server sends them: other lists come without their
 * managers. Empty where the kind does not exist. There are several for each Windows node, hence the pages.
 */
export async function listLabelled(client: Client, resource: Resource, signal: AbortSignal): Promise<ManagedObject[]> {
  const found: ManagedObject[] = [];
  let next = '';
  do {
    const query = queryText({
      labelSelector: `app.kubernetes.io/name=${operatorName}`,
      limit: pageSize,
      continue: next === '' ? undefined : next,
    });
    const path = `${resourcePath(resource, {})}${query}`;
    const page = await client.raw<Page>('GET', path, { signal }).catch(unless(isNotFound));
    if (page === undefined) return [];
    found.push(...page.items.map(each => ({ ...each, apiVersion: page.apiVersion, kind: resource.kind })));
    next = page.metadata?.continue ?? '';
  } while (next !== '');
  return found;
}
