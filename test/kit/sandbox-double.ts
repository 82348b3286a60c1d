import type { RunningSandbox } from '../../src/cli/sandbox/running.ts';
import type { StatusCluster } from './status-cluster.ts';

/** The sandbox of a cluster in which the test plays the operator. */
export function sandboxDouble(
  { sandbox, namespace }: StatusCluster,
  over: Partial<RunningSandbox> = {},
): RunningSandbox {
  return {
    kubeconfig: sandbox.kubeconfig,
    url: sandbox.url,
    namespace,
    operatorExit: new AbortController().signal,
    hosts: () => [],
    readFile: async () => undefined,
    setAuthorizedKeys: async () => undefined,
    replaceOperator: async () => undefined,
    becomeGoCluster: async () => ({ version: 'go', pod: 'go' }),
    [Symbol.asyncDispose]: async () => undefined,
    ...over,
  };
}
