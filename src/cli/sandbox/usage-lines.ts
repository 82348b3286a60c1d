import { shellWord } from '../shell-quote.ts';
import type { HostView } from '../status/view/host-view.ts';
import type { SimulatedMachine } from './running.ts';

export interface UsageFacts {
  /** Runs this program when pasted into a shell. */
  command: string;
  kubeconfig: string;
  logFile: string;
}

/** Printed when the sandbox starts. */
export function startLines({ command, kubeconfig, logFile }: UsageFacts): string[] {
  return [
    'In another terminal:',
    `  ${exportLine(kubeconfig)}`,
    '  kubectl get nodes,windowsinstances -A',
    `  ${command} status`,
    `Operator log: ${logFile}`,
  ];
}

export interface HintFacts extends Pick<UsageFacts, 'command' | 'kubeconfig'> {
  namespace: string;
  endFaultAnnotation: string;
  hosts: readonly HostView[];
  machines: readonly SimulatedMachine[];
}

/** What to type now: about the first host with a problem. */
export function hintLines(facts: HintFacts): string[] {
  const { command, kubeconfig, hosts, machines, namespace, endFaultAnnotation } = facts;
  const host = hosts.find(({ tone }) => tone === 'bad') ?? hosts.find(({ tone }) => tone === 'slow');
  if (host === undefined) return [exportLine(kubeconfig), `${command} status`];
  const [fault] = machines.find(({ name }) => name === host.name)?.faults ?? [];
  return [
    exportLine(kubeconfig),
    `${command} status ${host.name}`,
    ...(fault === undefined || host.instance === undefined
      ? []
      : [
          // In two lines, which fit most terminals.
          `kubectl annotate wi ${host.name} -n ${namespace} \\`,
          `  ${endFaultAnnotation}=${fault}`,
        ]),
  ];
}

/** Printed when all hosts are settled. Without comments: an interactive zsh would take them for arguments. */
export function experimentLines(hosts: readonly HostView[], command: string): string[] {
  const node = hosts.find(({ tone, nodeName }) => tone === 'good' && nodeName !== undefined)?.nodeName;
  const hasMachines = hosts.some(({ source }) => source.kind === 'Machine');
  return [
    'Things to try:',
    ...(node === undefined ? [] : [`  kubectl delete node ${node}`]),
    ...(hasMachines
      ? [`  kubectl patch machineset winworker -n openshift-machine-api --type=merge -p '{"spec":{"replicas":3}}'`]
      : []),
    `  ${command} sandbox --faults`,
  ];
}

function exportLine(kubeconfig: string): string {
  return `export KUBECONFIG=${shellWord(kubeconfig)}`;
}
