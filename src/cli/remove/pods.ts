import type { Client } from '#kube/client.ts';
import { classify } from '#kube/drain/pod-class.ts';
import { pods } from '#kube/resources.ts';

export interface PodCounts {
  /** Pods that the drain evicts or waits for. */
  leaving: number;
  /** Pods that end with the Node, such as those of DaemonSets. */
  staying: number;
}

/** Undefined when the pods cannot be read; they are only shown. */
export async function countPods(
  client: Pick<Client, 'listAll'>,
  node: string,
  signal: AbortSignal,
): Promise<PodCounts | undefined> {
  try {
    const options = { fieldSelector: `spec.nodeName=${node}`, signal, timeoutMs: 20_000, maxRetries: 1 };
    const { items } = await client.listAll(pods, options);
    const staying = items.filter(pod => classify(pod).action === 'leave').length;
    return { leaving: items.length - staying, staying };
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
