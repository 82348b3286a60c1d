import { apiVersionOf, type Key, type KubeResource, keyOf, keyText, type Resource } from '#kube/resource.ts';
import type { Source } from '#kube/controller/watches.ts';

type Handler<T> = Parameters<Source<T>['addHandler']>[0];

/** Objects in memory that tell of their changes as a shared informer does. */
export class MemorySource<T extends KubeResource = KubeResource> implements Source<T> {
  readonly synced: Promise<void>;
  readonly sync: () => void;
  readonly failSync: (error: Error) => void;
  readonly store = { list: (): T[] => [...this.#objects.values()], get: (key: Key): T | undefined => this.get(key) };
  readonly #objects = new Map<string, T>();
  readonly #handlers = new Set<Handler<T>>();

  readonly #type: { apiVersion?: string; kind?: string };

  /** With a resource its objects say what they are, as those of an informer do. */
  constructor(resource?: Resource<T>) {
    this.#type = resource === undefined ? {} : { apiVersion: apiVersionOf(resource), kind: resource.kind };
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => undefined);
    [this.synced, this.sync, this.failSync] = [promise, resolve, reject];
  }

  get handlerCount(): number {
    return this.#handlers.size;
  }

  get(key: Key): T | undefined {
    return this.#objects.get(keyText(key));
  }

  addHandler(handler: Handler<T>): () => void {
    for (const object of this.#objects.values()) handler.added(object);
    this.#handlers.add(handler);
    return () => this.#handlers.delete(handler);
  }

  put(bare: T): void {
    const object = { ...this.#type, ...bare };
    const text = keyText(keyOf(object));
    const old = this.#objects.get(text);
    this.#objects.set(text, object);
    for (const handler of this.#handlers) {
      if (old === undefined) handler.added(object);
      else handler.updated(old, object);
    }
  }

  remove(key: Key): void {
    const old = this.#objects.get(keyText(key));
    this.#objects.delete(keyText(key));
    if (old !== undefined) for (const handler of this.#handlers) handler.deleted(old);
  }
}
