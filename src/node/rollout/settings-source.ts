import { configMapName } from '#contract/names.ts';
import { parseRollout, type RolloutSettings } from '#contract/rollout.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { ConfigMap } from '#kube/resources.ts';

/** The settings of `windows-rollout` as the cache has them; remembers the last valid value of each. */
export class RolloutSettingsSource {
  readonly #maps: Pick<StoreView<ConfigMap>, 'get'>;
  readonly #namespace: string;
  #last: RolloutSettings | undefined;

  constructor(maps: Pick<StoreView<ConfigMap>, 'get'>, namespace: string) {
    this.#maps = maps;
    this.#namespace = namespace;
  }

  read(): RolloutSettings {
    const map = this.#maps.get({ namespace: this.#namespace, name: configMapName.rollout });
    this.#last = parseRollout(map?.data, { last: this.#last }).settings;
    return this.#last;
  }
}
