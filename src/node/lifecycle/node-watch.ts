import type { ClusterNodes } from './deps.ts';

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
