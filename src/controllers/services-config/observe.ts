import { attempt } from '#base/errors.ts';
import type { OperatorSettings } from '#cluster/facts.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { byNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { isWindowsNode } from '#contract/node.ts';
import { versionOfServicesConfigMap } from '#contract/version.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { ConfigMap, Node } from '#kube/resources.ts';
import { servicesManifest } from '#node/desired/services.ts';
import type { ServicesConfigFacts, StoredServices } from './decide.ts';

export interface ServicesConfigStores {
  facts: Pick<FactsSource, 'read'>;
  settings: OperatorSettings;
  configMaps: Pick<StoreView<ConfigMap>, 'list'>;
  nodes: Pick<StoreView<Node>, 'list'>;
  instances: StoreView<WindowsInstance>;
}

export function observe({ facts, settings, configMaps, nodes, instances }: ServicesConfigStores): ServicesConfigFacts {
  const known = facts.read().facts;
  const wanted = known && attempt(() => servicesManifest(known, settings));
  return {
    version: settings.version,
    wanted: wanted?.ok ? wanted.value : undefined,
    stored: configMaps.list().filter(isServices).map(storedServices),
    inUse: versionsInUse(nodes.list(), instances),
  };
}

/**
 * Versions in the records of all instances. Annotations, which a Node can write itself, count only for Nodes without an instance, such
 * as Nodes of the Go operator before adoption.
 */
function versionsInUse(nodes: readonly Node[], instances: StoreView<WindowsInstance>): string[] {
  const recorded = instances.list().map(({ status }) => status?.version ?? '');
  const unbound = nodes
    .filter(({ metadata }) => isWindowsNode({ labels: metadata.labels ?? {} }))
    .filter(({ metadata }) => instances.byIndex(byNode, metadata.name ?? '').length === 0)
    .flatMap(({ metadata: { annotations = {} } }) => [
      annotations[nodeAnnotation.version] ?? '',
      annotations[nodeAnnotation.desiredVersion] ?? '',
    ]);
  return [...new Set([...recorded, ...unbound])].filter(version => version !== '');
}

export function isServices({ metadata }: ConfigMap): boolean {
  return versionOfServicesConfigMap(metadata.name ?? '') !== undefined;
}

function storedServices({ metadata, data = {}, immutable = false }: ConfigMap): StoredServices {
  return { name: metadata.name ?? '', data, immutable, isDeleting: metadata.deletionTimestamp !== undefined };
}
