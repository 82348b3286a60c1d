import { AppError, shown } from '#base/errors.ts';
import type { Fault } from './faults.ts';
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
  faults?: readonly Fault[];
  traits?: Partial<Traits>;
  times?: Partial<Times>;
}

export const dnsSuffix = 'sandbox.test';

/** All simulated hosts with their network and DNS. */
export class Fleet {
  readonly #deps: HostDeps;
  readonly #times: Times;
  readonly #hosts = new Map<string, SimulatedHost>();
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
    const { name, user, authorizedKeys, hasDnsName = false, faults = [] } = added;
    if (this.#hosts.has(name))
      throw new AppError('USAGE', `host ${shown(name)} already exists in the sandbox`, {
        remedy: 'Choose another name.',
      });
    const traits = Object.assign({}, defaultTraits, ...faults.map(fault => fault.traits), added.traits) as Traits;
    const times = Object.assign({}, this.#times, ...faults.map(fault => fault.times), added.times) as Times;
    const spec = { name, address: this.#nextAddress(), dnsSuffix: hasDnsName ? dnsSuffix : '', user, authorizedKeys };
    const host = new SimulatedHost({ ...spec, traits, times }, this.#deps);
    this.#hosts.set(name, host);
    return host;
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
      const plain = name.toLowerCase().replace(/\.$/, '');
      return this.hosts.filter(host => dnsNameOf(host) === plain).map(({ spec }) => spec.address);
    },
  };

  #nextAddress(): string {
    this.#addresses += 1;
    return `10.0.${1 + Math.floor(this.#addresses / 250)}.${1 + (this.#addresses % 250)}`;
  }
}

/** The DNS name of a host. */
export function dnsNameOf(host: SimulatedHost | undefined): string | undefined {
  return host === undefined || host.spec.dnsSuffix === '' ? undefined : `${host.spec.name}.${host.spec.dnsSuffix}`;
}
