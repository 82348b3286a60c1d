import type { FactsSource } from '#cluster/facts-source.ts';
import type { Installation } from '#cluster/installation.ts';
import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { agentName, nodeAnnotation, nodeLabel, secretName } from '#contract/names.ts';
import { versionOfServicesConfigMap } from '#contract/version.ts';
import { windowsInstanceGroup } from '#contract/windows-instance/resource.ts';
import { deleteObject } from '#cluster/delete-object.ts';
import { isAlreadyExists, isConflict, isNotFound } from '#kube/api-error.ts';
import { Controller } from '#kube/controller/controller.ts';
import { changed, matching } from '#kube/controller/predicate.ts';
import { after, done, type Outcome, type Pass } from '#kube/controller/reconcile.ts';
import { type Watch, watching } from '#kube/controller/watches.ts';
import { type Key, keyOf, keyText } from '#kube/resource.ts';
import { type ConfigMap, type Node, type SecretObject, secrets } from '#kube/resources.ts';
import { hasCloudNodeManager } from '#node/desired/services.ts';
import { isTokenOf } from '#node/inputs/lasting-tokens.ts';
import { watchingFacts } from '#cluster/facts-watch.ts';
import type { ControllerParts } from '#kube/controller/parts.ts';
import { type Permission, reading } from '#kube/permissions.ts';
import { differenceTo, mergeObject } from './decide.ts';
import { type AccessObject, kubeProxyRole, nodeAccess, nodeOfRole, sharedAccess, type Wanted } from './desired.ts';
import {
  findIn,
  mayHaveFormerAgents,
  observeNode,
  observeShared,
  type AccessInformers,
  informersFrom,
} from './observe.ts';

const rbac = 'rbac.authorization.k8s.io';
const writing = [...reading, 'create', 'update', 'delete'] as const;

export const permissions: readonly Permission[] = [
  { in: 'cluster', group: rbac, resources: ['clusterroles', 'clusterrolebindings'], verbs: ['get', ...writing] },
  { in: 'own namespace', group: rbac, resources: ['roles', 'rolebindings'], verbs: writing },
  { in: 'own namespace', group: '', resources: ['serviceaccounts'], verbs: [...reading, 'create', 'update'] },
  { in: 'own namespace', group: windowsInstanceGroup, resources: ['windowsinstances'], verbs: reading },
  // RBAC allows to grant only what the operator itself has.
  { in: 'own namespace', group: '', resources: ['configmaps'], verbs: ['get', ...reading, 'update', 'patch'] },
  { in: 'cluster', group: '', resources: ['nodes'], verbs: ['get', ...reading, 'update', 'patch'] },
  { in: 'cluster', group: '', resources: ['nodes/status'], verbs: ['patch'] },
  {
    in: 'cluster',
    group: 'certificates.k8s.io',
    resources: ['certificatesigningrequests'],
    verbs: ['create', 'get', ...reading],
  },
  // The token that all agents of the Go operator share, and that never expires.
  {
    in: 'own namespace',
    group: '',
    resources: ['secrets'],
    verbs: [...reading, 'delete'],
    names: [secretName.agentToken],
  },
];

/**
 * For clusters other than OpenShift, where nothing else grants kube-proxy its permissions. They differ between versions of Kubernetes, so
 * the operator cannot have them all itself.
 */
export const kubeProxyPermission: Permission = {
  in: 'cluster',
  group: rbac,
  resources: ['clusterroles'],
  verbs: ['bind'],
  names: [kubeProxyRole],
};

export interface AgentAccessParts extends ControllerParts {
  facts: FactsSource;
  installation: Pick<Installation, 'problem'>;
  kind: 'openshift' | 'kubernetes';
  settings: {
    /** Agents of this operator may use the token that never expires. */
    allowLastingTokens: boolean;
  };
}

/** Keeps the RBAC objects of agents: shared ones, and for each agent access to its own Node. */
export function agentAccessController(parts: AgentAccessParts): Controller {
  const { informers, namespace, facts } = parts;
  const sources = informersFrom(informers, namespace);
  const lastingToken = informers.get(secrets, { namespace, fieldSelector: `metadata.name=${secretName.agentToken}` });
  const shared: Key = { namespace, name: agentName };
  const reconcileAll = async (pass: Pass) => {
    const outcome = await reconcileShared(sources, parts, pass);
    const [token] = lastingToken.store.list();
    const mayGo = token !== undefined && isTokenOf(token, agentName) && !parts.settings.allowLastingTokens;
    if (mayGo && !mayHaveFormerAgents(sources, parts.version)) await removeLastingToken(token, parts, pass);
    return outcome;
  };
  return new Controller({
    ...parts,
    name: 'agent-access',
    concurrency: 20,
    watches: [
      ...watchesOf(sources, shared),
      watching({ source: lastingToken, keys: () => [shared] }),
      watchingFacts(facts, shared),
    ],
    reconcile: (key, pass) =>
      key.namespace === '' ? reconcileNode(key.name, sources, parts, pass) : reconcileAll(pass),
  });
}

/** With the Secret, the API server forgets the token, wherever it is. */
async function removeLastingToken(
  token: SecretObject,
  { client, installation }: AgentAccessParts,
  { log, signal }: Pass,
): Promise<void> {
  // Nodes keep running when the operator is uninstalled.
  if ((await installation.problem(signal)) !== undefined) return;
  log.info('Deleting the token that never expires: no agent needs it', { Secret: token.metadata.name });
  await deleteObject(client, secrets, token, signal);
}

