import { normalHostName, sameHost } from '#base/dns-name.ts';
import { ownMember } from '#base/fields.ts';
import { isIp, isIpv4 } from '#base/ipv4.ts';
import { isByohNode, type NodeAddress, type NodeView } from '#contract/node.ts';

/** An entry of windows-instances as far as it is known: the address as written, and what it resolves to. */
export interface ListedInstance {
  address: string;
  ipv4: string | undefined;
}

/** Names that DNS gives for an address (PTR records); null or absent when the look-up failed. */
export type PtrAnswers = Readonly<Record<string, readonly string[] | null | undefined>>;

/** All names by which DNS knows an address; none for what is no IP address. */
export function namesOfAddress(address: string, answers: PtrAnswers): readonly string[] {
  return isIp(address) ? (ownMember(answers, address) ?? []) : [];
}

/** Whether a Node is one of the instances: by an address it reports, or by the name DNS gives for that address. */
export function nodeHasInstance(
  nodeAddresses: readonly NodeAddress[],
  instances: readonly ListedInstance[],
  ptrAnswers: PtrAnswers,
): boolean {
  const names = new Set(instances.map(instance => normalHostName(instance.address)));
  const listed = new Set([...names, ...instances.map(instance => instance.ipv4 ?? '')]);
  return nodeAddresses.some(({ address }) => {
    if (address !== '' && listed.has(normalHostName(address))) return true;
    return namesOfAddress(address, ptrAnswers).some(name => name !== '' && names.has(normalHostName(name)));
  });
}

/** What became of the entries of windows-instances; failures are entries that did not parse or resolve. */
export interface ListedEntries {
  instances: readonly ListedInstance[];
  failures: readonly { address: string }[];
}

export interface RemovalDecision {
  node: string;
  do: 'remove' | 'keep';
  why: string;
}

/**
 * Which nodes of BYOH hosts are no longer wanted. A node stays while it belongs to an entry. An entry that failed has no
 * IPv4 address to compare with, so there the benefit of the doubt applies: the node stays as well if any name it
 * reports, or DNS gives for its addresses, is that entry's name in full or by its first label. A node that reports no
 * host name at all cannot be told apart from an unresolved entry and stays too. All others are removed, so that one
 * mistyped entry does not hold up the removal of the rest.
 */
export function decideRemovals(
  nodes: readonly NodeView[],
  entries: ListedEntries,
  ptrAnswers: PtrAnswers,
): RemovalDecision[] {
  return nodes.filter(isByohNode).map(node => {
    const reason = reasonToKeep(node, entries, ptrAnswers);
    if (reason !== undefined) return { node: node.name, do: 'keep', why: reason };
    return { node: node.name, do: 'remove', why: 'no entry of windows-instances belongs to it' };
  });
}

/**
 * What becomes of the WindowsInstance of an entry that is no longer there. If another entry is the same host, that one takes it
 * over. While it may be one that could not be read or resolved, nothing is deleted.
 */
export function decideOrphan(
  node: NodeView | undefined,
  entries: ListedEntries,
  ptrAnswers: PtrAnswers,
): { do: 'delete' | 'keep'; why: string } {
  if (node !== undefined && nodeHasInstance(node.addresses, entries.instances, ptrAnswers)) {
    return { do: 'delete', why: 'another entry of windows-instances is the same host' };
  }
  const [removal] = node === undefined ? [] : decideRemovals([node], entries, ptrAnswers);
  return removal?.do === 'keep'
    ? { do: 'keep', why: removal.why }
    : { do: 'delete', why: 'its entry of windows-instances is gone' };
}

function reasonToKeep(node: NodeView, entries: ListedEntries, ptrAnswers: PtrAnswers): string | undefined {
  if (nodeHasInstance(node.addresses, entries.instances, ptrAnswers)) return 'it is listed in windows-instances';
  const reported = [node.name, ...node.addresses.map(item => item.address)];
  const names = reported.flatMap(address => [address, ...namesOfAddress(address, ptrAnswers)]);
  const doubtful = entries.failures.find(({ address }) => names.some(name => sameHost(name, address)));
  if (doubtful !== undefined) return `it may be ${doubtful.address}, whose entry could not be read or resolved`;
  const unresolved = entries.failures.find(({ address }) => !isIpv4(address));
  const hasName = node.addresses.some(({ address }) => address !== '' && !isIp(address));
  if (unresolved === undefined || hasName) return undefined;
  return `it reports no host name and may be ${unresolved.address}, whose entry could not be read or resolved`;
}
