import { nodeAnnotation } from '#contract/names.ts';
import { isNotFound, unless } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import { matching } from '#kube/controller/predicate.ts';
import { done } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { type Node, nodes } from '#kube/resources.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { hasStrayAnnotation } from './decide.ts';

export const permissions: readonly Permission[] = [
  { in: 'cluster', group: '', resources: ['nodes'], verbs: [...reading, 'patch'] },
];

/** Removes an annotation of Windows nodes from Linux nodes. */
export function linuxNodesController(parts: ControllerParts): Controller {
  const source = parts.informers.get(nodes);
  const isStray = ({ metadata: { labels = {}, annotations = {} } }: Node) =>
    hasStrayAnnotation({ labels, annotations });
  const body = { metadata: { annotations: { [nodeAnnotation.pubKeyHash]: null } } };
  return new Controller({
    ...parts,
    name: 'linux-nodes',
    watches: [watching({ source, predicate: matching(isStray) })],
    reconcile: async (key, { log, signal }) => {
      const node = source.store.get(key);
      if (node === undefined || !isStray(node)) return done;
      log.info('Removing annotation of Windows nodes from Linux node', { Node: key.name });
      await parts.client.patch(nodes, key.name, { type: 'merge', body }, { signal }).catch(unless(isNotFound));
      return done;
    },
  });
}
