import { lookup, Resolver as DnsResolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import type { Clock } from '#base/clock.ts';
import { isHostName, normalHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import { isIpv4, parseIpv4 } from '#base/ipv4.ts';
import { withDeadline } from '#base/waiting/deadline.ts';
import { Slots } from '#base/waiting/slots.ts';
import { AnswerCache } from './answer-cache.ts';
import { parseHostsFile } from './hosts-file.ts';

/** Resolves names. Fails only when no server answers: that is not the same as a name without an address. */
export interface Resolver {
  /** IPv4 addresses in numeric order, possibly none. An address resolves to itself. */
  addresses(name: string): Promise<readonly string[]>;
}

/** The IPv4 address to dial for an address or a name; undefined when the name has none. */
export async function ipv4Of(address: string, resolver: Resolver): Promise<string | undefined> {
  return isIpv4(address) ? address : (await resolver.addresses(address)).find(isIpv4);
}

export interface ResolverOptions {
  clock: Clock;
  /** For one name, all servers together. */
  timeoutMs?: number;
  /** How long an answer is valid. */
  cacheMs?: number;
  /** How long a name without an address, or a failure, is not queried again. */
  failureCacheMs?: number;
  /** Name servers as `address:port`; default: those of the machine. */
  servers?: readonly string[];
  hostsFile?: string;
}

/**
 * Uses the hosts file, then the name servers (no thread needed, many queries at a time), then getaddrinfo. The latter
 * knows search domains and other sources, but each call blocks a thread, so only a few run at a time.
 */
export function createResolver(options: ResolverOptions): Resolver {
  const { clock, timeoutMs = 3000, cacheMs = 60_000, failureCacheMs = 10_000, hostsFile = '/etc/hosts' } = options;
  const servers = new DnsResolver({ timeout: Math.max(1, Math.floor(timeoutMs / 2)), tries: 2 });
  if (options.servers !== undefined) servers.setServers(options.servers);
  const cache = new AnswerCache<readonly string[]>({
    clock,
    validMs: answer => (answer.length > 0 ? cacheMs : failureCacheMs),
    failureMs: failureCacheMs,
  });
  const slots = new Slots(maxThreads);

  return {
    addresses: async name => {
      if (isIpv4(name)) return [name];
      if (!isHostName(name)) return [];
      return cache.get(normalHostName(name), () => findInTime(name));
    },
  };

  async function findInTime(name: string): Promise<readonly string[]> {
    const error = () => new Error(`no answer within ${timeoutMs / 1000} s`);
    try {
      return await withDeadline({ clock, ms: timeoutMs, error }, signal => findAddresses(normalHostName(name), signal));
    } catch (cause) {
      throw lookupFailed(name, cause);
    }
  }

  async function findAddresses(name: string, signal: AbortSignal): Promise<readonly string[]> {
    const listed = (await readHosts()).addressesOf(name).filter(isIpv4);
    if (listed.length > 0) return inOrder(listed);
    const known = await unlessUnknown(() => servers.resolve4(name));
    return inOrder(known ?? (await lookUp(name, signal)));
  }

  async function lookUp(name: string, signal: AbortSignal): Promise<string[]> {
    using _slot = await slots.take(signal);
    const found = await unlessUnknown(() => lookup(name, { family: 4, all: true }));
    return (found ?? []).map(({ address }) => address);
  }

  async function readHosts() {
    return parseHostsFile(await readFile(hostsFile, 'utf8').catch(() => ''));
  }
}

/** Of the four threads that file access needs as well. */
const maxThreads = 2;

const unknownCodes = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];

/** Undefined when the answer is that the name does not exist. */
async function unlessUnknown<T>(query: () => Promise<T>): Promise<T | undefined> {
  try {
    return await query();
  } catch (error) {
    if (unknownCodes.includes((error as { code?: string }).code ?? '')) return undefined;
    throw error;
  }
}

function inOrder(addresses: readonly string[]): string[] {
  return [...new Set(addresses)].sort((one, other) => (parseIpv4(one) ?? 0) - (parseIpv4(other) ?? 0));
}

function lookupFailed(name: string, cause: unknown): AppError {
  const why = (cause as { code?: string }).code ?? (cause instanceof Error ? cause.message : 'unknown');
  return new AppError('NAME_LOOKUP_FAILED', `cannot resolve ${shown(name)}: ${why}`, {
    remedy: 'Check the name servers of the machine on which the operator runs.',
    cause,
  });
}
