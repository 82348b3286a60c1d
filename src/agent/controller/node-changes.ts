import { nodeAnnotation } from '#contract/names.ts';
import { anyOf, changed, type Predicate } from '#kube/controller/predicate.ts';
import type { Node } from '#kube/resources.ts';

const { version } = nodeAnnotation;

/**
 * Changes of the own Node that are worth a pass: its annotations, for they say what is wanted and commands are made of them,
 * and whether it is ready, for the version waits for that. Signs of life of the kubelet are not, nor is the version, which
 * the operator takes from our report; but when it is taken away, it has to be reported again.
 */
export const nodeChanges: Predicate<Node> = anyOf(
  changed(({ metadata, status }) => ({
    annotations: Object.entries(metadata.annotations ?? {})
      .filter(([name]) => name !== version)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
    ready: status?.conditions?.find(({ type }) => type === 'Ready')?.status,
  })),
  {
    updated: (old, { metadata }) =>
      version in (old.metadata.annotations ?? {}) && !(version in (metadata.annotations ?? {})),
  },
);
