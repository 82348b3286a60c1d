import {
  boundNode,
  byNode,
  indexByNode,
  type WindowsInstance,
  windowsInstances,
} from '#cluster/windows-instance-resource.ts';
import { byServicesVersion, servicesMaps, servicesVersion } from '#cluster/services-index.ts';
import { servicesConfigMapName } from '#contract/version.ts';
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
import { type AccessNode, type AgentKind, agentOf, isOfGoOperator } from './decide.ts';
import type { AccessFacts, AccessObject, Wanted } from './desired.ts';

export interface AccessInformers {
  nodes: Informer<Node>;
  configMaps: Informer<ConfigMap>;
  instances: Informer<WindowsInstance>;
  /** Accounts, roles and bindings. */
  access: readonly AccessInformer[];
}

export interface AccessInformer {
  resource: Resource<AccessObject>;
  informer: Informer<AccessObject>;
}

export function informersFrom(informers: Pick<Informers, 'get'>, namespace: string): AccessInformers {
  const source = (resource: Resource<AccessObject>, scope: object) => ({
    resource,
    informer: informers.get(resource, scope),
  });
  const managed = { labelSelector: 'app.kubernetes.io/part-of=wicd' };
  const instances = informers.get(windowsInstances, { namespace });
  instances.addIndex(byNode, indexByNode);
  instances.addIndex(unbound, withoutNode);
  const nodeSource = informers.get(nodes);
  const maps = informers.get(configMaps, { namespace });
  maps.addIndex(byServicesVersion, servicesVersion);
  return {
    nodes: nodeSource,
    configMaps: maps,
    instances,
    access: [
      source(serviceAccounts, { namespace }),
      source(roles, { namespace }),
      source(roleBindings, { namespace }),
      source(clusterRoles, managed),
      source(clusterRoleBindings, managed),
    ],
  };
}

/** Index of instances without a Node name. */
const unbound = 'unbound';

function withoutNode(instance: WindowsInstance): string[] {
  return boundNode(instance) === undefined ? [''] : [];
}

/** Facts for the access of all agents. */
export function observeShared(
  sources: AccessInformers,
  { namespace, version }: { namespace: string; version: string },
): Pick<AccessFacts, 'namespace' | 'configMaps' | 'formerAgents'> {
  const services = servicesMaps(sources.configMaps.store).map(({ metadata }) => metadata.name ?? '');
  const former = formerVersions(sources);
  const isFormer = (node: Node) => agentOf(accessNode(node, sources), former, version) === 'former';
  return {
    namespace,
    configMaps: [...new Set([servicesConfigMapName(version), ...services])],
    formerAgents: former.size > 0 && sources.nodes.store.list().some(isFormer),
  };
}

/**
 * Whether an agent of the Go operator may still need the token that all of them share: also one on a Node that no instance has recorded,
 * whatever the reason.
 */
export function mayHaveFormerAgents(sources: AccessInformers, version: string): boolean {
  const former = formerVersions(sources);
  const mayHaveOne = (node: Node) => {
    const { record, ...rest } = accessNode(node, sources);
    return agentOf({ record, ...rest, mayBeAdopted: true }, former, version) === 'former';
  };
  return former.size > 0 && sources.nodes.store.list().some(mayHaveOne);
}

export interface ObservedNode {
  uid: string;
  agent: AgentKind;
}

/** Undefined when the Node does not exist. */
export function observeNode(sources: AccessInformers, name: string, version: string): ObservedNode | undefined {
  const node = sources.nodes.store.get({ namespace: '', name });
  if (node === undefined) return undefined;
  return { uid: node.metadata.uid ?? '', agent: agentOf(accessNode(node, sources), formerVersions(sources), version) };
}

/** Versions of the Go operator whose services ConfigMap exists; agents cannot create one. */
function formerVersions({ configMaps: maps }: Pick<AccessInformers, 'configMaps'>): ReadonlySet<string> {
  const ofGoOperator = servicesMaps(maps.store).filter(({ data = {} }) => isOfGoOperator(data));
  return new Set(ofGoOperator.flatMap(servicesVersion));
}

function accessNode({ metadata }: Node, { instances }: Pick<AccessInformers, 'instances'>): AccessNode {
  const { name = '', labels = {}, annotations = {} } = metadata;
  const [bound] = instances.store.byIndex(byNode, name);
  // There are no instances before their controllers have run.
  const mayBeAdopted = instances.store.size === 0 || instances.store.indexValues(unbound).length > 0;
  return { node: { labels, annotations }, record: bound && (bound.status ?? {}), mayBeAdopted };
}

/** The object in the cache. */
export function findIn(
  { access }: Pick<AccessInformers, 'access'>,
  { resource, object }: Wanted,
): AccessObject | undefined {
  const found = access
    .filter(source => source.resource.plural === resource.plural)
    .map(({ informer }) => informer.store.get(keyOf(object)));
  return found.find(each => each !== undefined);
}
