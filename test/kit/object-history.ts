import type { Client } from '../../src/kube/client.ts';
import type { KubeResource, Resource, WatchEvent } from '../../src/kube/resource.ts';

/** The objects of a kind, and all changes since, without gaps. */
export interface ObjectHistory<T extends KubeResource> extends AsyncDisposable {
  readonly events: readonly WatchEvent<T>[];
}

export async function recordObjects<T extends KubeResource>(
  client: Client,
  resource: Resource<T>,
  scope: { namespace?: string; labelSelector?: string },
): Promise<ObjectHistory<T>> {
  const { items, metadata } = await client.list(resource, scope);
  const { resourceVersion = '' } = metadata ?? {};
  const events: WatchEvent<T>[] = items.map(object => ({ type: 'ADDED', object }));
  const ending = new AbortController();
  const { signal } = ending;
  const options = { ...scope, resourceVersion, timeoutSeconds: 86_400, signal };
  const watching = (async () => {
    for await (const event of client.watch(resource, options)) events.push(event);
  })().catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  return {
    events,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await watching;
    },
  };
}
