import { hasConditionStatus } from '../../src/base/condition.ts';
import { nodeLabel } from '../../src/contract/names.ts';
import type { Client } from '../../src/kube/client.ts';
import type { WatchEvent } from '../../src/kube/resource.ts';
import { type Node, nodes } from '../../src/kube/resources.ts';
import { type ObjectHistory, recordObjects } from './object-history.ts';

export type NodeHistory = ObjectHistory<Node>;

/** Records the changes of Windows Nodes. */
export function recordNodes(client: Client): Promise<NodeHistory> {
  return recordObjects(client, nodes, { labelSelector: `${nodeLabel.os}=windows` });
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
