import type { HostView } from '../status/view/host-view.ts';

export interface UsageFacts {
  kubeconfig: string;
  logFile: string;
  hosts: readonly HostView[];
}

/** What can be done with a sandbox that stays. */
export function usageLines({ kubeconfig, logFile, hosts }: UsageFacts): string[] {
  const node = hosts.find(({ nodeName }) => nodeName !== undefined)?.nodeName ?? 'win-1';
  const hasMachines = hosts.some(({ source }) => source.kind === 'Machine');
  return [
    'It stays until Ctrl-C. In another terminal:',
    `  export KUBECONFIG=${quoted(kubeconfig)}`,
    '  kubectl get nodes; kubectl get windowsinstances -A',
    `  wmco status ${node}`,
    'To see it cope:',
    `  kubectl delete node ${node}      # it joins again`,
    ...(hasMachines
      ? [`  kubectl patch machineset winworker -n openshift-machine-api --type=merge -p '{"spec":{"replicas":3}}'`]
      : []),
    '  wmco sandbox --faults            # what hosts of the next sandbox can suffer from',
    `Log of the operator: ${logFile}`,
  ];
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
