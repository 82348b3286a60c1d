import type { ClusterNodes } from './deps.ts';

/** Waits until `look` returns a value; calls it at once and after every change of the Node or of the report of its agent. */
export async function untilNode<T>(
  nodes: Pick<ClusterNodes, 'follow'>,
  name: string,
  look: () => T | undefined,
  signal: AbortSignal,
): Promise<T> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const check = () => {
    try {
      const answer = look();
      if (answer !== undefined) resolve(answer);
    } catch (error) {
      reject(error);
    }
  };
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  const end = nodes.follow(name, check);
  try {
    check();
    return await promise;
  } finally {
    end();
    signal.removeEventListener('abort', abort);
  }
}
