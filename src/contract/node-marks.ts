import { nodeAnnotation } from './names.ts';
import type { NodeView } from './node.ts';

type Marked = Pick<NodeView, 'annotations'>;

/** True when the agent has confirmed this operator version. */
export function isUpToDate(node: Marked | undefined, version: string): boolean {
  return node?.annotations[nodeAnnotation.version] === version;
}

/** True when another version has configured the node completely. */
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

/** A merge patch that sets these labels and annotations, or removes those that are null. */
export function marksPatch(marks: Marks): { metadata: Marks } {
  return {
    metadata: {
      ...(marks.labels && Object.keys(marks.labels).length > 0 && { labels: marks.labels }),
      ...(marks.annotations && Object.keys(marks.annotations).length > 0 && { annotations: marks.annotations }),
    },
  };
}
