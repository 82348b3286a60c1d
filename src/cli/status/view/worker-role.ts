import { isRecord } from '#base/fields.ts';
import { namespaceName, nodeLabel } from '#contract/names.ts';
import type { Machine, MachineSet } from '#kube/resources-openshift.ts';
import type { ClusterView, HostProblem, HostView } from './host-view.ts';

/** Adds advice to a host whose Node lacks the worker role: for Machines the MachineSet decides about it. */
export function withWorkerRole(host: HostView, view: ClusterView): HostView {
  const { node, tone, problem } = host;
  if (node === undefined || tone !== 'good' || problem !== undefined) return host;
  if (Object.hasOwn(node.labels, nodeLabel.worker)) return host;
  const advice = roleProblem(node.name, machineOf(host, view), view);
  return { ...host, note: host.note ?? 'no worker role', problem: advice };
}

function machineOf({ source, nodeName }: HostView, { machines }: ClusterView): Machine | undefined {
  return machines.find(({ metadata, status }) =>
    source.kind === 'Machine' ? metadata.name === source.name : status?.nodeRef?.name === nodeName,
  );
}

function roleProblem(node: string, machine: Machine | undefined, view: ClusterView): HostProblem {
  const set = view.machineSets.find(
    ({ metadata }) => metadata.name !== undefined && metadata.name === setName(machine),
  );
  const label = `Run \`kubectl label node ${node} ${nodeLabel.worker}=\``;
  if (set === undefined || hasLabel(set)) {
    const message = `Node ${node} has no worker role: its label ${nodeLabel.worker} is missing`;
    return { code: 'WorkerRoleMissing', message, remedy: `${label}.` };
  }
  const { name = '' } = set.metadata;
  const patch = JSON.stringify({
    spec: { template: { spec: { metadata: { labels: { [nodeLabel.worker]: '' } } } } },
  });
  return {
    code: 'WorkerRoleMissing',
    message:
      `Node ${node} has no worker role: MachineSet ${name} lacks the label ${nodeLabel.worker} ` +
      'in spec.template.spec.metadata.labels',
    remedy:
      `${label}, and for new Machines ` +
      `\`kubectl patch machineset ${name} -n ${namespaceName.machineApi} --type merge -p '${patch}'\`.`,
  };
}

function setName(machine: Machine | undefined): string | undefined {
  return machine?.metadata.ownerReferences?.find(({ kind }) => kind === 'MachineSet')?.name;
}

/** The type of a MachineSet leaves its template open. */
function hasLabel({ spec }: MachineSet): boolean {
  const labels = ['template', 'spec', 'metadata', 'labels'].reduce<unknown>(
    (value, member) => (isRecord(value) ? value[member] : undefined),
    spec,
  );
  return isRecord(labels) && Object.hasOwn(labels, nodeLabel.worker);
}
