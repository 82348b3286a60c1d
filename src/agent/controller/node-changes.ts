import { nodeAnnotation } from '#contract/names.ts';
import { changed, type Predicate } from '#kube/controller/predicate.ts';
import type { Node } from '#kube/resources.ts';

/**
 * Changes of the own Node that are worth a pass: its annotations, for they say what is wanted and commands are made of them,
 * and whether it is ready, for the version waits for that. Our own mark and the signs of life of the kubelet are not.
 */
export const nodeChanges: Predicate<Node> = changed(({ metadata, status }) => ({
  annotations: Object.entries(metadata.annotations ?? {})
    .filter(([name]) => name !== nodeAnnotation.version)
    .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  ready: status?.conditions?.find(({ type }) => type === 'Ready')?.status,
}));
