import type { Clock } from '#base/clock.ts';
import { AppError, attempt } from '#base/errors.ts';
import { silentLog } from '#base/log.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { configMapName, machineLabel, namespaceName, nodeLabel, operatorName } from '#contract/names.ts';
import { readNode } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import { ApiError, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { Informers } from '#kube/informer/informers.ts';
import { apiVersionOf, type KubeResource, type Resource } from '#kube/resource.ts';
import { configMaps, type Lease, leases, nodes } from '#kube/resources.ts';
import { machines } from '#kube/resources-openshift.ts';
import { durationText } from './view/amounts.ts';
import type { ClusterView } from './view/host-view.ts';

export interface ClusterParts {
  client: Client;
  /** Of the operator. */
  namespace: string;
  clock: Clock;
}

/** A cluster that is watched. */
export interface FollowedCluster extends AsyncDisposable {
  view(): ClusterView;
  /** Told after every change; gives how to end that. */
  onChange: (listener: () => void) => () => void;
}

/** Everything there is to know about hosts, read once. Fails only where there is nothing to show at all. */
export async function readCluster(parts: ClusterParts, signal: AbortSignal): Promise<ClusterView> {
  const { read, notes } = await readAll(parts, signal);
  return viewOf(name => read[name] ?? [], parts, notes);
}

/** The same, kept up to date. What could not be read at the beginning is not asked for again. */
export async function followCluster(parts: ClusterParts, signal: AbortSignal): Promise<FollowedCluster> {
  const { read, notes } = await readAll(parts, signal);
  const { client, clock } = parts;
  const informers = new Informers({ client, clock, log: silentLog, random: Math.random });
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  const stores = new Map(
    questionsOf(parts)
      .filter(({ name }) => read[name] !== undefined)
      .map(({ name, resource, scope }) => {
        const informer = informers.get(resource, scope);
        informer.addHandler({ added: tell, updated: tell, deleted: tell });
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
      const troubles = informers.troubles().map(({ trouble }) => `The cluster cannot be followed: ${trouble}`);
      return viewOf(name => stores.get(name)?.store.list() ?? [], parts, [...notes, ...new Set(troubles)]);
    },
    onChange: listener => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    [Symbol.asyncDispose]: () => informers.stop(),
  };
}

type QuestionName = 'instances' | 'nodes' | 'entries' | 'hostKeys' | 'machines' | 'lease';

/** One list of objects. */
interface Question {
  name: QuestionName;
  /** For people. */
  what: string;
  resource: Resource;
  scope: { namespace?: string; labelSelector?: string; fieldSelector?: string };
}

function questionsOf({ namespace }: Pick<ClusterParts, 'namespace'>): Question[] {
  const named = (name: string) => ({ namespace, fieldSelector: `metadata.name=${name}` });
  const ofMachines = { namespace: namespaceName.machineApi, labelSelector: `${machineLabel.osId}=Windows` };
  const { instances, hostKeys } = configMapName;
  return [
    { name: 'instances', what: 'WindowsInstances', resource: windowsInstances, scope: { namespace } },
    { name: 'nodes', what: 'Nodes', resource: nodes, scope: { labelSelector: `${nodeLabel.os}=windows` } },
    { name: 'entries', what: `ConfigMap ${instances}`, resource: configMaps, scope: named(instances) },
    { name: 'hostKeys', what: `ConfigMap ${hostKeys}`, resource: configMaps, scope: named(hostKeys) },
    { name: 'machines', what: 'Machines', resource: machines, scope: ofMachines },
    { name: 'lease', what: `Lease ${operatorName}`, resource: leases, scope: named(operatorName) },
  ];
}

type Read = Partial<Record<QuestionName, readonly KubeResource[]>>;

const callMs = 20_000;

async function readAll(parts: ClusterParts, signal: AbortSignal): Promise<{ read: Read; notes: string[] }> {
  const { client } = parts;
  const read: Read = {};
  const notes: string[] = [];
  const ask = async ({ name, what, resource, scope }: Question) => {
    try {
      const { items } = await client.listAll(resource, { ...scope, signal, timeoutMs: callMs, maxRetries: 1 });
      const kind = { apiVersion: apiVersionOf(resource), kind: resource.kind };
      read[name] = items.map(item => ({ ...kind, ...item }));
    } catch (error) {
      if (name === 'instances') throw explained(error, parts);
      // A kind that the cluster does not know has no objects.
      if (!isNotFound(error)) notes.push(`${what} cannot be read: ${reasonOf(error)}`);
    }
  };
  await Promise.all(questionsOf(parts).map(ask));
  return { read, notes: notes.sort() };
}

function reasonOf(error: unknown): string {
  if (error instanceof ApiError && error.code === 403) return 'you may not';
  return error instanceof Error ? error.message : 'unknown error';
}

/** Why nothing can be shown. */
function explained(error: unknown, { namespace }: ClusterParts): unknown {
  if (!(error instanceof ApiError)) return error;
  if (isNotFound(error)) {
    return new AppError('CLUSTER_UNSUITABLE', 'this cluster does not know WindowsInstances', {
      remedy:
        'Install the operator, or its definition with `wmco render crd | kubectl apply -f -`, or choose another cluster.',
      cause: error,
    });
  }
  const remedies: Readonly<Record<number, string>> = {
    401: 'Log in to the cluster again, or give another kubeconfig.',
    403: `Ask for the right to list windowsinstances.windowsmachineconfig.openshift.io in namespace ${namespace}, or give --namespace.`,
  };
  const remedy = remedies[error.code] ?? 'Try again; when it stays so, look at the API server.';
  return new AppError('API_REFUSED', error.message, { remedy, cause: error });
}

function viewOf(
  listOf: (name: QuestionName) => readonly KubeResource[],
  parts: ClusterParts,
  notes: readonly string[],
): ClusterView {
  const dataOf = (name: 'entries' | 'hostKeys') =>
    (listOf(name)[0] as { data?: Record<string, string> } | undefined)?.data ?? {};
  const [lease] = listOf('lease') as readonly Lease[];
  const isLeaseKnown = !notes.some(note => note.startsWith('Lease '));
  return {
    instances: listOf('instances') as ClusterView['instances'],
    nodes: listOf('nodes').flatMap(node => {
      const result = attempt(() => readNode(readObject(node)));
      return result.ok ? [result.value] : [];
    }),
    entries: dataOf('entries'),
    hostKeys: dataOf('hostKeys'),
    machines: listOf('machines'),
    notes: [...notes, ...(isLeaseKnown ? operatorNotes(lease, parts) : []), ...emptyNotes(listOf, parts)],
  };
}

/** Nothing at all is more often a wrong namespace than an empty cluster. */
function emptyNotes(listOf: (name: QuestionName) => readonly KubeResource[], { namespace }: ClusterParts): string[] {
  const isEmpty = listOf('instances').length + listOf('entries').length + listOf('machines').length === 0;
  return isEmpty
    ? [`Nothing lists Windows hosts in namespace ${namespace}; give --namespace if the operator is elsewhere.`]
    : [];
}

/** Clocks differ, and a busy operator may be late once. */
const silenceMs = 120_000;

/** Without an operator nothing of what is shown will ever change. */
function operatorNotes(lease: Lease | undefined, { namespace, clock }: ClusterParts): string[] {
  const { renewTime = '', holderIdentity = '' } = lease?.spec ?? {};
  if (lease === undefined || holderIdentity === '') return [`No operator is at work in namespace ${namespace}.`];
  const silentMs = clock.now() - Date.parse(renewTime);
  return silentMs > silenceMs
    ? [`Nothing was heard of the operator ${holderIdentity} for ${durationText(silentMs)}.`]
    : [];
}
