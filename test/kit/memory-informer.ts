import type { Handler } from '#kube/informer/informer.ts';
import { type Change, type Index, Store } from '#kube/informer/store.ts';
import { apiVersionOf, type Key, type KubeResource, keyOf, keyText, type Resource } from '#kube/resource.ts';

/** A shared informer without a watch: a test puts objects into it, handlers get the changes. */
export class MemoryInformer<T extends KubeResource = KubeResource> {
  readonly store = new Store<T>();
  readonly synced: Promise<void>;
  readonly sync: () => void;
  readonly failSync: (error: Error) => void;
  hasSynced = false;
  readonly #type: { apiVersion?: string; kind?: string };
  readonly #isInScope: (object: T) => boolean;
  readonly #handlers = new Set<Handler<T>>();
  readonly #followers = new Map<Handler<T>, string>();

  /** With a resource, objects get its apiVersion and kind; an object that leaves the scope is deleted, as by a watch. */
  constructor(resource?: Resource<T>, isInScope: (object: T) => boolean = () => true) {
    this.#type = resource === undefined ? {} : { apiVersion: apiVersionOf(resource), kind: resource.kind };
    this.#isInScope = isInScope;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => undefined);
    this.synced = promise;
    this.failSync = reject;
    this.sync = () => {
      this.hasSynced = true;
      resolve();
    };
  }

  get handlerCount(): number {
    return this.#handlers.size + this.#followers.size;
  }

  addIndex(name: string, valuesOf: Index<T>): void {
    this.store.addIndex(name, valuesOf);
  }

  addHandler(handler: Handler<T>): () => void {
    for (const object of this.store.list()) handler.added?.(object);
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  follow(key: Key, handler: Handler<T>): () => void {
    this.#followers.set(handler, keyText(key));
    return () => this.#followers.delete(handler);
  }

  get(key: Key): T | undefined {
    return this.store.get(key);
  }

  put(object: T): void {
    this.#emit(this.#isInScope(object) ? this.store.put({ ...this.#type, ...object }) : this.store.remove(object));
  }

  remove({ name, namespace }: Key): void {
    const old = this.store.get({ name, namespace });
    if (old !== undefined) this.#emit(this.store.remove(old));
  }

  replaceAll(objects: readonly T[]): void {
    this.#emit(this.store.replaceAll(objects.filter(object => this.#isInScope(object))));
  }

  #emit(changes: readonly Change<T>[]): void {
    for (const change of changes) {
      const key = keyText(keyOf(change.object));
      const followers = [...this.#followers].flatMap(([handler, text]) => (text === key ? [handler] : []));
      for (const handler of [...this.#handlers, ...followers]) {
        if (change.type === 'updated') handler.updated?.(change.old, change.object);
        else handler[change.type]?.(change.object);
      }
    }
  }
}
