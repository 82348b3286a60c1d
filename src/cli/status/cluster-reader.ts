import type { Clock } from '#base/clock.ts';
import { AppError, attempt } from '#base/errors.ts';
import { silentLog } from '#base/log.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, machineLabel, namespaceName, nodeLabel, operatorName } from '#contract/names.ts';
import { readNode } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import {
  clusterSuitable,
  hostSettings,
  kubeletSettings,
  problemsIn,
  readConditions,
  rolloutSettings,
  versionKey,
} from '#contract/operator-status.ts';
import { parseRemovedHosts } from '#contract/removed-hosts.ts';
import { parseGrants } from '#contract/rollout-grants.ts';
import { ApiError, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { Informers } from '#kube/informer/informers.ts';
import { apiVersionOf, type KubeResource, type Resource } from '#kube/resource.ts';
import { configMaps, type Lease, leases, nodes } from '#kube/resources.ts';
import { machineSets, machines } from '#kube/resources-openshift.ts';
import { budgetHosts, nodeStates } from '#node/rollout/budget-facts.ts';
import { runningGrants } from '#node/rollout/running-grants.ts';
import { durationText } from './view/amounts.ts';
import type { ClusterView, ListName } from './view/host-view.ts';

export interface ClusterReaderDeps {
  client: Client;
  /** Namespace of the operator. */
  namespace: string;
  clock: Clock;
  /** Whether a cluster without the CRD is one without WindowsInstances, and not an error. */
  isDefinitionOptional?: boolean;
}

export interface WatchedCluster extends AsyncDisposable {
  view(): ClusterView;
  /** Calls the listener after every change; returns a function that removes it. */
  onChange: (listener: () => void) => () => void;
}

/** Reads everything about hosts once. Only missing WindowsInstances are an error; other failures become notes. */
export async function readCluster(deps: ClusterReaderDeps, signal: AbortSignal): Promise<ClusterView> {
  const { read, notes } = await readAll(deps, signal);
  return viewOf(read, deps, notes);
}

/** Keeps reading. Lists that fail at the start are not watched, and neither are kinds that the cluster does not have. */
export async function watchCluster(deps: ClusterReaderDeps, signal: AbortSignal): Promise<WatchedCluster> {
  const { read, notes, missing } = await readAll(deps, signal);
  const { client, clock } = deps;
  const informers = new Informers({ client, clock, log: silentLog, random: Math.random });
  const listeners = new Set<() => void>();
  const notify = () => {
    for (const listener of listeners) listener();
  };
  const stores = new Map(
    listRequests(deps)
      .filter(({ name }) => read[name] !== undefined && !missing.has(name))
      .map(({ name, resource, scope }) => {
        const informer = informers.get(resource, scope);
        informer.addHandler({ added: notify, updated: notify, deleted: notify });
        return [name, informer] as const;
      }),
  );
  informers.start();
  try {
    await informers.synced(signal);
  } catch (error) {
    await informers.stop();
    throw error;
  }
  return {
    view: () => {
      const troubles = informers
        .troubles()
        .map(({ trouble }) =>
          trouble.includes('forbidden')
            ? `You need permission to watch: ${trouble}`
            : `Lost connection to the cluster; retrying: ${trouble}`,
        );
      const lists = Object.fromEntries([...stores].map(([name, { store }]) => [name, store.list()])) as Lists;
      return viewOf({ ...read, ...lists }, deps, [...notes, ...new Set(troubles)]);
    },
    onChange: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    [Symbol.asyncDispose]: () => informers.stop(),
  };
}

interface ListRequest {
  name: ListName;
  /** Name of the list in notes. */
  what: string;
  resource: Resource;
  scope: { namespace?: string; labelSelector?: string; fieldSelector?: string };
}

function listRequests({ namespace }: Pick<ClusterReaderDeps, 'namespace'>): ListRequest[] {
  const named = (name: string) => ({ namespace, fieldSelector: `metadata.name=${name}` });
  const ofMachines = { namespace: namespaceName.machineApi, labelSelector: `${machineLabel.osId}=Windows` };
  const { instances } = configMapName;
  const ofConfigMap = (name: ConfigMapList): ListRequest => {
    const configMap = configMapName[name];
    return { name, what: `ConfigMap ${configMap}`, resource: configMaps, scope: named(configMap) };
  };
  return [
    { name: 'instances', what: 'WindowsInstances', resource: windowsInstances, scope: { namespace } },
    { name: 'nodes', what: 'Nodes', resource: nodes, scope: { labelSelector: `${nodeLabel.os}=windows` } },
    { name: 'entries', what: `ConfigMap ${instances}`, resource: configMaps, scope: named(instances) },
    ...configMapLists.map(ofConfigMap),
    { name: 'machines', what: 'Machines', resource: machines, scope: ofMachines },
    { name: 'machineSets', what: 'MachineSets', resource: machineSets, scope: { namespace: namespaceName.machineApi } },
    { name: 'lease', what: `Lease ${operatorName}`, resource: leases, scope: named(operatorName) },
  ];
}

/** Lists with the names of their ConfigMaps in `configMapName`. */
const configMapLists = ['hostKeys', 'operatorStatus', 'rollout', 'rolloutGrants', 'removedHosts'] as const;
type ConfigMapList = (typeof configMapLists)[number];

/** Without those that could not be read. A kind that the cluster does not have is empty. */
type Lists = Partial<Record<ListName, readonly KubeResource[]>>;

const callTimeoutMs = 20_000;

interface ReadLists {
  read: Lists;
  notes: string[];
  /** Lists of kinds that the cluster does not have. */
  missing: Set<ListName>;
}

async function readAll(deps: ClusterReaderDeps, signal: AbortSignal): Promise<ReadLists> {
  const { client } = deps;
  const read: Lists = {};
  const missing = new Set<ListName>();
  const notes: string[] = [];
  const list = async ({ name, what, resource, scope }: ListRequest) => {
    try {
      const { items } = await client.listAll(resource, { ...scope, signal, timeoutMs: callTimeoutMs, maxRetries: 1 });
      const kind = { apiVersion: apiVersionOf(resource), kind: resource.kind };
      read[name] = items.map(item => ({ ...kind, ...item }));
    } catch (error) {
      const isAccepted = isNotFound(error) && deps.isDefinitionOptional === true;
      if (name === 'instances' && !isAccepted) throw readError(error, deps);
      if (isNotFound(error)) {
        read[name] = [];
        missing.add(name);
      } else notes.push(`${what} cannot be read: ${failureReason(error)}`);
    }
  };
  await Promise.all(listRequests(deps).map(list));
  return { read, notes: notes.sort(), missing };
}

function failureReason(error: unknown): string {
  if (error instanceof ApiError && error.code === 403) return 'permission denied';
  return error instanceof Error ? error.message : 'unknown error';
}

/** The error when WindowsInstances cannot be listed. */
function readError(error: unknown, { namespace }: ClusterReaderDeps): unknown {
  if (!(error instanceof ApiError)) return error;
  if (isNotFound(error)) {
    return new AppError('CLUSTER_UNSUITABLE', 'this cluster has no WindowsInstance resource', {
      remedy:
        'Install the operator, or its CRD with `wmco render crd | kubectl apply -f -`, or choose another cluster.',
      cause: error,
    });
  }
  const remedies: Readonly<Record<number, string>> = {
    401: 'Log in to the cluster again, or use another kubeconfig with --kubeconfig.',
    403: `Request permission to list windowsinstances.windowsmachineconfig.openshift.io in namespace ${namespace}, or use --namespace.`,
  };
  const remedy = remedies[error.code] ?? 'Retry; if the error persists, check the API server.';
  return new AppError('API_REFUSED', error.message, { remedy, cause: error });
}

function viewOf(lists: Lists, deps: ClusterReaderDeps, notes: readonly string[]): ClusterView {
  const listOf = (name: ListName) => lists[name] ?? [];
  const dataOf = (name: 'entries' | ConfigMapList) =>
    (listOf(name)[0] as { data?: Record<string, string> } | undefined)?.data ?? {};
  const [lease] = listOf('lease') as readonly Lease[];
  const unread = listRequests(deps).flatMap(({ name }) => (lists[name] === undefined ? [name] : []));
  const operator = unread.includes('lease') ? [] : operatorNotes(lease, deps);
  const reported = readConditions(dataOf('operatorStatus'));
  return {
    namespace: deps.namespace,
    instances: listOf('instances') as ClusterView['instances'],
    nodes: listOf('nodes').flatMap(node => {
      const result = attempt(() => readNode(readObject(node)));
      return result.ok ? [result.value] : [];
    }),
    entries: dataOf('entries'),
    hostKeys: dataOf('hostKeys'),
    rollout: dataOf('rollout'),
    operatorVersion: dataOf('operatorStatus')[versionKey] ?? '',
    grants: heldGrants(lists, dataOf('rolloutGrants'), deps),
    removedHosts: parseRemovedHosts(dataOf('removedHosts')).flatMap(note => (note.ok ? [note.value] : [])),
    machines: listOf('machines'),
    machineSets: listOf('machineSets'),
    unread,
    hasOperator: operatorIn(lists),
    isOperatorRunning: !unread.includes('lease') && operator.length === 0,
    clusterProblems: reported.filter(({ type }) => reportedConditions.includes(type)).flatMap(problemsIn),
    settingsProblem: reported.filter(({ type }) => type === hostSettings).flatMap(problemsIn)[0]?.code,
    notes: [...notes, ...operator],
  };
}

const reportedConditions: readonly string[] = [clusterSuitable, rolloutSettings, kubeletSettings, hostSettings];

/** Without those that have ended, which the operator drops at its next request. */
function heldGrants(lists: Lists, data: Record<string, string>, { clock }: ClusterReaderDeps): ClusterView['grants'] {
  const { grants, unavailable } = parseGrants(data);
  if (lists.nodes === undefined) return grants;
  const hosts = budgetHosts((lists.instances ?? []) as ClusterView['instances']);
  const states = nodeStates(lists.nodes);
  return runningGrants({ hosts, nodes: states, grants, unavailable, nowMs: clock.now() });
}

function operatorIn(lists: Lists): ClusterView['hasOperator'] {
  if (operatorLists.some(name => (lists[name] ?? []).length > 0)) return 'yes';
  return operatorLists.some(name => lists[name] === undefined) ? 'unknown' : 'no';
}

/** Objects that exist only in the namespace of an operator. */
const operatorLists: readonly ListName[] = ['instances', 'entries', 'lease'];

/** Generous, because clocks differ and a busy operator may renew late. */
const leaseExpiryMs = 120_000;

/** Without a running operator the status is stale. */
function operatorNotes(lease: Lease | undefined, { namespace, clock }: ClusterReaderDeps): string[] {
  const { renewTime = '', holderIdentity = '' } = lease?.spec ?? {};
  const check = `run \`kubectl get pods -n ${namespace}\``;
  if (holderIdentity === '') return [`No operator is running in namespace ${namespace}; ${check}.`];
  const renewedMsAgo = clock.now() - Date.parse(renewTime);
  return renewedMsAgo > leaseExpiryMs
    ? [
        `Operator ${holderIdentity} does not run: it has not renewed its lease for ${durationText(renewedMsAgo)}; ${check}.`,
      ]
    : [];
}
