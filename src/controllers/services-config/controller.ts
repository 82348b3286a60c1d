import {
  boundNode,
  byNode,
  indexByNode,
  type WindowsInstance,
  windowsInstances,
} from '#cluster/windows-instance-resource.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import type { OperatorSettings } from '#cluster/facts.ts';
import type { FactsSource } from '#cluster/facts-source.ts';
import type { Installation } from '#cluster/installation.ts';
import { byServicesVersion, servicesVersion } from '#cluster/services-index.ts';
import { eventText } from '#contract/events.ts';
import { nodeAnnotation } from '#contract/names.ts';
import { saltMetadata, servicesConfigMap } from '#contract/services/print.ts';
import { servicesConfigMapName } from '#contract/version.ts';
import { deleteObject } from '#cluster/delete-object.ts';
import { EventDeduper } from '#cluster/event-deduper.ts';
import { isAlreadyExists, unless } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import { changed, matching } from '#kube/controller/predicate.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { referenceTo } from '#kube/events/events.ts';
import type { Log } from '#base/log.ts';
import { type ConfigMap, configMaps, type Node, nodes } from '#kube/resources.ts';
import { watchingFacts } from '#cluster/facts-watch.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { clusterSalt, saltPermission } from '#node/inputs/settings-salt.ts';
import { decide, type ServicesConfigFacts, type StoredServices } from './decide.ts';
import { byVersion, isServices, markedVersions, observe, recordedVersions } from './observe.ts';

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: [...reading, 'create', 'delete'] },
  saltPermission,
  { in: 'own namespace', group: '', resources: ['events'], verbs: ['create', 'patch'] },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: reading },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
];

export interface ServicesConfigParts extends ControllerParts {
  facts: FactsSource;
  installation: Pick<Installation, 'problem'>;
  settings: OperatorSettings;
}

/** A change of facts triggers a pass; this is only a safety net. */
const recheckMs = 60_000;

/** Keeps the ConfigMap that tells agents which services to run, and deletes those of unused versions. */
export function servicesConfigController(parts: ServicesConfigParts): Controller {
  const { namespace, version, informers, facts } = parts;
  const key = { namespace, name: servicesConfigMapName(version) };
  const sources = {
    maps: informers.get(configMaps, { namespace }),
    nodes: informers.get(nodes),
    instances: informers.get(windowsInstances, { namespace }),
  };
  sources.instances.addIndex(byNode, indexByNode);
  sources.instances.addIndex(byVersion, recordedVersions);
  sources.nodes.addIndex(byVersion, markedVersions);
  sources.maps.addIndex(byServicesVersion, servicesVersion);
  const { salt, salted } = clusterSalt(parts);
  const stores = {
    facts,
    salt,
    settings: parts.settings,
    configMaps: sources.maps.store,
    nodes: sources.nodes.store,
    instances: sources.instances.store,
  };
  const former = new FormerMaps(parts);
  return new Controller({
    ...parts,
    name: 'services-config',
    watches: [
      watchingFacts(facts, key),
      watching({ source: sources.maps, predicate: matching(isServices), keys: () => [key] }),
      watching({ source: sources.nodes, predicate: versionMarks, keys: () => [key] }),
      ...salted.map(source => watching({ source, keys: () => [key] })),
      watching({
        source: sources.instances,
        predicate: changed<WindowsInstance>(each => [boundNode(each), recordedVersions(each)]),
        keys: () => [key],
      }),
    ],
    reconcile: (_, pass) => reconcile(observe(stores), former, parts, pass),
  });
}

const versionMarks = changed<Node>(({ metadata: { annotations = {} } }) => [
  annotations[nodeAnnotation.version],
  annotations[nodeAnnotation.desiredVersion],
]);

async function reconcile(
  facts: ServicesConfigFacts,
  former: FormerMaps,
  parts: ServicesConfigParts,
  { log, signal }: Pass,
): Promise<Outcome> {
  former.keep(facts.stored);
  const { own, outdated, lost } = decide(facts);
  // Without instances every version looks unused, but Nodes keep running when the operator is uninstalled.
  const mayChange = outdated.length + lost.length > 0 && (await parts.installation.problem(signal)) === undefined;
  for (const name of mayChange ? outdated : []) {
    log.info('Deleted outdated resource', { ConfigMap: name });
    await remove(name, parts, signal);
  }
  for (const name of mayChange ? lost : []) await former.restore(name, log, signal);
  if (own.do === 'wait') {
    log.info('Waiting to create services ConfigMap', { why: own.why, findings: parts.facts.read().findings });
    return after(recheckMs, own.why);
  }
  if (own.do === 'replace') {
    log.info('Deleted invalid resource', { why: own.why });
    await remove(servicesConfigMapName(parts.version), parts, signal);
  }
  if (own.do !== 'keep') await create(facts, parts, signal);
  return done;
}

async function create(
  facts: ServicesConfigFacts,
  { client, version, namespace }: ServicesConfigParts,
  signal: AbortSignal,
) {
  if (facts.wanted === undefined) return;
  // If it exists meanwhile, the watch triggers the next pass.
  const object = servicesConfigMap(facts.wanted, version, namespace, facts.salt);
  await client.create<ConfigMap>(configMaps, object, { signal }).catch(unless(isAlreadyExists));
}

async function remove(name: string, { client, namespace, informers }: ServicesConfigParts, signal: AbortSignal) {
  const found = informers.get(configMaps, { namespace }).store.get({ namespace, name });
  if (found !== undefined) await deleteObject(client, configMaps, found, signal);
}

/**
 * The services ConfigMaps of other versions as they were last seen: this operator cannot build their content. One that was deleted
 * while no operator ran is reported; its hosts keep their services by their own record.
 */
class FormerMaps {
  readonly #parts: ServicesConfigParts;
  readonly #events: EventDeduper;
  readonly #seen = new Map<string, StoredServices>();

  constructor(parts: ServicesConfigParts) {
    this.#parts = parts;
    this.#events = new EventDeduper(parts);
  }

  keep(stored: readonly StoredServices[]): void {
    for (const map of stored) this.#seen.set(map.name, map);
  }

  /** Creates one again that hosts need. */
  async restore(name: string, log: Log, signal: AbortSignal): Promise<void> {
    const { client, namespace } = this.#parts;
    const { data, salt = '' } = this.#seen.get(name) ?? {};
    const metadata = { name, namespace, ...saltMetadata(salt) };
    const map: ConfigMap = { metadata, ...(data && { data }), immutable: true };
    if (data === undefined) {
      const isNew = this.#events.report(name, [referenceTo(configMaps, map)], [eventText.servicesMissing(name)]);
      if (isNew) log.warn('Services ConfigMap of a former version is missing', { ConfigMap: name });
      return;
    }
    log.warn('Restoring deleted services ConfigMap of a former version', { ConfigMap: name });
    await client.create<ConfigMap>(configMaps, map, { signal }).catch(unless(isAlreadyExists));
  }
}
