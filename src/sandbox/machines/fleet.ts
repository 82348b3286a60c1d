import { normalHostName } from '#base/dns-name.ts';
import { AppError, shown } from '#base/errors.ts';
import { endEffects } from './end-effects.ts';
import { type FaultName, findFault } from './faults.ts';
import { SimulatedHost } from './host/host.ts';
import type { HostSpec, HostDeps } from './host/spec.ts';
import { isIpv4 } from '#base/ipv4.ts';
import type { DialTcp } from '#host/dial-tcp.ts';
import type { Resolver } from '#host/resolver.ts';
import type { FindRoute } from './routes.ts';
import { type Times, defaultTimes } from './times.ts';
import { type Traits, defaultTraits } from './traits.ts';

/** A new host; missing values are defaults. */
export interface NewHost {
  name: string;
  user: string;
  authorizedKeys: HostSpec['authorizedKeys'];
  /** Whether it has a DNS name. */
  hasDnsName?: boolean;
  faults?: readonly FaultName[];
  traits?: Partial<Traits>;
  times?: Partial<Times>;
}

export const dnsSuffix = 'sandbox.test';

/** All simulated hosts with their network and DNS. */
export class Fleet {
  readonly #deps: HostDeps;
  readonly #times: Times;
  readonly #hosts = new Map<string, SimulatedHost>();
  readonly #added = new WeakMap<SimulatedHost, NewHost>();
  readonly #leaving = new Set<Promise<void>>();
  #addresses = 10;

  constructor(deps: HostDeps, times: Times = defaultTimes) {
    this.#deps = deps;
    this.#times = times;
  }

  get hosts(): readonly SimulatedHost[] {
    return [...this.#hosts.values()];
  }

  host(name: string): SimulatedHost {
    const found = this.#hosts.get(name);
    if (found !== undefined) return found;
    throw new AppError('USAGE', `host ${shown(name)} does not exist in the sandbox`, {
      remedy: `Use one of ${[...this.#hosts.keys()].join(', ') || 'none: there are no hosts'}.`,
    });
  }

  at(address: string): SimulatedHost | undefined {
    return this.hosts.find(({ spec }) => spec.address === address);
  }

  /** Adds a host without starting it. */
  add(added: NewHost): SimulatedHost {
    const { name, user, authorizedKeys, hasDnsName = false } = added;
    if (this.#hosts.has(name))
      throw new AppError('USAGE', `host ${shown(name)} already exists in the sandbox`, {
        remedy: 'Choose another name.',
      });
    const spec = { name, address: this.#nextAddress(), dnsSuffix: hasDnsName ? dnsSuffix : '', user, authorizedKeys };
    const host = new SimulatedHost({ ...spec, ...this.#propertiesOf(added) }, this.#deps);
    this.#hosts.set(name, host);
    this.#added.set(host, added);
    return host;
  }

  /** The faults of a host that have not ended. */
  faultsOf(name: string): readonly FaultName[] {
    return this.#added.get(this.host(name))?.faults ?? [];
  }

  /** Changes a host as an administrator does who follows the remedy of the fault. */
  endFault(name: string, ended: FaultName): void {
    const host = this.host(name);
    const added = this.#added.get(host);
    const left = this.faultsOf(name).filter(fault => fault !== ended);
    if (added === undefined || left.length === this.faultsOf(name).length)
      throw new AppError('USAGE', `host ${shown(name)} does not have the fault ${ended}`, {
        remedy: `End one of its faults: ${left.join(', ') || 'it has none'}.`,
      });
    const next: NewHost = { ...added, faults: left };
    this.#added.set(host, next);
    const { traits = {}, times = {} } = findFault(ended);
    const { traits: nextTraits, times: nextTimes } = this.#propertiesOf(next);
    host.change(pick(nextTraits, traits), pick(nextTimes, times));
    endEffects(host, traits);
  }

  /** Gives a host another address, to which its DNS name then resolves. */
  move(name: string): string {
    const address = this.#nextAddress();
    this.host(name).move(address);
    return address;
  }

  /** Unreachable at once; the promise resolves when it has stopped. */
  remove(name: string): Promise<void> {
    const host = this.#hosts.get(name);
    if (host === undefined) return Promise.resolve();
    this.#hosts.delete(name);
    this.#deps.onChange();
    const leaving = host.stop().finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
    return leaving;
  }

  async stop(): Promise<void> {
    for (const name of this.#hosts.keys()) void this.remove(name);
    await Promise.all(this.#leaving);
  }

  /** By address or DNS name. */
  find(address: string): SimulatedHost | undefined {
    const plain = normalHostName(address);
    return this.at(plain) ?? this.hosts.find(host => namesOf(host).includes(plain));
  }

  readonly findRoute: FindRoute = async address => {
    const [known] = await this.names.addresses(address);
    return known === undefined ? 'unknown name' : this.at(known)?.route();
  };

  readonly dialTcp: DialTcp = async (address, port) => {
    if (this.at(address)?.acceptsOn(port) === true) return;
    throw Object.assign(new Error(`connect ECONNREFUSED ${address}:${port}`), { code: 'ECONNREFUSED' });
  };

  readonly names: Resolver = {
    addresses: async name => {
      if (isIpv4(name)) return [name];
      const plain = normalHostName(name);
      return this.hosts.filter(host => namesOf(host).includes(plain)).map(({ spec }) => spec.address);
    },
  };

  #propertiesOf({ faults: names = [], traits, times }: NewHost): { traits: Traits; times: Times } {
    const all = names.map(findFault);
    return {
      traits: Object.assign({}, defaultTraits, ...all.map(fault => fault.traits), traits) as Traits,
      times: Object.assign({}, this.#times, ...all.map(fault => fault.times), times) as Times,
    };
  }

  #nextAddress(): string {
    this.#addresses += 1;
    return `10.0.${1 + Math.floor(this.#addresses / 250)}.${1 + (this.#addresses % 250)}`;
  }
}

/** What DNS resolves; the domain of the cluster is a search domain. */
function namesOf(host: SimulatedHost): string[] {
  const full = dnsNameOf(host);
  return [normalHostName(host.spec.name), ...(full === undefined ? [] : [full])];
}

/** The members of `from` that `names` has, too. */
function pick<T extends object>(from: T, names: Partial<T>): Partial<T> {
  return Object.fromEntries(Object.entries(from).filter(([name]) => Object.hasOwn(names, name))) as Partial<T>;
}

/** The DNS name of a host. */
export function dnsNameOf(host: SimulatedHost | undefined): string | undefined {
  return host === undefined || host.spec.dnsSuffix === '' ? undefined : `${host.spec.name}.${host.spec.dnsSuffix}`;
}
