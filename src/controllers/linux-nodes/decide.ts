import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';

/** Versions of long ago put the hash of their key on Linux nodes as well, where it means nothing. */
export function carriesStrayMark({ labels, annotations }: Pick<NodeView, 'labels' | 'annotations'>): boolean {
  return labels[nodeLabel.os] === 'linux' && Object.hasOwn(annotations, nodeAnnotation.pubKeyHash);
}
