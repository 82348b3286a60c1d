import { normalHostName } from '#base/dns-name.ts';
import { ownMember } from '#base/fields.ts';
import { configMapName, nodeAnnotation } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { type HostKey, parseHostKey, printHostKey } from '#host/host-key.ts';

/** Where the host key of one instance can be stored: on its Node, or under its address in the ConfigMap. */
export interface HostKeyPlaces {
  /** Undefined while the instance has no Node, or it is gone. */
  node: Pick<NodeView, 'name' | 'annotations'> | undefined;
  /** As the instance is listed; empty when only the Node is known. */
  address: string;
  /** Data of the ConfigMap windows-ssh-host-keys; empty when it does not exist. */
  entries: Readonly<Record<string, string>>;
}

/** What to write. The annotations come first; only when they are stored may the entries of the ConfigMap change. */
export interface HostKeyChanges {
  /** For the Node. */
  annotations: Record<string, string>;
  /** Merge patch for the ConfigMap's data: null removes an entry. */
  entries: Record<string, string | null>;
}

/** The key the host must show; undefined when any will do. A stored key that cannot be read is an error, never ignored. */
export function findPinnedKey({ node, address, entries }: HostKeyPlaces): HostKey | undefined {
  const onNode = node?.annotations[nodeAnnotation.sshHostKey];
  if (onNode) return parseHostKey(onNode, `Node ${node?.name}: annotation ${nodeAnnotation.sshHostKey}`);
  const entry = ownMember(entries, address);
  return entry
    ? parseHostKey(entry, `ConfigMap ${configMapName.hostKeys}: data[${JSON.stringify(address)}]`)
    : undefined;
}

/** After a connection to a host without pinned key: where the key it showed is kept from now on. */
export function rememberKey({ node, address, entries }: HostKeyPlaces, key: HostKey): HostKeyChanges {
  if (node !== undefined) return { annotations: keyAnnotations(key), entries: without(entries, [address]) };
  return { annotations: {}, entries: address === '' ? {} : { [address]: printHostKey(key) } };
}

/** While a node is configured: moves the key that was stored before there was a Node. A Node that has a key keeps it. */
export function moveKeyToNode({ node, address, entries }: HostKeyPlaces): HostKeyChanges {
  if (node === undefined || node.annotations[nodeAnnotation.sshHostKey]) return noChanges();
  const key = findPinnedKey({ node, address, entries });
  return key === undefined ? noChanges() : { annotations: keyAnnotations(key), entries: without(entries, [address]) };
}

/** After a permanent removal; the annotation goes with the Node. */
export function forgetKey(address: string, entries: HostKeyPlaces['entries']): HostKeyChanges {
  return { annotations: {}, entries: without(entries, [address]) };
}

/**
 * Entries of hosts that are gone, such as Machines that never became a Node: whoever gets the address next has another key.
 * `inUse` must name every address of instances, Machines and Windows nodes, those with errors too.
 */
export function forgetUnusedKeys(entries: HostKeyPlaces['entries'], inUse: readonly string[]): HostKeyChanges {
  const kept = new Set(inUse.map(normalHostName));
  const unused = Object.keys(entries).filter(address => !kept.has(normalHostName(address)));
  return { annotations: {}, entries: without(entries, unused) };
}

function keyAnnotations(key: HostKey): Record<string, string> {
  return { [nodeAnnotation.sshHostKey]: printHostKey(key), [nodeAnnotation.sshHostKeyType]: key.type };
}

function without(entries: HostKeyPlaces['entries'], addresses: readonly string[]): Record<string, null> {
  return Object.fromEntries(
    addresses.filter(address => Object.hasOwn(entries, address)).map(address => [address, null]),
  );
}

function noChanges(): HostKeyChanges {
  return { annotations: {}, entries: {} };
}
