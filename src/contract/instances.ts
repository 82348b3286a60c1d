import { byteOrder } from '#base/compare.ts';
import { isHostName, normalHostName } from '#base/dns-name.ts';
import { AppError, attempt, shown } from '#base/errors.ts';
import { ownMember } from '#base/fields.ts';
import { isIpv4, isIpv6 } from '#base/ipv4.ts';
import { configMapName } from './names.ts';
import { findNodeByAddress, type NodeView } from './node.ts';

/** A valid entry of the ConfigMap windows-instances. */
export interface Instance {
  /** The key of the entry; the host key is stored under it. */
  address: string;
  ipv4: string;
  username: string;
  node: NodeView | undefined;
}

/** Results of DNS queries, by name as written; null or missing when a name has no IPv4 address. */
export type Ipv4Answers = Readonly<Record<string, string | null | undefined>>;

/** An invalid entry has an error and does not affect the others. */
export type EntryResult =
  | { address: string; ok: true; username: string }
  | { address: string; ok: false; error: AppError };

/**
 * Parses the data of windows-instances without DNS queries. Entries are in the byte order of their keys; `label` names
 * the ConfigMap in messages.
 */
export function parseEntries(
  data: Readonly<Record<string, string>>,
  label: string = configMapName.instances,
): EntryResult[] {
  const seen = new Map<string, string>();
  return Object.keys(data)
    .sort(byteOrder)
    .map(address => {
      const parsed = attempt(() => parseEntry({ label, address }, data[address] ?? '', seen));
      return parsed.ok ? { address, ok: true, username: parsed.value } : { address, ok: false, error: parsed.error };
    });
}

export interface ResolvedInstances {
  instances: Instance[];
  failures: { address: string; error: AppError }[];
}

/**
 * Combines entries, IPv4 addresses and Nodes. Of two entries of the same host the first is kept, the second reported.
 */
export function resolveInstances(
  data: Readonly<Record<string, string>>,
  answers: Ipv4Answers,
  nodes: readonly NodeView[],
  label: string = configMapName.instances,
): ResolvedInstances {
  const result: ResolvedInstances = { instances: [], failures: [] };
  const byIpv4 = new Map<string, string>();
  for (const entry of parseEntries(data, label)) {
    const resolved = entry.ok ? attempt(() => ipv4Of({ label, address: entry.address }, answers, byIpv4)) : entry;
    if (!resolved.ok) result.failures.push({ address: entry.address, error: resolved.error });
    else if (entry.ok && 'value' in resolved) {
      const ipv4 = resolved.value;
      result.instances.push({ ...nameAndUser(entry), ipv4, node: findNodeByAddress(ipv4, nodes) });
    }
  }
  return result;
}

/** The user name of the entry whose host is recorded as this Node. Addresses do not count. */
export function usernameForNode(
  data: Readonly<Record<string, string>>,
  node: string | undefined,
  /** Node names in the records of the hosts, by entry as written. */
  recorded: Readonly<Record<string, string>>,
): string {
  const isOfNode = ({ address }: EntryResult) => node !== undefined && ownMember(recorded, address) === node;
  const matching = parseEntries(data).filter(isOfNode);
  const entry = matching.find(one => one.ok) ?? matching[0];
  if (entry?.ok === true) return entry.username;
  if (entry !== undefined) throw entry.error;
  throw new AppError('INSTANCE_NOT_LISTED', `${configMapName.instances}: no entry for node ${node ?? '(none)'}`, {
    remedy: 'Add an entry for the host, and wait until it has joined.',
  });
}

function nameAndUser(entry: { address: string; username: string }): { address: string; username: string } {
  return { address: entry.address, username: entry.username };
}

interface Entry {
  label: string;
  address: string;
}

