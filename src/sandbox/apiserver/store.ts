import type { Key } from '#kube/resource.ts';
import type { StoredObject } from './ports.ts';
import { expired } from './status.ts';

/** One write, as watches report it. */
export interface Written {
  revision: number;
  type: 'ADDED' | 'MODIFIED' | 'DELETED';
  object: StoredObject;
  old: StoredObject | undefined;
}

/** All objects of one kind, and the latest writes to them. */
interface Collection {
  objects: Map<string, StoredObject>;
  /** Sorted keys, computed on demand. */
  sorted: string[] | undefined;
  /** Lists by namespace, until the next write. */
  lists: Map<string, readonly StoredObject[]>;
  history: Written[];
  /** The history holds every write after this revision. */
  completeAfter: number;
  listeners: Set<Listener>;
  /** Of watches of a single object, by its path: every host has some, and would be asked about the objects of all others. */
  pathListeners: Map<string, Set<Listener>>;
}

type Listener = (written: Written) => void;

/**
 * Keeps the objects under one revision counter, as etcd does. Storage keys are plural and group;
 * all versions of an object share one. Objects are frozen.
 */
export class Store {
  readonly #collections = new Map<string, Collection>();
  readonly #listeners = new Set<(storageKey: string, written: Written) => void>();
  readonly #historyLimit: number;
  readonly #startRevision: number;
  #revision: number;

  constructor(options: { historyLimit?: number; startRevision?: number } = {}) {
    this.#historyLimit = options.historyLimit ?? 5000;
    this.#startRevision = options.startRevision ?? 1;
    this.#revision = this.#startRevision;
  }

  get revision(): number {
    return this.#revision;
  }

  get(storageKey: string, key: Key): StoredObject | undefined {
    return this.#collection(storageKey).objects.get(pathOf(key));
  }

  /** Sorted by namespace and name; the same list until the next write. An empty namespace means all. */
  list(storageKey: string, namespace = ''): readonly StoredObject[] {
    const { objects, lists } = this.#collection(storageKey);
    const known = lists.get(namespace);
    if (known !== undefined) return known;
    const list = this.#sortedPaths(storageKey)
      .filter(path => within(path, namespace))
      .map(path => objects.get(path))
      .filter(object => object !== undefined);
    lists.set(namespace, list);
    return list;
  }

  /** The list at an earlier revision; throws if the history does not reach back. */
  listAt(storageKey: string, revision: number, namespace = ''): readonly StoredObject[] {
    const later = this.writesAfter(storageKey, revision);
    if (later === undefined) throw expired('The resourceVersion for the provided list is too old.');
    if (later.length === 0) return this.list(storageKey, namespace);
    const objects = new Map(this.#collection(storageKey).objects);
    for (const { object, old } of later.toReversed()) {
      const path = pathOf(object.metadata);
      if (old === undefined) objects.delete(path);
      else objects.set(path, old);
    }
    return [...objects.entries()]
      .filter(([path]) => within(path, namespace))
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([, object]) => object);
  }

  /** Stores an object under a new revision and returns it. */
  write(storageKey: string, object: StoredObject): StoredObject {
    const { objects } = this.#collection(storageKey);
    const path = pathOf(object.metadata);
    const old = objects.get(path);
    const stored = this.#withRevision(object);
    objects.set(path, stored);
    if (old === undefined) this.#insertPath(storageKey, path);
    this.#notify(storageKey, {
      revision: this.#revision,
      type: old === undefined ? 'ADDED' : 'MODIFIED',
      object: stored,
      old,
    });
    return stored;
  }

  /** Deletes an object; watches get its last state under a new revision. */
  remove(storageKey: string, key: Key): void {
    const { objects } = this.#collection(storageKey);
    const old = objects.get(pathOf(key));
    if (old === undefined) return;
    const last = this.#withRevision(old);
    objects.delete(pathOf(key));
    this.#collection(storageKey).sorted = undefined;
    this.#notify(storageKey, { revision: this.#revision, type: 'DELETED', object: last, old });
  }

  /** All writes after a revision; undefined if the history does not reach back. */
  writesAfter(storageKey: string, revision: number): readonly Written[] | undefined {
    const { history, completeAfter } = this.#collection(storageKey);
    if (revision < completeAfter) return undefined;
    const first = firstIndex(history, written => written.revision > revision);
    return history.slice(first);
  }

  /** The oldest revision that `writesAfter` supports. */
  oldestRevision(storageKey: string): number {
    return this.#collection(storageKey).completeAfter;
  }

  /** Drops the history, as compaction in etcd does. */
  compact(): void {
    for (const collection of this.#collections.values()) {
      collection.history = [];
      collection.completeAfter = this.#revision;
    }
  }

  /** Calls the listener during each write, or each write to one object; it must not write. */
  listen(storageKey: string, listener: Listener, only?: Key): () => void {
    const { listeners, pathListeners } = this.#collection(storageKey);
    if (only === undefined) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    }
    const path = pathOf(only);
    const own = pathListeners.get(path) ?? new Set();
    pathListeners.set(path, own.add(listener));
    return () => {
      own.delete(listener);
      if (own.size === 0 && pathListeners.get(path) === own) pathListeners.delete(path);
    };
  }

  /** The same for all storage keys. */
  listenAll(listener: (storageKey: string, written: Written) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #collection(storageKey: string): Collection {
    const found = this.#collections.get(storageKey);
    if (found !== undefined) return found;
    const collection: Collection = {
      objects: new Map(),
      sorted: undefined,
      lists: new Map(),
      history: [],
      completeAfter: this.#startRevision,
      listeners: new Set(),
      pathListeners: new Map(),
    };
    this.#collections.set(storageKey, collection);
    return collection;
  }

  #sortedPaths(storageKey: string): string[] {
    const collection = this.#collection(storageKey);
    collection.sorted ??= [...collection.objects.keys()].sort();
    return collection.sorted;
  }

  /** Keeps the order: sorting again after each creation would take most of the time of a large cluster. */
  #insertPath(storageKey: string, path: string): void {
    const { sorted } = this.#collection(storageKey);
    if (sorted === undefined) return;
    const place = firstIndex(sorted, other => other > path);
    sorted.splice(place, 0, path);
  }

  #withRevision(object: StoredObject): StoredObject {
    this.#revision += 1;
    return deepFreeze({ ...object, metadata: { ...object.metadata, resourceVersion: String(this.#revision) } });
  }

  #notify(storageKey: string, written: Written): void {
    const collection = this.#collection(storageKey);
    collection.lists.clear();
    collection.history.push(written);
    // Trimmed in large steps to keep writes cheap.
    if (collection.history.length > 2 * this.#historyLimit) {
      const cut = collection.history.splice(0, collection.history.length - this.#historyLimit);
      collection.completeAfter = cut.at(-1)?.revision ?? collection.completeAfter;
    }
    for (const listener of collection.listeners) listener(written);
    for (const listener of collection.pathListeners.get(pathOf(written.object.metadata)) ?? []) listener(written);
    for (const listener of this.#listeners) listener(storageKey, written);
  }
}

function pathOf(key: { namespace?: string; name?: string }): string {
  return `${key.namespace ?? ''}/${key.name ?? ''}`;
}

function within(path: string, namespace: string): boolean {
  return namespace === '' || path.startsWith(`${namespace}/`);
}

/** The first item of an ordered list that is after something; its length if there is none. */
function firstIndex<T>(list: readonly T[], isAfter: (item: T) => boolean): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isAfter(list[middle] as T)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}
