import { type Key, type KubeResource, keyOf, keyText } from '../resource.ts';

/** Returns the index values of an object; must depend on the object only. */
export type Index<T> = (object: T) => readonly string[];

export type Change<T> =
  | { type: 'added'; object: T }
  | { type: 'updated'; old: T; object: T }
  | { type: 'deleted'; object: T };

/** Read access to a store. Its objects are frozen. */
export interface StoreView<T> {
  readonly size: number;
  get(key: Key): T | undefined;
  list(): T[];
  /** All objects with this value in this index. */
  byIndex(name: string, value: string): T[];
  /** All values of this index, each once. */
  indexValues(name: string): string[];
}

interface IndexTable<T> {
  valuesOf: Index<T>;
  /** Value of the index -> key -> object. */
  entries: Map<string, Map<string, T>>;
}

/** Objects by key, with named indexes. Its methods return the changes. */
export class Store<T extends KubeResource> implements StoreView<T> {
  readonly #objects = new Map<string, T>();
  readonly #indexes = new Map<string, IndexTable<T>>();
  readonly #onIndexError: (index: string, object: T, error: unknown) => void;

  constructor(onIndexError: (index: string, object: T, error: unknown) => void = () => undefined) {
    this.#onIndexError = onIndexError;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: Key): T | undefined {
    return this.#objects.get(keyText(key));
  }

  list(): T[] {
    return [...this.#objects.values()];
  }

  byIndex(name: string, value: string): T[] {
    return [...(this.#index(name).entries.get(value)?.values() ?? [])];
  }

  indexValues(name: string): string[] {
    return [...this.#index(name).entries.keys()];
  }

  /** Adding the same function under the same name again has no effect. */
  addIndex(name: string, valuesOf: Index<T>): void {
    const present = this.#indexes.get(name);
    if (present !== undefined && present.valuesOf !== valuesOf) throw new Error(`the index ${name} is taken`);
    if (present !== undefined) return;
    const index: IndexTable<T> = { valuesOf, entries: new Map() };
    this.#indexes.set(name, index);
    for (const [key, object] of this.#objects) this.#enter(name, index, key, object);
  }

  put(object: T): Change<T>[] {
    const key = keyText(keyOf(object));
    const old = this.#objects.get(key);
    if (old !== undefined && isSameVersion(old, object)) return [];
    if (old !== undefined) this.#leaveAll(key, old);
    this.#objects.set(key, object);
    for (const [name, index] of this.#indexes) this.#enter(name, index, key, object);
    if (old === undefined) return [{ type: 'added', object }];
    if (old.metadata.uid === object.metadata.uid) return [{ type: 'updated', old, object }];
    // Another UID: the object was deleted and created again.
    return [
      { type: 'deleted', object: old },
      { type: 'added', object },
    ];
  }

  /** The change has the given last state of the object. */
  remove(object: T): Change<T>[] {
    const key = keyText(keyOf(object));
    const old = this.#objects.get(key);
    if (old === undefined) return [];
    this.#objects.delete(key);
    this.#leaveAll(key, old);
    return [{ type: 'deleted', object }];
  }

  /** Replaces the content. Deletions come first. */
  replaceAll(objects: readonly T[]): Change<T>[] {
    const kept = new Set(objects.map(object => keyText(keyOf(object))));
    const gone = [...this.#objects].filter(([key]) => !kept.has(key)).map(([, object]) => object);
    return [...gone.flatMap(object => this.remove(object)), ...objects.flatMap(object => this.put(object))];
  }

  #index(name: string): IndexTable<T> {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`the store has no index ${name}`);
    return index;
  }

  #enter(name: string, index: IndexTable<T>, key: string, object: T): void {
    for (const value of this.#valuesOf(name, index, object)) {
      const entry = index.entries.get(value);
      if (entry === undefined) index.entries.set(value, new Map([[key, object]]));
      else entry.set(key, object);
    }
  }

  #leaveAll(key: string, object: T): void {
    for (const index of this.#indexes.values()) {
      for (const value of this.#valuesOf(undefined, index, object)) {
        const entry = index.entries.get(value);
        entry?.delete(key);
        if (entry?.size === 0) index.entries.delete(value);
      }
    }
  }

  /** An object that cannot be indexed stays in the store. */
  #valuesOf(name: string | undefined, index: IndexTable<T>, object: T): readonly string[] {
    try {
      return index.valuesOf(object);
    } catch (error) {
      // Reported when the object is added, not again when it is removed.
      if (name !== undefined) this.#onIndexError(name, object, error);
      return [];
    }
  }
}

function isSameVersion(old: KubeResource, object: KubeResource): boolean {
  const { uid, resourceVersion } = object.metadata;
  return resourceVersion !== undefined && old.metadata.resourceVersion === resourceVersion && old.metadata.uid === uid;
}
