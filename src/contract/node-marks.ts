import { nodeAnnotation } from './names.ts';
import type { NodeView } from './node.ts';

type Marked = Pick<NodeView, 'annotations'>;

/** The agent has confirmed that the node is configured by exactly this operator version. */
export function isUpToDate(node: Marked | undefined, version: string): boolean {
  return node?.annotations[nodeAnnotation.version] === version;
}

/** The node was fully configured by another version. A node that was never finished is not upgraded, it is finished. */
export function needsUpgrade(node: Marked | undefined, version: string): boolean {
  const current = node?.annotations[nodeAnnotation.version];
  return current !== undefined && current !== version;
}

export function awaitsReboot(node: Marked): boolean {
  return Object.hasOwn(node.annotations, nodeAnnotation.rebootRequired);
}

export interface Marks {
  labels?: Record<string, string | null>;
  annotations?: Record<string, string | null>;
}

/** Merge patch that sets the marks given and removes those given as null; works whether or not the maps exist yet. */
export function marksPatch(marks: Marks): { metadata: Marks } {
  return {
    metadata: {
      ...(marks.labels && Object.keys(marks.labels).length > 0 && { labels: marks.labels }),
      ...(marks.annotations && Object.keys(marks.annotations).length > 0 && { annotations: marks.annotations }),
    },
  };
}
