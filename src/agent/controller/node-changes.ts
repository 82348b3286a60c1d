import { nodeAnnotation } from '#contract/names.ts';
import { anyOf, changed, type Predicate } from '#kube/controller/predicate.ts';
import type { Node } from '#kube/resources.ts';

const { version } = nodeAnnotation;

/**
 * Changes of the Node that start a pass: its annotations, which hold the desired version and values for commands, and its
 * readiness, which the version waits for. Heartbeats do not, nor does the version annotation, which the operator copies
 * from the report; but when it is removed, it has to be reported again.
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
