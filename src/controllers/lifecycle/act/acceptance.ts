import { normalHostName } from '#base/dns-name.ts';
import type { ErrorCode } from '#base/error-codes.ts';
import { type AppError, isAppError } from '#base/errors.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { InstanceEntries } from '#cluster/instance-entries.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { configMapName } from '#contract/names.ts';
import type { Resolver } from '#host/resolver.ts';
import type { Client } from '#kube/client.ts';
import type { Informer } from '#kube/informer/informer.ts';
import { keyOf, keyText } from '#kube/resource.ts';
import type { ConfigMap } from '#kube/resources.ts';
import { loadInstanceKey } from '#node/inputs/private-key.ts';
import { sourceOf } from '#cluster/instance-source.ts';
import { isRejected } from '../condition.ts';
import { acceptanceProblem, hostsOf } from '#node/acceptance-problem.ts';

export interface AcceptanceOptions {
  client: Pick<Client, 'find'>;
  resolver: Pick<Resolver, 'addresses'>;
  instances: Informer<WindowsInstance>;
  /** Holds the ConfigMap windows-instances. */
  maps: Informer<ConfigMap>;
  namespace: string;
}

const byHost = 'host';

/** Decides whether the operator configures the host of an instance. */
export class Acceptance {
  readonly #options: AcceptanceOptions;
  readonly #entries = new InstanceEntries();
  /** Checks of running journeys, by key of their instance. */
  readonly #checks = new Map<string, () => void>();

  constructor(options: AcceptanceOptions) {
    const { instances, maps } = options;
    this.#options = options;
    instances.addIndex(byHost, hostsOf);
    const checkRivals = (...versions: WindowsInstance[]) => {
      // Most changes are made while no journey runs, or long before one.
      if (this.#checks.size === 0) return;
      const rivals = new Set(versions.flatMap(version => this.rivalsOf(version)).map(rival => keyText(keyOf(rival))));
      for (const key of rivals) this.#checks.get(key)?.();
    };
    const checkAll = () => [...this.#checks.values()].forEach(check => check());
    instances.addHandler({ added: checkRivals, updated: checkRivals, deleted: checkRivals });
    maps.addHandler({ added: checkAll, updated: checkAll, deleted: checkAll });
  }

  /** Looks at caches only. */
  knownProblem(instance: WindowsInstance): AppError | undefined {
    return this.#problem(instance, undefined, []);
  }

  /** Also reads the Secret of the instance and DNS. */
  async problem(instance: WindowsInstance, signal: AbortSignal): Promise<AppError | undefined> {
    const { client, resolver } = this.#options;
    const key = await keyProblem(instance, client, signal);
    return this.#problem(instance, key, await addressesOf(instance, resolver));
  }

  /** Instances of the same host, this one included if the store has it. */
  rivalsOf(instance: WindowsInstance, ipv4s: readonly string[] = []): WindowsInstance[] {
    const { store } = this.#options.instances;
    return [...new Set(hostsOf(instance, ipv4s).flatMap(host => store.byIndex(byHost, host)))];
  }

  /** Calls back when caches show a reason to reject the instance. */
  follow(instance: WindowsInstance, onRejected: (problem: AppError) => void): Disposable {
    const { store } = this.#options.instances;
    const key = keyText(keyOf(instance));
    const check = () => {
      const problem = this.knownProblem(store.get(keyOf(instance)) ?? instance);
      if (problem !== undefined) onRejected(problem);
    };
    this.#checks.set(key, check);
    check();
    return {
      [Symbol.dispose]: () => {
        if (this.#checks.get(key) === check) this.#checks.delete(key);
      },
    };
  }

  #problem(instance: WindowsInstance, key: AppError | undefined, ipv4s: readonly string[]): AppError | undefined {
    const { maps, namespace } = this.#options;
    const map = maps.store.get({ namespace, name: configMapName.instances });
    return acceptanceProblem({
      instance,
      entryProblem: this.#entryProblem(instance, map),
      keyProblem: key,
      rivals: this.rivalsOf(instance, ipv4s),
    });
  }

  /** What is wrong with the entry of an instance. A missing entry is no problem: the instance is deleted then. */
  #entryProblem(instance: WindowsInstance, map: ConfigMap | undefined): AppError | undefined {
    const source = sourceOf(instance);
    if (source?.kind !== 'ConfigMap') return undefined;
    const entries = this.#entries.of(normalHostName(source.name), map);
    const [first] = entries;
    return first === undefined || first.ok || entries.some(entry => entry.ok) ? undefined : first.error;
  }
}

/** What is wrong with the Secret in `spec.keySecret`. */
async function keyProblem(
  instance: WindowsInstance,
  client: Pick<Client, 'find'>,
  signal: AbortSignal,
): Promise<AppError | undefined> {
  try {
    await loadInstanceKey(instance, client, signal);
    return undefined;
  } catch (error) {
    if (isAppError(error) && keyErrors.includes(error.code)) return error;
    signal.throwIfAborted();
    // The journey reads the key too and reports the error; only an instance that is rejected must stay so.
    if (isRejected(instance)) throw error;
    return undefined;
  }
}

/** Errors about the key itself; after any other, such as a lost connection, the pass is retried. */
const keyErrors: readonly ErrorCode[] = [
  'PRIVATE_KEY_MISSING',
  'FIELD_INVALID',
  'PRIVATE_KEY_UNREADABLE',
  'PRIVATE_KEY_ENCRYPTED',
  'PUBLIC_KEY_WEAK',
];

/** What the name resolves to; empty when it does not resolve, which the step `connect` reports. */
async function addressesOf(
  { spec }: WindowsInstance,
  resolver: Pick<Resolver, 'addresses'>,
): Promise<readonly string[]> {
  if (isIpv4(spec.address)) return [];
  return resolver.addresses(spec.address).catch(() => []);
}
