import { isIpv4 } from '#base/ipv4.ts';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import { findNodeByAddress, isWindowsNode, type NodeView } from '#contract/node.ts';
import type { ClusterNodes } from './world.ts';

/** The addresses by which an instance is known to belong to a Node: as it is listed, and what that resolves to. */
export function addressesOf({ spec, status }: InstanceObject): string[] {
  return [...(isIpv4(spec.address) || status?.ipv4 === undefined ? [] : [status.ipv4]), spec.address];
}

/** The Windows node that reports one of the addresses. */
export function findInstanceNode(addresses: readonly string[], nodes: readonly NodeView[]): NodeView | undefined {
  const candidates = nodes.filter(isWindowsNode);
  for (const address of addresses) {
    const node = findNodeByAddress(address, candidates);
    if (node !== undefined) return node;
  }
  return undefined;
}

/** Waits until there is an answer. Looks at once and then after every change, never by the clock. */
export async function untilNodes<T>(
  nodes: Pick<ClusterNodes, 'onChange'>,
  look: () => T | undefined,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const lookAgain = () => {
    try {
      const answer = look();
      if (answer !== undefined) resolve(answer);
    } catch (error) {
      reject(error);
    }
  };
  const giveUp = () => reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  const end = nodes.onChange(lookAgain);
  try {
    lookAgain();
    return await promise;
  } finally {
    end();
    signal.removeEventListener('abort', giveUp);
  }
}
