import { setTimeout as delay } from 'node:timers/promises';
import { hasConditionStatus } from '../../src/base/condition.ts';
import { nodeLabel } from '../../src/contract/names.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import type { Client } from '../../src/kube/client.ts';
import {
  type Node,
  nodes,
  type Pod,
  podDisruptionBudgets,
  podDisruptionBudgetsV1beta1,
  pods,
} from '../../src/kube/resources.ts';
import { makeNamespace, makePod, running, setPodStatus } from './cluster-pods.ts';

export interface SteadyOptions {
  namespace: string;
  replicas: number;
  /** Of the PodDisruptionBudget. */
  minAvailable: number;
  /** Of an API server that may be too old for policy/v1. */
  minor?: number;
}

/** Pods on Windows Nodes that are made again as long as it runs; needs no controller of ReplicaSets. */
export interface SteadyWorkload extends AsyncDisposable {
  /** Answers of the API server that were not expected. */
  readonly errors: readonly string[];
  /** Waits until all pods are ready. */
  complete(): Promise<void>;
}

const everyMs = 40;
const limitMs = 60_000;
/** Another look finds out what has become of it. */
const harmless: readonly number[] = [404, 409, 429];

export async function startSteadyWorkload(client: Client, options: SteadyOptions): Promise<SteadyWorkload> {
  const { namespace, replicas, minAvailable, minor = 36 } = options;
  await makeNamespace(client, namespace);
  const selector = { matchLabels: { app: 'web' } };
  const budgets = minor >= 21 ? podDisruptionBudgets : podDisruptionBudgetsV1beta1;
  await client.create(budgets, { metadata: { name: 'web', namespace }, spec: { minAvailable, selector } });
  const ending = new AbortController();
  const errors: string[] = [];
  const working = (async () => {
    while (!ending.signal.aborted) {
      await lookOnce(client, options).catch((error: unknown) => {
        // A server that restarts answers nothing; pods run nevertheless.
        if (error instanceof ApiError && error.code < 500 && !harmless.includes(error.code)) errors.push(error.message);
      });
      await delay(everyMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  return {
    errors,
    async complete() {
      for (const endMs = performance.now() + limitMs; ; await delay(everyMs)) {
        const { items } = await client.list(pods, { namespace });
        if (items.filter(isReadyPod).length === replicas) return;
        if (performance.now() > endMs) throw new Error(`the pods do not become ready: ${errors.join('; ')}`);
      }
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await working;
    },
  };
}

export function isReadyPod({ metadata, status }: Pod): boolean {
  return metadata.deletionTimestamp === undefined && hasConditionStatus(status?.conditions, 'Ready', 'True');
}

/** What kubelets, the scheduler and the controller of a ReplicaSet do in one round. */
async function lookOnce(client: Client, { namespace, replicas }: SteadyOptions): Promise<void> {
  const [{ items: all }, { items: windows }] = await Promise.all([
    client.list(pods, { namespace }),
    client.list(nodes, { labelSelector: `${nodeLabel.os}=windows` }),
  ]);
  const working = windows.filter(({ status }) => hasConditionStatus(status?.conditions, 'Ready', 'True'));
  const wanted = all.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const node = bestNode(working, wanted);
  if (wanted.length < replicas && node !== undefined)
    await makePod(client, { generateName: 'web-', namespace, labels: { app: 'web' } }, { nodeName: node });
  for (const pod of all) {
    if (!working.some(({ metadata }) => metadata.name === pod.spec?.nodeName)) continue;
    const { name = '', deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined) await client.delete(pods, name, { namespace, gracePeriodSeconds: 0 });
    else if (!isReadyPod(pod)) await setPodStatus(client, pod, running);
  }
}

/** The one with the fewest pods. */
function bestNode(working: readonly Node[], all: readonly Pod[]): string | undefined {
  const podsOn = ({ metadata }: Node) => all.filter(({ spec }) => spec?.nodeName === metadata.name).length;
  const open = working.filter(({ spec }) => spec?.unschedulable !== true);
  return open.toSorted((one, other) => podsOn(one) - podsOn(other))[0]?.metadata.name;
}
