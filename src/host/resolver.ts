import { lookup, Resolver as DnsResolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';
import { isHostName, normalHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import { isIpv4, parseIpv4 } from '#base/ipv4.ts';
import { AnswerCache } from './answer-cache.ts';
import { parseHostsFile } from './hosts-file.ts';
import { Turns } from './turns.ts';

/** Asks which address a name has. Fails only when no server can tell: no answer is no "no". Which name an address has is not asked. */
export interface Resolver {
  /** IPv4 addresses in the order of their numbers; none for a name that has none. An address is its own answer. */
  addresses(name: string): Promise<readonly string[]>;
}

/** The IPv4 address to dial for an address or a name; undefined when the name has none. */
export async function ipv4Of(address: string, resolver: Resolver): Promise<string | undefined> {
  return isIpv4(address) ? address : (await resolver.addresses(address)).find(isIpv4);
}

export interface ResolverOptions {
  clock: Clock;
  /** For one question, whatever it takes to answer it. */
  timeoutMs?: number;
  /** How long an answer is good. */
  cacheMs?: number;
  /** How long it is not asked again for what has no answer, or could not be found out. */
  failureCacheMs?: number;
  /** Name servers as `address:port`; those of the machine when absent. */
  servers?: readonly string[];
  hostsFile?: string;
}

/**
 * The hosts file first, then the name servers, without a thread and many at a time. What they do not know the machine's own
 * library is asked for: it knows search domains and other sources, but each of its questions holds a thread for as long as it
 * likes, so there are few at a time.
 */
export function createResolver(options: ResolverOptions): Resolver {
  const { clock, timeoutMs = 3000, cacheMs = 60_000, failureCacheMs = 10_000, hostsFile = '/etc/hosts' } = options;
  const servers = new DnsResolver({ timeout: Math.max(1, Math.floor(timeoutMs / 2)), tries: 2 });
  if (options.servers !== undefined) servers.setServers(options.servers);
  const cache = new AnswerCache<readonly string[]>({
    clock,
    goodMs: answer => (answer.length > 0 ? cacheMs : failureCacheMs),
    failedMs: failureCacheMs,
  });
  const turns = new Turns(maxLibraryQuestions);

  return {
    addresses: async name => {
      if (isIpv4(name)) return [name];
      if (!isHostName(name)) return [];
      return cache.get(normalHostName(name), () => limited(name, end => findAddresses(normalHostName(name), end)));
    },
  };

  async function findAddresses(name: string, end: AbortSignal): Promise<readonly string[]> {
    const listed = (await readHosts()).addressesOf(name).filter(isIpv4);
    if (listed.length > 0) return inOrder(listed);
    const known = await unlessUnknown(() => servers.resolve4(name));
    return inOrder(known ?? (await askLibrary(name, end)));
  }

  async function askLibrary(name: string, end: AbortSignal): Promise<string[]> {
    const found = await turns.take(() => unlessUnknown(() => lookup(name, { family: 4, all: true })), end);
    return (found ?? []).map(({ address }) => address);
  }

  async function readHosts() {
    return parseHostsFile(await readFile(hostsFile, 'utf8').catch(() => ''));
  }

  async function limited<T>(subject: string, find: (end: AbortSignal) => Promise<T>): Promise<T> {
    const [over, end] = [new AbortController(), new AbortController()];
    const late = clock.sleep(timeoutMs, over.signal).then(() => {
      throw new Error(`no answer within ${timeoutMs} ms`);
    });
    try {
      return await Promise.race([find(end.signal), late]);
    } catch (error) {
      throw lookupFailed(subject, error);
    } finally {
      over.abort();
      end.abort();
    }
  }
}

/** Of the four threads that file access needs as well. */
const maxLibraryQuestions = 2;

const unknownCodes = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];

/** Undefined when somebody who should know says that there is nothing. */
async function unlessUnknown<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (unknownCodes.includes((error as { code?: string }).code ?? '')) return undefined;
    throw error;
  }
}

function inOrder(addresses: readonly string[]): string[] {
  return [...new Set(addresses)].sort((one, other) => (parseIpv4(one) ?? 0) - (parseIpv4(other) ?? 0));
}

function lookupFailed(subject: string, cause: unknown): AppError {
  const why = (cause as { code?: string }).code ?? (cause instanceof Error ? cause.message : 'unknown');
  return new AppError('NAME_LOOKUP_FAILED', `${shown(subject)} cannot be looked up: ${why}`, {
    remedy: 'See that the name servers of the machine on which the operator runs answer; it is asked again.',
    cause,
  });
}
