import type { HostView } from '../status/view/host-view.ts';

export interface UsageFacts {
  kubeconfig: string;
  logFile: string;
  hosts: readonly HostView[];
}

/** Commands to try while the sandbox runs. */
export function usageLines({ kubeconfig, logFile, hosts }: UsageFacts): string[] {
  const node = hosts.find(({ nodeName }) => nodeName !== undefined)?.nodeName ?? 'win-1';
  const hasMachines = hosts.some(({ source }) => source.kind === 'Machine');
  return [
    'Running until Ctrl-C. In another terminal:',
    `  export KUBECONFIG=${quoted(kubeconfig)}`,
    '  kubectl get nodes; kubectl get windowsinstances -A',
    `  wmco status ${node}`,
    'Things to try:',
    `  kubectl delete node ${node}      # the host joins again`,
    ...(hasMachines
      ? [`  kubectl patch machineset winworker -n openshift-machine-api --type=merge -p '{"spec":{"replicas":3}}'`]
      : []),
    '  wmco sandbox --faults            # list the faults that hosts can have',
    `Operator log: ${logFile}`,
  ];
}

function quoted(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
