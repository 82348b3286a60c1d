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
import { nodeAnnotation } from '#contract/names.ts';
import { servicesConfigMap } from '#contract/services/print.ts';
import { servicesConfigMapName } from '#contract/version.ts';
import { isAlreadyExists, isConflict, isNotFound } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import { changed, matching } from '#kube/controller/predicate.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { watching } from '#kube/controller/watches.ts';
import { type ConfigMap, configMaps, type Node, nodes } from '#kube/resources.ts';
import { watchingFacts } from '#cluster/facts-watch.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { decide, type ServicesConfigFacts } from './decide.ts';
import { isServices, observe } from './observe.ts';

export const permissions: readonly Permission[] = [
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: [...reading, 'create', 'delete'] },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: reading },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
];

export interface ServicesConfigParts extends ControllerParts {
  facts: FactsSource;
  settings: OperatorSettings;
}

/** Facts that come late are told; this is only for a change that nobody could tell. */
const lookAgainMs = 60_000;

/** Keeps the ConfigMap from which agents learn what runs on a Windows node, and deletes those that nobody needs any more. */
export function servicesConfigController(parts: ServicesConfigParts): Controller {
  const { namespace, version, informers, facts } = parts;
  const key = { namespace, name: servicesConfigMapName(version) };
  const sources = {
    maps: informers.get(configMaps, { namespace }),
    nodes: informers.get(nodes),
    instances: informers.get(windowsInstances, { namespace }),
  };
  sources.instances.addIndex(byNode, indexByNode);
  const stores = {
    facts,
    settings: parts.settings,
    configMaps: sources.maps.store,
    nodes: sources.nodes.store,
    instances: sources.instances.store,
  };
  return new Controller({
    ...parts,
    name: 'services-config',
    watches: [
      watchingFacts(facts, key),
      watching({ source: sources.maps, predicate: matching(isServices), keys: () => [key] }),
      watching({ source: sources.nodes, predicate: versionMarks, keys: () => [key] }),
      watching({
        source: sources.instances,
        predicate: changed<WindowsInstance>(each => [boundNode(each), each.status?.version]),
        keys: () => [key],
      }),
    ],
    reconcile: (_, pass) => reconcile(observe(stores), parts, pass),
  });
}

const versionMarks = changed<Node>(({ metadata: { annotations = {} } }) => [
  annotations[nodeAnnotation.version],
  annotations[nodeAnnotation.desiredVersion],
]);

async function reconcile(
  seen: ServicesConfigFacts,
  parts: ServicesConfigParts,
  { log, signal }: Pass,
): Promise<Outcome> {
  const { own, outdated } = decide(seen);
  for (const name of outdated) {
    log.info('Deleted outdated resource', { ConfigMap: name });
    await remove(name, parts, signal);
  }
  if (own.do === 'wait') {
    log.info('Services ConfigMap has to wait', { why: own.why, findings: parts.facts.read().findings });
    return after(lookAgainMs, own.why);
  }
  if (own.do === 'replace') {
    log.info('Deleted invalid resource', { why: own.why });
    await remove(servicesConfigMapName(parts.version), parts, signal);
  }
  if (own.do !== 'keep') await create(seen, parts, signal);
  return done;
}

async function create(
  seen: ServicesConfigFacts,
  { client, version, namespace }: ServicesConfigParts,
  signal: AbortSignal,
) {
  if (seen.wanted === undefined) return;
  try {
    await client.create<ConfigMap>(configMaps, servicesConfigMap(seen.wanted, version, namespace), { signal });
  } catch (error) {
    // ServicesConfigFacts too late; what is there now is looked at when the watch tells of it.
    if (!isAlreadyExists(error)) throw error;
  }
}

/** Only the object that was looked at, for somebody may have put a good one in its place. */
async function remove(name: string, { client, namespace, informers }: ServicesConfigParts, signal: AbortSignal) {
  const { uid } = informers.get(configMaps, { namespace }).store.get({ namespace, name })?.metadata ?? {};
  try {
    await client.delete(configMaps, name, { namespace, signal, ...(uid !== undefined && { preconditions: { uid } }) });
  } catch (error) {
    if (!isNotFound(error) && !isConflict(error)) throw error;
  }
}
