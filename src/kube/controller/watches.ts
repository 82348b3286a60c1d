import type { Log } from '#base/log.ts';
import type { Predicate } from './predicate.ts';
import { type Key, type KubeResource, keyOf, keyText } from '../resource.ts';

/** A shared informer, as far as controllers use it. */
export interface WatchSource<T> {
  /** Resolves when the initial objects were reported. */
  readonly synced: Promise<void>;
  readonly store: { list(): readonly T[] };
  /** Reports all existing objects and every later change; the returned function removes the handler. */
  addHandler(handler: {
    added(object: T): void;
    updated(old: T, object: T): void;
    deleted(object: T): void;
  }): () => void;
}

/** Enqueues a key. `always` is for keys that a relist would not find. */
export type Enqueue = (key: Key, how: 'if there is room' | 'always') => void;

export interface WatchSpec<T extends KubeResource> {
  source: WatchSource<T>;
  predicate?: Predicate<T>;
  /** The keys to reconcile when this object changes; default: its own. */
  keys?: (object: T) => Iterable<Key>;
  /** Instead of the keys of both versions, when only some of them are concerned. */
  changedKeys?: (old: T, object: T) => Iterable<Key>;
  /** Whether a change resets the backoff of its keys: for requests of users. */
  resetsBackoff?: boolean;
}

export interface Watch {
  readonly resetsBackoff?: boolean;
  readonly synced: Promise<void>;
  /** Enqueues keys until the returned function is called. */
  start(enqueue: Enqueue, log: Log): () => void;
  /** All keys. */
  relist(log: Log): Iterable<Key>;
}

/** Enqueues a key at the start, for what has to be done although no object exists that could change. */
export function atStart(key: Key): Watch {
  return {
    synced: Promise.resolve(),
    start: enqueue => {
      enqueue(key, 'always');
      return () => undefined;
    },
    relist: () => [key],
  };
}

/** Maps changes of a source to keys. Never throws into the source. */
export function watching<T extends KubeResource>(spec: WatchSpec<T>): Watch {
  const { source, predicate = {}, keys, changedKeys, resetsBackoff = false } = spec;
  const keysOf = keys ?? (object => [keyOf(object)]);

  /** A change for which the predicate fails is not dropped. */
  function passes(isWanted: () => boolean | undefined, log: Log): boolean {
    try {
      return isWanted() ?? true;
    } catch (error) {
      log.error('Predicate failed; not dropping the change', { error });
      return true;
    }
  }

  /** Each key once: a worker may take the first at once, and would then work on the second again. */
  function keysFor(object: T, log: Log, find: () => Iterable<Key> = () => keysOf(object)): Key[] {
    try {
      return [...new Map([...find()].map(key => [keyText(key), key])).values()];
    } catch (error) {
      log.error('Mapping an object to keys failed; ignoring its change', { object: keyText(keyOf(object)), error });
      return [];
    }
  }

  return {
    synced: source.synced,
    resetsBackoff,
    start: (enqueue, log) =>
      source.addHandler({
        added: object => {
          if (!passes(() => predicate.added?.(object), log)) return;
          for (const key of keysFor(object, log)) enqueue(key, 'if there is room');
        },
        updated: (old, object) => {
          if (!passes(() => predicate.updated?.(old, object), log)) return;
          if (changedKeys !== undefined) {
            for (const key of keysFor(object, log, () => changedKeys(old, object))) enqueue(key, 'always');
            return;
          }
          const wanted = keysFor(object, log);
          const known = new Set(wanted.map(keyText));
          for (const key of wanted) enqueue(key, 'if there is room');
          if (keys === undefined) return;
          // The old object may map to other keys, which a relist would not find.
          for (const key of keysFor(old, log)) if (!known.has(keyText(key))) enqueue(key, 'always');
        },
        deleted: object => {
          if (!passes(() => predicate.deleted?.(object), log)) return;
          for (const key of keysFor(object, log)) enqueue(key, 'always');
        },
      }),
    *relist(log) {
      for (const object of source.store.list()) {
        if (passes(() => predicate.relisted?.(object), log)) yield* keysFor(object, log);
      }
    },
  };
}
