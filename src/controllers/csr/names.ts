import { sameHost } from '#base/dns-name.ts';
import { ownMember } from '#base/fields.ts';
import { isIp } from '#base/ipv4.ts';
import { type ListedInstance, namesOfAddress, type PtrAnswers } from '#controllers/instances/decide.ts';

/** Host names that hosts gave over a pinned SSH connection, by address as listed; null or absent without an answer. */
export type HostNameAnswers = Readonly<Record<string, string | null | undefined>>;

/** Whether DNS says that the node is one of these hosts. An address without a name never matches and never fails others. */
export function nodeNameMatchesInstance(
  nodeName: string,
  addresses: readonly string[],
  ptrAnswers: PtrAnswers,
): boolean {
  return addresses.some(address => {
    const names = isIp(address) ? namesOfAddress(address, ptrAnswers) : [address];
    return names.some(name => sameHost(nodeName, name));
  });
}

/** Where a node name stands: it belongs to a listed instance, to none, or these hosts have yet to tell their name. */
export type Standing = { is: 'listed' } | { is: 'unlisted' } | { is: 'unsettled'; ask: string[] };

export interface Knowledge {
  instances: readonly ListedInstance[];
  /** Those of the instances that could be the node at all; nobody else is asked. */
  candidates: readonly ListedInstance[];
  ptrAnswers: PtrAnswers;
  hostNames: HostNameAnswers;
}

export function standingOf(nodeName: string, known: Knowledge): Standing {
  const addresses = known.instances.map(instance => instance.address);
  if (nodeNameMatchesInstance(nodeName, addresses, known.ptrAnswers)) return { is: 'listed' };
  const answers = known.candidates.map(({ address }) => ({
    address,
    hostName: ownMember(known.hostNames, address) ?? undefined,
  }));
  if (answers.some(({ hostName }) => hostName !== undefined && sameHost(nodeName, hostName))) return { is: 'listed' };
  const ask = answers.filter(({ hostName }) => hostName === undefined).map(({ address }) => address);
  return ask.length > 0 ? { is: 'unsettled', ask } : { is: 'unlisted' };
}
