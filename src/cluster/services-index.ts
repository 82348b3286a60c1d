import { versionOfServicesConfigMap } from '#contract/version.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { ConfigMap } from '#kube/resources.ts';

/** Index of ConfigMaps by the version of the services that they list: the namespace also has a report for each agent. */
export const byServicesVersion = 'services version';

export function servicesVersion({ metadata }: ConfigMap): string[] {
  const version = versionOfServicesConfigMap(metadata.name ?? '');
  return version === undefined ? [] : [version];
}

/** The services ConfigMaps of all versions. */
export function servicesMaps(store: Pick<StoreView<ConfigMap>, 'byIndex' | 'indexValues'>): ConfigMap[] {
  return store.indexValues(byServicesVersion).flatMap(version => store.byIndex(byServicesVersion, version));
}
