import { setTimeout as delay } from 'node:timers/promises';
import { hasConditionStatus } from '../../../src/base/condition.ts';
import { nodeLabel, windowsTaint } from '../../../src/contract/names.ts';
import { isApiError, isNotFound } from '../../../src/kube/api-error.ts';
import type { Client } from '../../../src/kube/client.ts';
import type { KubeResource, Resource } from '../../../src/kube/resource.ts';
import {
  namespaces,
  type Node,
  nodes,
  ofNamespace,
  type Pod,
  podDisruptionBudgets,
  podDisruptionBudgetsV1beta1,
  pods,
} from '../../../src/kube/resources.ts';
import { running, setPodStatus } from '../cluster-pods.ts';

const replicaSets: Resource<KubeResource & { spec: unknown }> = ofNamespace('apps/v1', 'ReplicaSet', 'replicasets');
const bindings: Resource<KubeResource & { target: unknown }> = ofNamespace('v1', 'Binding', 'pods');
const name = 'web';
const everyMs = 100;

export interface WorkloadOptions {
  /** Of kube-apiserver; decides on the version of the budget. */
  minor: number;
  namespace: string;
  replicas: number;
  /** How long a pod takes to stop. */
  stopMs?: number;
}

/** Pods of a ReplicaSet on Windows Nodes, of which a PodDisruptionBudget lets one at a time be missing. */
export interface Workload extends AsyncDisposable {
  /** Errors of the doubles except conflicts; a test asserts that there are none. */
  readonly errors: readonly string[];
  /** The lowest number of pods that were ready at once after the first `complete`. */
  readonly fewestReady: number;
  /** Names of the Nodes with a pod that is ready. */
  nodesInUse(): Promise<string[]>;
  /** Waits until all pods are ready. */
  complete(limitMs?: number): Promise<void>;
}

/** Creates it, and does for its pods what scheduler and kubelets do; needs the controllers of ReplicaSets and budgets. */
export async function startWorkload(client: Client, options: WorkloadOptions): Promise<Workload> {
  await createObjects(client, options);
  const ending = new AbortController();
  const errors: string[] = [];
  const seen = { wasComplete: false, fewest: options.replicas };
  const runner = new PodRunner(client, options);
  const look = async () => {
    const { length } = await runner.lookOnce();
    if (seen.wasComplete) seen.fewest = Math.min(seen.fewest, length);
  };
  const working = (async () => {
    while (!ending.signal.aborted) {
      await look().catch((error: unknown) => isApiError(error, 'Conflict') || errors.push(String(error)));
      await delay(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  const nodesInUse = async () => (await runner.readyPods()).map(({ spec }) => spec?.nodeName ?? '').toSorted();
  return {
    errors,
    get fewestReady() {
      return seen.fewest;
    },
    nodesInUse,
    async complete(limitMs = 60_000) {
      for (const endMs = performance.now() + limitMs; ; await delay(everyMs)) {
        const { length } = await nodesInUse();
        seen.wasComplete ||= length === options.replicas;
        if (length === options.replicas) return;
        if (performance.now() > endMs)
          throw new Error(`${length} of ${options.replicas} pods are ready: ${errors.join('; ')}`);
      }
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await working;
    },
  };
}

async function createObjects(client: Client, { minor, namespace, replicas }: WorkloadOptions): Promise<void> {
  const selector = { matchLabels: { app: name } };
  const spec = {
    automountServiceAccountToken: false,
    nodeSelector: { [nodeLabel.os]: 'windows' },
    tolerations: [{ key: windowsTaint.key, operator: 'Exists' }],
    containers: [{ name: 'main', image: 'none' }],
  };
  const template = { metadata: { labels: selector.matchLabels }, spec };
  const metadata = { name, namespace };
  await client.create(namespaces, { metadata: { name: namespace } });
  await client.create(replicaSets, { metadata, spec: { replicas, selector, template } });
  const budgets = minor >= 21 ? podDisruptionBudgets : podDisruptionBudgetsV1beta1;
  await client.create(budgets, { metadata, spec: { maxUnavailable: 1, selector } });
}

/** Scheduler and kubelets of the pods: a kubelet acts while its Node is Ready. */
class PodRunner {
  readonly #client: Client;
  readonly #namespace: string;
  readonly #stopMs: number;
  /** When a pod was first seen to stop. */
  readonly #stopping = new Map<string, number>();

  constructor(client: Client, { namespace, stopMs = 0 }: WorkloadOptions) {
    this.#client = client;
    this.#namespace = namespace;
    this.#stopMs = stopMs;
  }

  async readyPods(): Promise<Pod[]> {
    const { items } = await this.#client.list(pods, { namespace: this.#namespace });
    return items.filter(isReady);
  }

  async lookOnce(): Promise<Pod[]> {
    const [{ items: all }, { items: allNodes }] = await Promise.all([
      this.#client.list(pods, { namespace: this.#namespace }),
      this.#client.list(nodes, { labelSelector: `${nodeLabel.os}=windows` }),
    ]);
    const working = allNodes.filter(({ status }) => hasConditionStatus(status?.conditions, 'Ready', 'True'));
    // One at a time, so that the next look counts it.
    const [unscheduled] = all.filter(({ spec }) => spec?.nodeName === undefined);
    if (unscheduled !== undefined) await this.#schedule(unscheduled, all, working);
    for (const pod of all) await this.#treat(pod, working);
    return all.filter(isReady);
  }

  async #treat(pod: Pod, working: readonly Node[]): Promise<void> {
    if (!working.some(({ metadata }) => metadata.name === pod.spec?.nodeName)) return;
    if (pod.metadata.deletionTimestamp !== undefined) return this.#stop(pod);
    if (!isReady(pod)) await setPodStatus(this.#client, pod, running);
  }

  /** Prefers the Node with the fewest pods; without any, the pod waits. */
  async #schedule({ metadata }: Pod, all: readonly Pod[], working: readonly Node[]): Promise<void> {
    const podsOn = (node: Node) => all.filter(({ spec }) => spec?.nodeName === node.metadata.name).length;
    const [best] = working
      .filter(({ spec }) => spec?.unschedulable !== true)
      .toSorted((one, other) => podsOn(one) - podsOn(other));
    if (best === undefined || metadata.deletionTimestamp !== undefined) return;
    const { name: podName = '' } = metadata;
    const target = { apiVersion: 'v1', kind: 'Node', name: best.metadata.name };
    const options = { namespace: this.#namespace, name: podName, subresource: 'binding' };
    await this.#client.create(bindings, { metadata: { name: podName, namespace: this.#namespace }, target }, options);
  }

  async #stop({ metadata: { name: podName = '', uid = '' } }: Pod): Promise<void> {
    const sinceMs = this.#stopping.get(uid) ?? performance.now();
    this.#stopping.set(uid, sinceMs);
    if (performance.now() < sinceMs + this.#stopMs) return;
    const options = { namespace: this.#namespace, gracePeriodSeconds: 0 };
    await this.#client.delete(pods, podName, options).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
}

function isReady({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && hasConditionStatus(status?.conditions, 'Ready', 'True');
}
