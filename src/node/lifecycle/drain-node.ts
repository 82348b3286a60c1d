import { type BlockedPod, type Drainer, drainError } from '#kube/drain/drain.ts';
import { drainProgress } from '#kube/drain/drain-text.ts';
import type { Informer } from '#kube/informer/informer.ts';
import type { Node } from '#kube/resources.ts';
import type { NodeDrainOptions } from './deps.ts';

export interface DrainNodeDeps {
  drainer: Pick<Drainer, 'drain'>;
  nodes: Pick<Informer<Node>, 'follow'>;
  /** Cordons the Node, if it exists. */
  cordon: () => Promise<unknown>;
}

/** Cordons and drains the Node; see ClusterNodes.drain. */
export async function drainNode(
  name: string,
  { drainer, nodes, cordon }: DrainNodeDeps,
  { signal, timeoutMs, note, remedy }: NodeDrainOptions,
): Promise<void> {
  await cordon();
  let [text, suffix] = ['draining the Node', ''];
  // Pods that were evicted would come back to a Node that a user uncordons now.
  const cordonAgain = ({ spec }: Node) => {
    if (spec?.unschedulable === true) return;
    suffix = '; cordoned it again after it was uncordoned';
    note?.(text + suffix);
    // If it fails, the next change of the Node, such as a heartbeat, tries again.
    cordon().catch(() => undefined);
  };
  const onProgress = (left: readonly BlockedPod[]) => {
    text = drainProgress(left);
    note?.(text + suffix);
  };
  const handler = { added: cordonAgain, updated: (_old: Node, now: Node) => cordonAgain(now) };
  const end = nodes.follow({ namespace: '', name }, handler);
  try {
    const result = await drainer.drain(name, { signal, onProgress, ...(timeoutMs !== undefined && { timeoutMs }) });
    if (result.blocked.length > 0) throw drainError(name, result, remedy);
  } finally {
    end();
  }
}
