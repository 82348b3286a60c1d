import { type NodeView, readNode } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import { servicesConfigMapName, versionOfServicesConfigMap } from '#contract/version.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { Informers } from '#kube/informer/informers.ts';
import { keyOf, type Resource } from '#kube/resource.ts';
import {
  clusterRoleBindings,
  clusterRoles,
  type ConfigMap,
  configMaps,
  type Node,
  nodes,
  roleBindings,
  roles,
  serviceAccounts,
} from '#kube/resources.ts';
import { hasFormerAgents } from './decide.ts';
import { type AccessFacts, type AccessObject, nodeEventsNamespace, type Wanted } from './desired.ts';

/** Everything the controller looks at. */
export interface Sources {
  nodes: Informer<Node>;
  configMaps: Informer<ConfigMap>;
  /** Accounts, roles and bindings. */
  access: readonly AccessSource[];
}

export interface AccessSource {
  resource: Resource<AccessObject>;
  informer: Informer<AccessObject>;
}

export function sourcesFrom(informers: Pick<Informers, 'get'>, namespace: string): Sources {
  const source = (resource: Resource<AccessObject>, scope: object) => ({
    resource,
    informer: informers.get(resource, scope),
  });
  const ours = { labelSelector: 'app.kubernetes.io/part-of=wicd' };
  return {
    nodes: informers.get(nodes),
    configMaps: informers.get(configMaps, { namespace }),
    access: [
      source(serviceAccounts, { namespace }),
      source(roles, { namespace }),
      source(roleBindings, { namespace }),
      source(roles, { namespace: nodeEventsNamespace }),
      source(roleBindings, { namespace: nodeEventsNamespace }),
      source(clusterRoles, ours),
      source(clusterRoleBindings, ours),
    ],
  };
}

/** The facts that decide what all agents may do. */
export function observeShared(
  sources: Pick<Sources, 'nodes' | 'configMaps'>,
  { namespace, version }: { namespace: string; version: string },
): Pick<AccessFacts, 'namespace' | 'configMaps' | 'formerAgents'> {
  const services = new Map(
    sources.configMaps.store
      .list()
      .map(({ metadata, data = {} }) => [metadata.name ?? '', data] as const)
      .filter(([name]) => versionOfServicesConfigMap(name) !== undefined),
  );
  return {
    namespace,
    configMaps: [...new Set([servicesConfigMapName(version), ...services.keys()])],
    formerAgents: hasFormerAgents(sources.nodes.store.list().map(marksOf), services),
  };
}

export function observeNode(sources: Pick<Sources, 'nodes'>, name: string): NodeView | undefined {
  const node = sources.nodes.store.get({ namespace: '', name });
  return node && readNode(readObject({ ...node, apiVersion: 'v1', kind: 'Node' }));
}

/** The object in the cluster, as far as watches have brought it. */
export function findIn({ access }: Pick<Sources, 'access'>, { resource, object }: Wanted): AccessObject | undefined {
  const found = access
    .filter(source => source.resource.plural === resource.plural)
    .map(({ informer }) => informer.store.get(keyOf(object)));
  return found.find(each => each !== undefined);
}

export function marksOf({
  metadata: { labels = {}, annotations = {} },
}: Node): Pick<NodeView, 'labels' | 'annotations'> {
  return { labels, annotations };
}
