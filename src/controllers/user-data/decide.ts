import { type AppError, attempt } from '#base/errors.ts';
import { nodeAnnotation, nodeLabel } from '#contract/names.ts';
import { isWindowsNode, type NodeView } from '#contract/node.ts';

export interface UserDataFacts {
  /** Text of the user-data Secret in the cluster; undefined when there is no Secret. */
  current: string | undefined;
  wanted: string;
  nodes: readonly NodeView[];
  /** Hash of the current public key. */
  publicKeyHash: string;
  /** The user name under which windows-instances lists the host of a Node; throws an AppError when it is not listed. */
  usernameOf: (node: NodeView) => string;
}

/** New marks of one Node. */
export type NodeRotation =
  /** The host stays; its user name is sealed with the new key. An administrator installs the new public key. */
  | { node: string; host: 'kept'; publicKeyHash: string; username: string }
  /** The Machine is replaced; an empty hash matches no key. */
  | { node: string; host: 'replaced'; publicKeyHash: '' };

export interface Decision {
  secret: 'create' | 'update' | 'keep';
  rotations: NodeRotation[];
  /** Nodes that cannot be rotated now; others are not affected. */
  failures: { node: string; error: AppError }[];
}

/**
 * Repairs the Secret and rotates Nodes independently: a changed text, whether from tampering or a new script, never affects a Node.
 * Only a Node that was configured with another public key is rotated.
 */
export function decide({ current, wanted, nodes, publicKeyHash, usernameOf }: UserDataFacts): Decision {
  const decision: Decision = { secret: secretChange(current, wanted), rotations: [], failures: [] };
  for (const node of nodes.filter(isWindowsNode)) {
    const hash = node.annotations[nodeAnnotation.pubKeyHash];
    if (hash === publicKeyHash) continue;
    if (!Object.hasOwn(node.labels, nodeLabel.byoh)) {
      // No hash: not configured yet. An empty one: already being replaced.
      if (hash !== undefined && hash !== '') {
        decision.rotations.push({ node: node.name, host: 'replaced', publicKeyHash: '' });
      }
      continue;
    }
    const username = attempt(() => usernameOf(node));
    if (!username.ok) decision.failures.push({ node: node.name, error: username.error });
    else decision.rotations.push({ node: node.name, host: 'kept', publicKeyHash, username: username.value });
  }
  return decision;
}

function secretChange(current: string | undefined, wanted: string): Decision['secret'] {
  if (current === undefined) return 'create';
  return current === wanted ? 'keep' : 'update';
}