function parseEntry(entry: Entry, value: string, seen: Map<string, string>): string {
  const { label, address } = entry;
  checkAddress(entry);
  if (value.length > maxValue) throw tooLong(entry, value.length);
  const same = seen.get(normalHostName(address));
  if (same !== undefined) throw duplicate(entry, same, 'the same name');
  const text = value.trim();
  const cut = text.indexOf('=');
  if (cut === -1 || text.slice(0, cut).trim() !== 'username') {
    // Quotes only the first word: entries may contain passwords, and messages become events.
    const [word = ''] = text.split(/[\s=:]/, 1);
    throw new AppError(
      'INSTANCE_ENTRY_MALFORMED',
      `${label}: unable to get username for ${address}: data has an incorrect format: it begins with ${shown(word)}, not with username=`,
      { remedy: `Write the value of ${address} as username=<name>, for example username=Administrator.` },
    );
  }
  const username = text.slice(cut + 1).trim();
  checkUsername(entry, username);
  seen.set(normalHostName(address), address);
  return username;
}

function tooLong({ label, address }: Entry, length: number): AppError {
  return new AppError('INSTANCE_ENTRY_MALFORMED', `${label}: ${address}: the value has ${length} characters`, {
    remedy: `Write the value of ${address} as username=<name>, with at most ${maxValue} characters.`,
  });
}

/** Of a whole entry. */
const maxValue = 1024;
/** As in the custom resource. */
const maxUsername = 256;
/** A DNS name with a trailing dot. */
const maxAddress = 254;

/**
 * Characters that Windows forbids in local user names, and control characters. An equals sign has always been allowed.
 */
const forbiddenInUsername = /(["/[\]:;|,+*?<>\p{Cc}])/u;

function checkUsername({ label, address }: Entry, username: string): void {
  const problem = usernameProblem(username);
  if (problem === undefined) return;
  throw new AppError('INSTANCE_USERNAME_INVALID', `${label}: ${address}: user name ${problem}`, {
    remedy: `Set the value of ${address} to a Windows user with administrator rights, for example username=Administrator.`,
  });
}

/** Does not quote the text after a forbidden character: it may be a password. */
export function usernameProblem(username: string): string | undefined {
  if (username === '') return 'is empty';
  if (username.length > maxUsername) return `has ${username.length} characters, more than ${maxUsername}`;
  const [name = '', sign = ''] = username.split(forbiddenInUsername, 2);
  if (sign !== '') return `${shown(name)} is followed by ${shown(sign)}, which is not allowed in a user name`;
  const words = username.split(/\s+/);
  const setting = words.findIndex((word, index) => index > 0 && word.lastIndexOf('=') > 0);
  if (setting !== -1) {
    return `${shown(words.slice(0, setting).join(' '))} is followed by another setting; only username is supported`;
  }
  // A domain user is user@domain or domain\user.
  const parts = username.split('\\');
  return parts.length <= 2 && !parts.includes('') ? undefined : `is ${shown(username)}, not user or domain\\user`;
}

function checkAddress({ label, address }: Entry): void {
  const problem = addressProblem(address);
  if (problem === undefined) return;
  throw new AppError('INSTANCE_ADDRESS_INVALID', `${label}: key ${shown(address)} ${problem}`, {
    remedy: 'Use the IPv4 address of the host or a DNS name that resolves to it as the key.',
  });
}

export function addressProblem(address: string): string | undefined {
  if (address.length > maxAddress) return `has ${address.length} characters, more than any DNS name`;
  const numeric = /^[\d.]+$/.test(address);
  if (numeric ? isIpv4(address) : isHostName(address)) return undefined;
  return isIpv6(address) ? 'is an IPv6 address; Windows nodes need IPv4' : 'is not an IPv4 address or DNS name';
}

function ipv4Of(entry: Entry, answers: Ipv4Answers, taken: Map<string, string>): string {
  const { label, address } = entry;
  const ipv4 = isIpv4(address) ? address : ownMember(answers, address);
  if (ipv4 === undefined || ipv4 === null || !isIpv4(ipv4)) {
    throw new AppError('INSTANCE_ADDRESS_UNRESOLVED', `${label}: ${address} does not resolve to an IPv4 address`, {
      remedy: 'Fix the DNS record (type A), or list the host by its IPv4 address.',
    });
  }
  const same = taken.get(ipv4);
  if (same !== undefined) throw duplicate(entry, same, ipv4);
  taken.set(ipv4, address);
  return ipv4;
}

function duplicate({ label, address }: Entry, same: string, what: string): AppError {
  return new AppError('INSTANCE_DUPLICATE', `${label}: ${address} and ${same} are the same host (${what})`, {
    remedy: `Remove one of the two entries; ${same} is used.`,
  });
}
