import type { FactsSource } from './facts-source.ts';
import type { Watch } from '#kube/controller/watches.ts';
import type { Key } from '#kube/resource.ts';

/** Enqueues one key at the start and whenever facts of the cluster change. */
export function watchingFacts(facts: Pick<FactsSource, 'onChange'>, key: Key): Watch {
  return {
    // The caches behind the facts are synced before any controller runs.
    synced: Promise.resolve(),
    start: feed => {
      feed(key, 'always');
      return facts.onChange(() => feed(key, 'always'));
    },
    relist: () => [key],
  };
}
