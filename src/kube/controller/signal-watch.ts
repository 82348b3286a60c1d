import type { Watch } from './watches.ts';
import type { Key } from '../resource.ts';

/** Calls the listener on every change until the returned function is called. */
export type OnChange = (listener: () => void) => () => void;

/** Enqueues all keys on every change of something that is not an object. */
export function watchingSignal(onChange: OnChange, allKeys: () => Iterable<Key>): Watch {
  return {
    synced: Promise.resolve(),
    start: feed =>
      onChange(() => {
        for (const key of allKeys()) feed(key, 'if there is room');
      }),
    relist: () => [],
  };
}
