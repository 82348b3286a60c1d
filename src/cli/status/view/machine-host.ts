import { machineLabel, namespaceName } from '#contract/names.ts';
import type { Machine } from '#kube/resources-openshift.ts';
import { type ClusterView, emptyHost, type HostProblem, type HostView } from './host-view.ts';
import { hasInstance, nodeNamed } from './lookups.ts';

/** Machines without an instance, usually because they are still being created. */
export function hostsOfMachines(view: ClusterView): HostView[] {
  return view.machines.flatMap(machine => hostOfMachine(machine, view));
}

function hostOfMachine(machine: Machine, view: ClusterView): HostView[] {
  const { name = '', labels = {} } = machine.metadata;
  if (hasInstance(view.instances, 'Machine', name) || labels[machineLabel.ignore] === 'true') return [];
  const { addresses = [], nodeRef } = machine.status ?? {};
  const nodeRefName = nodeRef?.name;
  const node = nodeNamed(view.nodes, nodeRefName);
  return [
    {
      ...emptyHost,
      name,
      address: addresses.find(({ type }) => type === 'InternalIP')?.address ?? '',
      source: { kind: 'Machine', name },
      node,
      nodeName: view.unread.includes('nodes') ? nodeRefName : node?.name,
      aliases: nodeRefName === undefined ? [] : [nodeRefName],
      ...stateOf(machine, view),
    },
  ];
}

function stateOf(machine: Machine, view: ClusterView): Pick<HostView, 'phase' | 'tone' | 'problem' | 'note'> {
  const none = { problem: undefined, note: undefined };
  const { deletionTimestamp } = machine.metadata;
  const { phase = 'Pending' } = machine.status ?? {};
  if (deletionTimestamp !== undefined) return { ...none, phase: 'Deleting', tone: 'busy' };
  if (phase === 'Failed') return { ...none, phase, tone: 'bad', problem: failedMachine(machine) };
  if (phase === 'Running') return { ...none, phase, tone: 'bad', problem: unmanagedMachine(machine, view) };
  return { ...none, phase, tone: 'busy', note: 'waiting for the cloud provider' };
}

function failedMachine({ metadata, status = {} }: Machine): HostProblem {
  const { name = '' } = metadata;
  const why = [status['errorReason'], status['errorMessage']].filter(text => typeof text === 'string' && text !== '');
  return {
    code: 'MachineFailed',
    message: [`Machine ${name} has failed`, ...why].join(': '),
    remedy: `Run \`kubectl describe machine ${name} -n ${namespaceName.machineApi}\`.`,
  };
}

/** Advises to delete a Machine only if everything that could speak against it was read. */
function unmanagedMachine({ metadata, status }: Machine, view: ClusterView): HostProblem {
  const { name = '' } = metadata;
  const nodeName = status?.nodeRef?.name;
  const problem = (message: string, remedy: string) => ({ code: 'MachineWithoutInstance', message, remedy });
  if (!view.isOperatorRunning) {
    const message = `Machine ${name} is Running and has no WindowsInstance, and no operator is running`;
    return problem(message, `Start the operator in namespace ${view.namespace}.`);
  }
  if (view.unread.includes('nodes')) {
    const message = `Machine ${name} is Running and has no WindowsInstance; whether its Node exists is not known`;
    return problem(message, 'Request permission to list Nodes and run the command again.');
  }
  if (nodeName === undefined || nodeNamed(view.nodes, nodeName) !== undefined) {
    const message = `Machine ${name} is Running, but the operator has not created its WindowsInstance`;
    return problem(
      message,
      `Run \`kubectl get events -n ${namespaceName.machineApi}\` and check the log of the operator.`,
    );
  }
  return {
    code: 'MachineWithoutNode',
    message: `Machine ${name} is Running, but its Node ${nodeName} is gone; the operator does not manage it`,
    remedy: isReplaced(metadata, view)
      ? `Run \`kubectl delete machine ${name} -n ${namespaceName.machineApi}\`; its MachineSet replaces it.`
      : 'No MachineSet replaces this Machine. Find out who deleted the Node (audit log of the API server) before you replace it.',
  };
}

/** A Machine without a MachineSet would be lost. */
function isReplaced({ ownerReferences = [] }: Machine['metadata'], { machineSets }: ClusterView): boolean {
  return ownerReferences.some(
    ({ kind, uid }) => kind === 'MachineSet' && machineSets.some(({ metadata }) => metadata.uid === uid),
  );
}
