import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import type { Marks } from '#contract/node-marks.ts';

export interface JoinedNode {
  /** Not from a Machine. */
  byoh: boolean;
  pubKeyHash: string;
  /** Encrypted form of the SSH user name. */
  sealedUsername: string;
  /** The pinned host key, if the Node does not have it yet. */
  hostKey?: { type: string; base64: string };
}

/** Labels and annotations for a new Node. The kubelet sets the taints. */
export function joinMarks(node: JoinedNode): Marks {
  return {
    labels: node.byoh ? { [nodeLabel.byoh]: 'true', [nodeLabel.worker]: '' } : {},
    annotations: {
      [nodeAnnotation.pubKeyHash]: node.pubKeyHash,
      [nodeAnnotation.username]: node.sealedUsername,
      ...(node.hostKey && {
        [nodeAnnotation.sshHostKey]: node.hostKey.base64,
        [nodeAnnotation.sshHostKeyType]: node.hostKey.type,
      }),
    },
  };
}
