import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';

/** Early versions annotated Linux nodes with the hash of their key by mistake. */
export function hasStrayAnnotation({ labels, annotations }: Pick<NodeView, 'labels' | 'annotations'>): boolean {
  return labels[nodeLabel.os] === 'linux' && Object.hasOwn(annotations, nodeAnnotation.pubKeyHash);
}
