import { attempt } from '#base/errors.ts';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import { configMapName, nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { findPinnedKey } from '#controllers/host-keys/decide.ts';
import { fingerprint } from '#host/host-key.ts';
import { parseAuthorizedKey } from '#host/keys/public-key.ts';

/** The key that a host has to show. */
export interface PinnedKey {
  type: string;
  /** As `ssh-keygen -l` prints it. */
  fingerprint: string;
  where: string;
}

/** Undefined when any key will do, or when the stored one cannot be read, which the conditions tell. */
export function pinnedKeyOf(
  { spec }: InstanceObject,
  node: NodeView | undefined,
  entries: Readonly<Record<string, string>>,
): PinnedKey | undefined {
  const { hostKey = '', address } = spec;
  const isGiven = hostKey.trim() !== '';
  const read = attempt(() =>
    isGiven ? parseAuthorizedKey(hostKey.trim()) : findPinnedKey({ node, address, entries }),
  );
  if (!read.ok || read.value === undefined) return undefined;
  const isOnNode = node?.annotations[nodeAnnotation.sshHostKey] !== undefined;
  const stored = isOnNode ? `Node ${node.name}` : `ConfigMap ${configMapName.hostKeys}`;
  const { type } = read.value;
  return { type, fingerprint: fingerprint(read.value), where: isGiven ? 'spec.hostKey' : stored };
}
