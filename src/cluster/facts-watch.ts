import type { FactsSource } from './facts-source.ts';
import type { Watch } from '#kube/controller/watches.ts';
import type { Key } from '#kube/resource.ts';

/** Calls for one key at the beginning and whenever facts of the cluster change. */
export function watchingFacts(facts: Pick<FactsSource, 'onChange'>, key: Key): Watch {
  return {
    // The objects behind the facts are there before any controller runs.
    synced: Promise.resolve(),
    start: feed => {
      feed(key, 'always');
      return facts.onChange(() => feed(key, 'always'));
    },
    relist: () => [key],
  };
}
