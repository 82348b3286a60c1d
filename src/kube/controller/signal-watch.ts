import type { Watch } from './watches.ts';
import type { Key } from '../resource.ts';

/** Tells of changes until the function it gives back is called. */
export type OnChange = (listener: () => void) => () => void;

/** A watch of something that is no object: each change concerns all the keys there are. */
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
