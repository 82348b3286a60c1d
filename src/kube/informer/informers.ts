import { orAborted } from '#base/waiting/abort.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import { Informer, type InformerCounts, type InformerOptions } from './informer.ts';
import type { Runnable } from '../controller/manager.ts';
import type { Scope } from './reflector-watch.ts';
import type { KubeResource, Resource } from '../resource.ts';

export type InformersOptions = Omit<InformerOptions<KubeResource>, 'resource' | 'scope' | 'withoutRight'>;

/** The shared informers of a program, one per resource and scope. */
export class Informers implements Runnable {
  readonly name = 'informers';
  readonly #options: InformersOptions;
  readonly #informers = new Map<string, Informer<KubeResource>>();
  #state: 'new' | 'started' | 'stopped' = 'new';

  constructor(options: InformersOptions) {
    this.#options = options;
  }

  /** Starts a new informer if the others are running. */
  get<T extends KubeResource>(
    resource: Resource<T>,
    scope: Scope = {},
    how: Pick<InformerOptions<T>, 'withoutRight'> = {},
  ): Informer<T> {
    if (this.#state === 'stopped') throw new Error(`the informers are stopped; cannot add ${resource.plural}`);
    const name = nameOf(resource, scope);
    const present = this.#informers.get(name) as Informer<T> | undefined;
    if (present !== undefined) return present;
    const informer = new Informer<T>({ ...this.#options, ...how, resource, scope });
    this.#informers.set(name, informer as unknown as Informer<KubeResource>);
    if (this.#state === 'started') informer.start();
    return informer;
  }

  start(): void {
    if (this.#state === 'stopped') return;
    this.#state = 'started';
    for (const informer of this.#informers.values()) informer.start();
  }

  /** Resolves when all present informers have synced; rejects when the signal is aborted before. */
  async synced(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    const all = Promise.all([...this.#informers.values()].map(informer => informer.synced));
    await (signal === undefined ? all : orAborted(all, signal));
  }

  /** Ready when all informers have synced. */
  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    this.start();
    try {
      await this.synced(signal);
      ready();
      await whenAborted(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      await this.stop();
    }
  }

  /** The informers whose list or watch fails. */
  troubles(): { informer: string; hasSynced: boolean; trouble: string }[] {
    return [...this.#informers].flatMap(([name, { hasSynced, trouble }]) =>
      trouble === undefined ? [] : [{ informer: name, hasSynced, trouble }],
    );
  }

  /** Statistics of each informer. */
  figures(): { informer: string; counts: InformerCounts; objects: number }[] {
    return [...this.#informers].map(([name, { counts, store }]) => ({ informer: name, counts, objects: store.size }));
  }

  async stop(): Promise<void> {
    this.#state = 'stopped';
    await Promise.all([...this.#informers.values()].map(informer => informer.stop()));
  }
}

/** Unique per resource and scope. */
function nameOf(resource: Resource, { namespace, labelSelector, fieldSelector }: Scope): string {
  const kind = [resource.plural, resource.version, resource.group].filter(part => part !== '').join('.');
  const scope = Object.entries({ namespace, labelSelector, fieldSelector })
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([name, value]) => ` ${name}=${value}`);
  return `${kind}${scope.join('')}`;
}
