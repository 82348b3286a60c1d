import { type Log, silentLog } from '#base/log.ts';
import { Reflector, type ReflectorCounts, type ReflectorOptions } from './reflector.ts';
import { type KubeResource, keyOf, keyText } from '../resource.ts';
import { type Change, type Index, Store, type StoreView } from './store.ts';

/** Is told what happens to each object, in order. May be slow or fail: nobody waits for it, nobody else suffers. */
export interface Handler<T> {
  added?(object: T): unknown;
  updated?(old: T, object: T): unknown;
  /** With the last state that is known. */
  deleted?(object: T): unknown;
}

export type InformerOptions<T extends KubeResource> = Omit<ReflectorOptions<T>, 'sink'>;

export interface InformerCounts extends ReflectorCounts {
  handlerErrors: number;
}

interface Registration<T> {
  handler: Handler<T>;
  isRemoved: boolean;
}

/** One picture of a resource, kept up to date, for as many handlers and readers as want it. */
export class Informer<T extends KubeResource> {
  /** Resolves when the store was filled and every handler was told; rejects when the informer is stopped before that. */
  readonly synced: Promise<void>;
  readonly #resolveSynced: () => void;
  readonly #rejectSynced: (reason: unknown) => void;
  readonly #store: Store<T>;
  readonly #reflector: Reflector<T>;
  readonly #log: Log;
  readonly #registrations = new Set<Registration<T>>();
  readonly #stopping = new AbortController();
  #hasSynced = false;
  #running: Promise<void> | undefined;
  #handlerErrors = 0;

  constructor(options: InformerOptions<T>) {
    this.#log = (options.log ?? silentLog).with({ resource: options.resource.plural, ...options.scope });
    this.#store = new Store<T>((index, object, error) =>
      this.#log.error('An index cannot read an object', { index, object: keyText(keyOf(object)), error }),
    );
    this.#reflector = new Reflector({
      ...options,
      sink: {
        replaceAll: objects => this.#fill(objects),
        put: object => this.#tell(this.#store.put(object)),
        remove: object => this.#tell(this.#store.remove(object)),
      },
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    [this.synced, this.#resolveSynced, this.#rejectSynced] = [promise, resolve, reject];
    // Whoever waits is told; if nobody does, that is no fault.
    promise.catch(() => undefined);
  }

  get store(): StoreView<T> {
    return this.#store;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Why it cannot follow the server at the moment, in one line. */
  get trouble(): string | undefined {
    return this.#reflector.trouble;
  }

  get counts(): InformerCounts {
    return { ...this.#reflector.counts, handlerErrors: this.#handlerErrors };
  }

  addIndex(name: string, valuesOf: Index<T>): void {
    this.#store.addIndex(name, valuesOf);
  }

  /** What is in the store already is told as added, before this returns. The function given back ends the telling. */
  addHandler(handler: Handler<T>): () => void {
    const registration = { handler, isRemoved: false };
    for (const object of this.#store.list()) this.#call(registration, { type: 'added', object });
    if (this.#stopping.signal.aborted) return () => undefined;
    this.#registrations.add(registration);
    return () => {
      this.#registrations.delete(registration);
      registration.isRemoved = true;
    };
  }

  /** May be called again without harm. */
  start(): void {
    if (!this.#stopping.signal.aborted) this.#running ??= this.#reflector.run(this.#stopping.signal);
  }

  /** Resolves when nothing is under way any more. The store can still be read, as it was at the end. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const registration of this.#registrations) registration.isRemoved = true;
    this.#rejectSynced(new Error('the informer was stopped before it had seen the server'));
    await this.#running;
  }

  #fill(objects: readonly T[]): void {
    this.#tell(this.#store.replaceAll(objects));
    this.#hasSynced = true;
    this.#resolveSynced();
  }

  #tell(changes: readonly Change<T>[]): void {
    // A handler that comes meanwhile is told the new content when it comes, and must not be told it again.
    const registrations = [...this.#registrations];
    for (const change of changes) for (const registration of registrations) this.#call(registration, change);
  }

  #call({ handler, isRemoved }: Registration<T>, change: Change<T>): void {
    if (isRemoved) return;
    const failed = (error: unknown) => {
      this.#handlerErrors += 1;
      this.#log.error('A handler failed', { change: change.type, object: keyText(keyOf(change.object)), error });
    };
    try {
      const result = callHandler(handler, change);
      if (result instanceof Promise) result.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

function callHandler<T>(handler: Handler<T>, change: Change<T>): unknown {
  if (change.type === 'added') return handler.added?.(change.object);
  if (change.type === 'deleted') return handler.deleted?.(change.object);
  return handler.updated?.(change.old, change.object);
}
