import { attempt } from '#base/errors.ts';
import type { OperatorSettings } from '#cluster/facts.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { versionOfServicesConfigMap } from '#contract/version.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { ConfigMap, Node } from '#kube/resources.ts';
import { servicesManifest } from '#node/desired/services.ts';
import type { Seen, StoredServices } from './decide.ts';

export interface Sources {
  facts: Pick<FactsSource, 'read'>;
  settings: OperatorSettings;
  configMaps: Pick<StoreView<ConfigMap>, 'list'>;
  nodes: Pick<StoreView<Node>, 'list'>;
}

export function observe({ facts, settings, configMaps, nodes }: Sources): Seen {
  const known = facts.read().facts;
  const wanted = known && attempt(() => servicesManifest(known, settings));
  return {
    version: settings.version,
    wanted: wanted?.ok ? wanted.value : undefined,
    stored: configMaps.list().filter(isServices).map(storedServices),
    nodes: nodes.list().map(({ metadata: { labels = {}, annotations = {} } }) => ({ labels, annotations })),
  };
}

export function isServices({ metadata }: ConfigMap): boolean {
  return versionOfServicesConfigMap(metadata.name ?? '') !== undefined;
}

function storedServices({ metadata, data = {}, immutable = false }: ConfigMap): StoredServices {
  return { name: metadata.name ?? '', data, immutable, isLeaving: metadata.deletionTimestamp !== undefined };
}
