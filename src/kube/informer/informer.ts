import { type Log, silentLog } from '#base/log.ts';
import { Reflector, type ReflectorCounts, type ReflectorOptions } from './reflector.ts';
import { type Key, type KubeResource, keyOf, keyText } from '../resource.ts';
import { type Change, type Index, Store, type StoreView } from './store.ts';

/** Called for every change in order. Its failures and delays do not affect the informer or other handlers. */
export interface Handler<T> {
  added?(object: T): unknown;
  updated?(old: T, object: T): unknown;
  /** With the last known state. */
  deleted?(object: T): unknown;
}

export interface InformerOptions<T extends KubeResource> extends Omit<ReflectorOptions<T>, 'sink' | 'onRefused'> {
  /** What the program loses without the right to list: it then goes on without the objects. Default: it needs them. */
  withoutRight?: string;
}

export interface InformerCounts extends ReflectorCounts {
  handlerErrors: number;
}

interface Registration<T> {
  handler: Handler<T>;
  isRemoved: boolean;
}

/** A cache of a resource for any number of handlers and readers. */
export class Informer<T extends KubeResource> {
  /** Resolves when store and handlers have the initial objects; rejects when the informer is stopped before. */
  readonly synced: Promise<void>;
  readonly #resolveSynced: () => void;
  readonly #rejectSynced: (reason: unknown) => void;
  readonly #store: Store<T>;
  readonly #reflector: Reflector<T>;
  readonly #log: Log;
  readonly #registrations = new Set<Registration<T>>();
  /** Handlers for single objects, by key. */
  readonly #followers = new Map<string, Set<Registration<T>>>();
  readonly #stopping = new AbortController();
  #hasSynced = false;
  #running: Promise<void> | undefined;
  #handlerErrors = 0;

  constructor(options: InformerOptions<T>) {
    this.#log = (options.log ?? silentLog).with({ resource: options.resource.plural, ...options.scope });
    this.#store = new Store<T>((index, object, error) =>
      this.#log.error('Indexing an object failed', { index, object: keyText(keyOf(object)), error }),
    );
    this.#reflector = new Reflector({
      ...options,
      ...(options.withoutRight !== undefined && { onRefused: () => this.#goOnWithout(options.withoutRight) }),
      sink: {
        replaceAll: objects => this.#fill(objects),
        put: object => this.#notify(this.#store.put(object)),
        remove: object => this.#notify(this.#store.remove(object)),
      },
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    [this.synced, this.#resolveSynced, this.#rejectSynced] = [promise, resolve, reject];
    // Without a caller that waits, the rejection would end the process.
    promise.catch(() => undefined);
  }

  get store(): StoreView<T> {
    return this.#store;
  }

  get hasSynced(): boolean {
    return this.#hasSynced;
  }

  /** Why list or watch fails at the moment. */
  get trouble(): string | undefined {
    return this.#reflector.trouble;
  }

  get counts(): InformerCounts {
    return { ...this.#reflector.counts, handlerErrors: this.#handlerErrors };
  }

  addIndex(name: string, valuesOf: Index<T>): void {
    this.#store.addIndex(name, valuesOf);
  }

  /** Reports the objects in the store as added before it returns. The returned function removes the handler. */
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

  /** Reports later changes of one object; costs the others nothing. The returned function removes the handler. */
  follow(key: Key, handler: Handler<T>): () => void {
    const registration = { handler, isRemoved: this.#stopping.signal.aborted };
    const text = keyText(key);
    const followers = this.#followers.get(text) ?? new Set();
    this.#followers.set(text, followers.add(registration));
    return () => {
      registration.isRemoved = true;
      followers.delete(registration);
      if (followers.size === 0 && this.#followers.get(text) === followers) this.#followers.delete(text);
    };
  }

  start(): void {
    if (!this.#stopping.signal.aborted) this.#running ??= this.#reflector.run(this.#stopping.signal);
  }

  /** Resolves when all work has ended. The store stays readable. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const registration of this.#registrations) registration.isRemoved = true;
    for (const followers of this.#followers.values())
      for (const registration of followers) registration.isRemoved = true;
    this.#rejectSynced(new Error('the informer was stopped before it had synced'));
    await this.#running;
  }

  #fill(objects: readonly T[]): void {
    this.#notify(this.#store.replaceAll(objects));
    this.#hasSynced = true;
    this.#resolveSynced();
  }

  /** The rights may still come; then the handlers get the objects. */
  #goOnWithout(consequence = ''): void {
    if (this.#hasSynced) return;
    this.#log.warn(`The right to list and watch is missing: apply the manifests of this version. ${consequence}`);
    this.#resolveSynced();
  }

  #notify(changes: readonly Change<T>[]): void {
    // A handler that is added meanwhile gets the new content when it is added.
    const registrations = [...this.#registrations];
    for (const change of changes) {
      for (const registration of registrations) this.#call(registration, change);
      const followers = [...(this.#followers.get(keyText(keyOf(change.object))) ?? [])];
      for (const registration of followers) this.#call(registration, change);
    }
  }

  #call({ handler, isRemoved }: Registration<T>, change: Change<T>): void {
    if (isRemoved) return;
    const failed = (error: unknown) => {
      this.#handlerErrors += 1;
      this.#log.error('Handler failed', { change: change.type, object: keyText(keyOf(change.object)), error });
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
