import { AppError, attempt } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { configMapName, nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { type HostKey, parseHostKey } from '#host/host-key.ts';
import { parseAuthorizedKey } from '#host/keys/public-key.ts';

/** Where earlier operators stored the host key of an instance: on its Node, or under its address in the ConfigMap. */
export interface HostKeyPlaces {
  /** Undefined when the instance has no Node. */
  node: Pick<NodeView, 'name' | 'annotations'> | undefined;
  /** Empty when only the Node is known. */
  address: string;
  /** Data of the ConfigMap windows-ssh-host-keys; empty when it does not exist. */
  entries: Readonly<Record<string, string>>;
}

/** The key in spec.hostKey, else the pinned one in the status. Only an administrator can change them. */
export function knownKey({ metadata, spec, status }: WindowsInstance): HostKey | undefined {
  const given = spec.hostKey?.trim() ?? '';
  const [text, place] = given === '' ? [status?.hostKey ?? '', 'status.hostKey'] : [given, 'spec.hostKey'];
  if (text === '') return undefined;
  const read = attempt(() => parseAuthorizedKey(text));
  if (read.ok) return read.value;
  throw new AppError('HOST_KEY_UNREADABLE', `WindowsInstance ${metadata.name}: ${place}: ${read.error.message}`, {
    remedy: 'Set spec.hostKey to `<type> <base64>`, as `ssh-keyscan` prints after the name of the host.',
  });
}

/** The stored key of an instance without a recorded one; undefined to accept any. Fails for a stored key that cannot be read. */
export function findPinnedKey({ node, address, entries }: HostKeyPlaces): HostKey | undefined {
  const onNode = node?.annotations[nodeAnnotation.sshHostKey];
  if (onNode) return parseHostKey(onNode, `Node ${node?.name}: annotation ${nodeAnnotation.sshHostKey}`);
  const entry = ownMember(entries, address);
  return entry
    ? parseHostKey(entry, `ConfigMap ${configMapName.hostKeys}: data[${JSON.stringify(address)}]`)
    : undefined;
}

/** Merge patch that removes the entry of an address; empty without an entry. */
export function forgetKey(address: string, entries: HostKeyPlaces['entries']): Record<string, null> {
  return Object.hasOwn(entries, address) ? { [address]: null } : {};
}
