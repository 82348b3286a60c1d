import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import type { Marks } from '#contract/node-marks.ts';

export interface JoinedNode {
  /** Listed by an administrator, not made from a Machine. */
  byoh: boolean;
  pubKeyHash: string;
  /** Encrypted form of the SSH user name. */
  sealedUsername: string;
  /** The pinned host key, when the Node does not carry it yet. */
  hostKey?: { type: string; base64: string };
}

/** The marks the operator puts on a Node when it has found it. Taints are the kubelet's business, never ours. */
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
