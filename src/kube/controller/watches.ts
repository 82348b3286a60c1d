import type { Log } from '#base/log.ts';
import type { Predicate } from './predicate.ts';
import { type Key, type KubeResource, keyOf, keyText } from '../resource.ts';

/** Where changes come from: a shared informer, or whatever behaves like one. */
export interface Source<T> {
  /** Resolves when all that was there at the beginning has been told. */
  readonly synced: Promise<void>;
  readonly store: { list(): readonly T[] };
  /** Tells of everything that is there and of every change from now on; returns how to end that. */
  addHandler(handler: {
    added(object: T): void;
    updated(old: T, object: T): void;
    deleted(object: T): void;
  }): () => void;
}

/** Takes keys in. `always` goes with keys that no relist would find again. */
export type Feed = (key: Key, how: 'if there is room' | 'always') => void;

export interface WatchSpec<T extends KubeResource> {
  source: Source<T>;
  predicate?: Predicate<T>;
  /** Whose keys a change of this object concerns; its own when absent. */
  keys?: (object: T) => Iterable<Key>;
}

/** What a controller knows of a watch, whatever the type of its objects. */
export interface Watch {
  readonly synced: Promise<void>;
  /** Feeds keys until the function it returns is called. */
  start(feed: Feed, log: Log): () => void;
  /** All keys there are, for whoever had to refuse some. */
  relist(log: Log): Iterable<Key>;
}

/** Source, then predicate, then keys, then queue; nothing flows back and nothing is thrown into the source. */
export function watching<T extends KubeResource>({ source, predicate = {}, keys }: WatchSpec<T>): Watch {
  const keysOf = keys ?? (object => [keyOf(object)]);

  /** A predicate that fails says nothing about the change, so the change is let through. */
  function passes(isWanted: () => boolean | undefined, log: Log): boolean {
    try {
      return isWanted() ?? true;
    } catch (error) {
      log.error('Predicate failed, letting the change through', { error });
      return true;
    }
  }

  function mapped(object: T, log: Log): Key[] {
    try {
      return [...keysOf(object)];
    } catch (error) {
      log.error('Object cannot be mapped to keys, ignoring its change', { object: keyText(keyOf(object)), error });
      return [];
    }
  }

  return {
    synced: source.synced,
    start: (feed, log) =>
      source.addHandler({
        added: object => {
          if (!passes(() => predicate.added?.(object), log)) return;
          for (const key of mapped(object, log)) feed(key, 'if there is room');
        },
        updated: (old, object) => {
          if (!passes(() => predicate.updated?.(old, object), log)) return;
          for (const key of mapped(object, log)) feed(key, 'if there is room');
          // The new object may belong to others than the old one did; a relist would never find those.
          if (keys !== undefined) for (const key of mapped(old, log)) feed(key, 'always');
        },
        deleted: object => {
          if (!passes(() => predicate.deleted?.(object), log)) return;
          for (const key of mapped(object, log)) feed(key, 'always');
        },
      }),
    *relist(log) {
      for (const object of source.store.list()) {
        if (passes(() => predicate.relisted?.(object), log)) yield* mapped(object, log);
      }
    },
  };
}