function watchesOf({ nodes, configMaps, instances, access }: AccessInformers, shared: Key): Watch[] {
  const isServices = ({ metadata }: ConfigMap) => versionOfServicesConfigMap(metadata.name ?? '') !== undefined;
  const keyOfAccess = ({ metadata: { name = '' } }: AccessObject): Key[] => {
    const node = nodeOfRole(name);
    return [node === undefined ? shared : { namespace: '', name: node }];
  };
  const keyOfInstance = (instance: WindowsInstance): Key[] => {
    const name = boundNode(instance);
    return name === undefined ? [] : [{ namespace: '', name }, shared];
  };
  return [
    watching({
      source: nodes,
      predicate: changed<Node>(({ metadata: { uid, labels, annotations } }) => [
        uid,
        labels?.[nodeLabel.os],
        annotations?.[nodeAnnotation.version],
      ]),
      keys: node => [keyOf(node), shared],
    }),
    watching({
      source: instances,
      predicate: changed<WindowsInstance>(each => [boundNode(each), each.status?.version, each.status?.agent?.keyHash]),
      keys: keyOfInstance,
    }),
    watching({
      source: configMaps,
      predicate: matching(isServices),
      keys: () => [shared, ...nodes.store.list().map(keyOf)],
    }),
    ...access.map(({ informer }) => watching({ source: informer, keys: keyOfAccess })),
  ];
}

const factsMs = 10_000;
const uninstallMs = 60_000;

async function reconcileShared(sources: AccessInformers, parts: AgentAccessParts, pass: Pass): Promise<Outcome> {
  const wanted = sharedAccess({ ...observeShared(sources, parts), isPlainKubernetes: parts.kind === 'kubernetes' });
  return ensureAll(wanted, sources, parts, pass);
}

async function reconcileNode(
  name: string,
  sources: AccessInformers,
  parts: AgentAccessParts,
  pass: Pass,
): Promise<Outcome> {
  const { namespace } = parts;
  const node = observeNode(sources, name, parts.version);
  const agent = node?.agent ?? 'none';
  if (agent === 'unknown') return done;
  const platform = parts.facts.read().facts?.platform;
  if (agent !== 'none' && platform === undefined) return after(factsMs, 'the facts of the cluster are not complete');
  const facts = { namespace, isFormer: agent === 'former', hasCloudNodeManager: hasCloudNodeManager(platform ?? '') };
  const wanted = agent === 'none' ? [] : nodeAccess({ name, uid: node?.uid ?? '' }, facts);
  const all = nodeAccess({ name, uid: '' }, { ...facts, hasCloudNodeManager: true });
  const outcome = await ensureAll(wanted, sources, parts, pass);
  const surplus = all
    .filter(one => !wanted.some(other => isSame(one, other)))
    .map(each => ({ resource: each.resource, found: findIn(sources, each) }));
  if (surplus.every(({ found }) => found === undefined)) return outcome;
  // Nodes keep running when the operator is uninstalled.
  const problem = await parts.installation.problem(pass.signal);
  if (problem !== undefined) return after(uninstallMs, problem);
  for (const { resource, found } of surplus)
    if (found !== undefined) await deleteObject(parts.client, resource, found, pass.signal);
  return outcome;
}

function isSame(one: Wanted, other: Wanted): boolean {
  return one.resource.plural === other.resource.plural && one.object.metadata.name === other.object.metadata.name;
}

/** The API server checks a binding against its cache, in which a role that was just created may still be missing. */
async function ensureAll(
  wanted: readonly Wanted[],
  sources: AccessInformers,
  parts: ControllerParts,
  pass: Pass,
): Promise<Outcome> {
  let outcome: Outcome = done;
  let hasNewRole = false;
  for (const each of wanted) {
    const { kind } = each.resource;
    try {
      const isNew = await ensure(each, sources, parts, pass);
      hasNewRole ||= isNew && kind.endsWith('Role');
    } catch (error) {
      if (!hasNewRole || !isNotFound(error) || !kind.endsWith('Binding')) throw error;
      outcome = after(newRoleMs, `${kind} ${each.object.metadata.name}: its role is not visible yet`);
    }
  }
  return outcome;
}

const newRoleMs = 500;

/** Creates or repairs the object, whether or not it is in the cache yet; returns whether it created it. */
async function ensure(
  wanted: Wanted,
  sources: AccessInformers,
  { client }: ControllerParts,
  pass: Pass,
): Promise<boolean> {
  const { resource, object } = wanted;
  const { log, signal } = pass;
  const known = findIn(sources, wanted);
  const found = known ?? (await create(wanted, client, pass));
  const difference = found === undefined ? 'none' : differenceTo(object, found);
  if (found === undefined || difference === 'none') return found === undefined;
  log.info('Repairing permissions of agents', { kind: resource.kind, object: keyText(keyOf(object)), difference });
  try {
    if (difference === 'recreate') {
      await deleteObject(client, resource, found, signal);
      await client.create(resource, object, { signal });
    } else await client.replace(resource, mergeObject(object, found), { signal });
  } catch (error) {
    // Another client was faster; the watch triggers the next pass.
    if (!isConflict(error) && !isAlreadyExists(error) && !isNotFound(error)) throw error;
  }
  return false;
}

/**
 * Returns the object that existed already; undefined when it created it, or when the cache, which has all objects of the namespace, will
 * get it and trigger the next pass.
 */
async function create({ resource, object }: Wanted, client: ControllerParts['client'], { log, signal }: Pass) {
  try {
    log.info('Creating permissions of agents', { kind: resource.kind, object: keyText(keyOf(object)) });
    await client.create(resource, object, { signal });
    return undefined;
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
    return resource.namespaced ? undefined : client.get(resource, object.metadata.name ?? '', { signal });
  }
}
