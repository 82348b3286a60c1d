import { attempt } from '#base/errors.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { configMapName, nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { findPinnedKey, knownKey } from '#node/host-keys/host-key-annotation.ts';
import { fingerprint } from '#host/keys/public-key.ts';

/** The SSH host key that a host must present. */
export interface PinnedKey {
  type: string;
  /** In the format of `ssh-keygen -l`. */
  fingerprint: string;
  /** Object or field that holds it. */
  where: string;
}

/** Undefined when no key is pinned, or when the stored key is unreadable, which a condition reports. */
export function pinnedKeyOf(
  instance: WindowsInstance,
  node: NodeView | undefined,
  entries: Readonly<Record<string, string>>,
): PinnedKey | undefined {
  const { address, hostKey = '' } = instance.spec;
  const known = attempt(() => knownKey(instance));
  const read = known.ok && known.value === undefined ? attempt(() => findPinnedKey({ node, address, entries })) : known;
  if (!read.ok || read.value === undefined) return undefined;
  const isOnNode = node?.annotations[nodeAnnotation.sshHostKey] !== undefined;
  const stored = isOnNode ? `Node ${node.name}` : `ConfigMap ${configMapName.hostKeys}`;
  const recorded = hostKey.trim() === '' ? 'status.hostKey' : 'spec.hostKey';
  const where = known.ok && known.value !== undefined ? recorded : stored;
  return { type: read.value.type, fingerprint: fingerprint(read.value), where };
}
