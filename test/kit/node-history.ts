import { hasConditionStatus } from '../../src/base/condition.ts';
import { nodeLabel } from '../../src/contract/names.ts';
import type { Client } from '../../src/kube/client.ts';
import type { WatchEvent } from '../../src/kube/resource.ts';
import { type Node, nodes } from '../../src/kube/resources.ts';

/** All changes of Windows Nodes since its start, without gaps. */
export interface NodeHistory extends AsyncDisposable {
  readonly events: readonly WatchEvent<Node>[];
}

const windows = { labelSelector: `${nodeLabel.os}=windows` };

export async function recordNodes(client: Client): Promise<NodeHistory> {
  const { items, metadata } = await client.list(nodes, windows);
  const { resourceVersion = '' } = metadata ?? {};
  const events: WatchEvent<Node>[] = items.map(object => ({ type: 'ADDED', object }));
  const ending = new AbortController();
  const { signal } = ending;
  const options = { ...windows, resourceVersion, timeoutSeconds: 1800, signal };
  const watching = (async () => {
    for await (const event of client.watch(nodes, options)) events.push(event);
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

/** A cordoned Node, or one that is not Ready. */
export function isOutOfService({ spec, status }: Node): boolean {
  return spec?.unschedulable === true || !hasConditionStatus(status?.conditions, 'Ready', 'True');
}

/** The largest number of Nodes that were out of service at once. A deleted Node does not count. */
export function mostOutOfService(events: readonly WatchEvent<Node>[]): number {
  const out = new Set<string>();
  return events.reduce((most, { type, object }) => {
    const name = object.metadata.name ?? '';
    if (type !== 'DELETED' && isOutOfService(object)) out.add(name);
    else out.delete(name);
    return Math.max(most, out.size);
  }, 0);
}
