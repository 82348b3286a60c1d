import { attempt } from '#base/errors.ts';
import type { OperatorSettings } from '#cluster/facts.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import { servicesMaps, servicesVersion } from '#cluster/services-index.ts';
import { byNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { nodeAnnotation, servicesAnnotation } from '#contract/names.ts';
import { isWindowsNode } from '#contract/node.ts';
import { unknownVersion } from '#contract/version.ts';
import type { InstanceUpgrade } from '#contract/windows-instance/resource.ts';
import { upgradeState } from '#contract/windows-instance/upgrade-state.ts';
import type { StoreView } from '#kube/informer/store.ts';
import type { ConfigMap, Node } from '#kube/resources.ts';
import { servicesManifest } from '#node/desired/services.ts';
import type { SettingsSalt } from '#node/inputs/settings-salt.ts';
import type { ServicesConfigFacts, StoredServices } from './decide.ts';

export interface ServicesConfigStores {
  facts: Pick<FactsSource, 'read'>;
  settings: OperatorSettings;
  salt: Pick<SettingsSalt, 'forServices'>;
  configMaps: Pick<StoreView<ConfigMap>, 'byIndex' | 'indexValues'>;
  nodes: Pick<StoreView<Node>, 'byIndex' | 'indexValues'>;
  instances: Pick<StoreView<WindowsInstance>, 'byIndex' | 'indexValues'>;
}

export function observe(stores: ServicesConfigStores): ServicesConfigFacts {
  const { facts, settings, salt, configMaps, nodes, instances } = stores;
  const known = facts.read().facts;
  const wanted = known && attempt(() => servicesManifest(known, settings));
  return {
    version: settings.version,
    wanted: wanted?.ok ? wanted.value : undefined,
    salt: wanted?.ok ? salt.forServices(wanted.value) : '',
    stored: servicesMaps(configMaps).map(storedServices),
    inUse: versionsInUse(nodes, instances),
    recorded: instances.indexValues(byVersion),
  };
}

/**
 * Versions in the records of all instances. Annotations, which a Node can write itself, count only for Nodes without an instance, such
 * as Nodes of the Go operator before adoption.
 */
function versionsInUse(nodes: ServicesConfigStores['nodes'], instances: ServicesConfigStores['instances']): string[] {
  const recorded = new Set(instances.indexValues(byVersion));
  const isUnbound = ({ metadata }: Node) => instances.byIndex(byNode, metadata.name ?? '').length === 0;
  const marked = nodes.indexValues(byVersion).filter(version => !recorded.has(version));
  return [...recorded, ...marked.filter(version => nodes.byIndex(byVersion, version).some(isUnbound))];
}

/** Index of instances by recorded version, and of Windows Nodes by the versions in their annotations. */
export const byVersion = 'version';

/**
 * Also those of its upgrade: it goes to one of them, and can go back to the other. A host that had no set of files, such as one of the
 * Go operator, cannot go back once it is in service.
 */
export function recordedVersions({ status }: WindowsInstance): string[] {
  const { version = '', upgrade } = status ?? {};
  const versions = [version, ...(upgrade === undefined ? [] : versionsOf(upgrade))];
  return [...new Set(versions)].filter(each => each !== '' && each !== unknownVersion);
}

/** A host that is back does not go to the other version again, unless the operator has that version. */
function versionsOf(upgrade: InstanceUpgrade): string[] {
  const { from, to } = upgrade;
  if (upgradeState(upgrade) === 'rolled back') return [from];
  const isInService = ['soaking', 'soaked'].includes(upgradeState(upgrade));
  // The files of a host of the Go operator are replaced.
  return isInService && upgrade.fromAgent === undefined ? [to] : [from, to];
}

export function markedVersions({ metadata: { labels = {}, annotations = {} } }: Node): string[] {
  if (!isWindowsNode({ labels })) return [];
  const versions = [annotations[nodeAnnotation.version] ?? '', annotations[nodeAnnotation.desiredVersion] ?? ''];
  return [...new Set(versions)].filter(version => version !== '');
}

export function isServices(map: ConfigMap): boolean {
  return servicesVersion(map).length > 0;
}

function storedServices({ metadata, data = {}, immutable = false }: ConfigMap): StoredServices {
  const { name = '', annotations = {}, deletionTimestamp } = metadata;
  return {
    name,
    data,
    salt: annotations[servicesAnnotation.salt] ?? '',
    immutable,
    isDeleting: deletionTimestamp !== undefined,
  };
}
