import { boundNode } from '#cluster/windows-instance-resource.ts';
import { machineLabel, namespaceName, nodeAnnotation, secretName } from '#contract/names.ts';
import { nameOf } from '../install/kinds.ts';
import { countText } from '../status/view/amounts.ts';
import type { ClusterView } from '../status/view/host-view.ts';
import type { OwnObject } from './own-objects.ts';

/** Nodes that an operator has configured. */
export function configuredNodes({ nodes, instances }: Pick<ClusterView, 'nodes' | 'instances'>): string[] {
  const bound = new Set(instances.map(boundNode));
  return nodes
    .filter(({ name, annotations }) => bound.has(name) || Object.hasOwn(annotations, nodeAnnotation.version))
    .map(({ name }) => name)
    .sort();
}

/** Windows Machines that the operator looks after. */
export function windowsMachines({ machines }: Pick<ClusterView, 'machines'>): string[] {
  return machines
    .filter(({ metadata }) => metadata.labels?.[machineLabel.ignore] !== 'true')
    .map(({ metadata }) => metadata.name ?? '')
    .sort();
}

/** Without the many objects that end with their Nodes anyway. */
export function deletionLines(objects: readonly OwnObject[]): string[] {
  const isOfNode = ({ object }: OwnObject) => object.metadata.ownerReferences?.some(({ kind }) => kind === 'Node');
  const ofNodes = objects.filter(isOfNode).length;
  return [
    ...objects.filter(each => !isOfNode(each)).map(({ object }) => `  ${nameOf(object)}`),
    ...(ofNodes === 0
      ? []
      : [`  ${countText(ofNodes, 'object')} of Windows nodes: permissions and reports of their agents`]),
  ];
}

/** What an administrator must know who keeps the nodes. */
export function keptLines(view: ClusterView, namespace: string): string[] {
  const nodes = configuredNodes(view);
  const machines = windowsMachines(view);
  return [
    ...(nodes.length === 0
      ? ['No Windows node is configured.']
      : [
          `${countText(nodes.length, 'Windows node')} ${nodes.length === 1 ? 'stays' : 'stay'} in service: ${nodes.join(', ')}. To remove hosts, too, use --remove-nodes.`,
          'Pods, services and agents on them keep running. Nobody approves certificates: agents stop reporting within 24 hours, and',
          'logs, exec and metrics of a node fail when the serving certificate of its kubelet ends. There are no upgrades, reboots,',
          'repairs and changes of settings, and no host joins or leaves.',
        ]),
    ...(machines.length === 0
      ? []
      : [
          `${countText(machines.length, 'Machine')} ${machines.length === 1 ? 'stays' : 'stay'}: ${machines.join(', ')}. Their MachineSets still create Machines, which do not become nodes.`,
        ]),
    `Kept: Namespace ${namespace} with WindowsInstances, ConfigMaps and Secrets, among them ${secretName.privateKey}; the`,
    'CustomResourceDefinition; permissions and limits of agents; monitoring. A new installation continues with them.',
  ];
}

/** What an administrator must know who removes the nodes. */
export function removalLines(view: ClusterView, hosts: readonly string[]): string[] {
  const forced = view.removedHosts;
  return [
    hosts.length === 0
      ? 'There is no Windows host to remove.'
      : `First ${countText(hosts.length, 'host')} ${hosts.length === 1 ? 'is' : 'are'} removed: drained, cleaned and deleted as Nodes, within the disruption budget: ${hosts.join(', ')}.`,
    ...(forced.length === 0
      ? []
      : [
          `Not cleaned, because removed by force: ${forced.map(({ node }) => node).join(', ')}. Nobody keeps them out of the cluster any more.`,
        ]),
    `Secret ${secretName.privateKey} is deleted: keep a copy of the key if nothing else has one.`,
  ];
}

/** How to delete the Machines, which the Machine API does. */
export function machineCommands({ machines }: Pick<ClusterView, 'machines'>): string[] {
  const owners = machines.map(({ metadata }) => metadata.ownerReferences?.find(({ kind }) => kind === 'MachineSet'));
  const sets = [...new Set(owners.flatMap(owner => owner?.name ?? []))].sort();
  const single = machines.filter((_, index) => owners[index] === undefined).map(({ metadata }) => metadata.name ?? '');
  const place = `-n ${namespaceName.machineApi}`;
  return [
    ...sets.map(name => `kubectl delete machineset ${name} ${place}`),
    ...single.map(name => `kubectl delete machine ${name} ${place}`),
  ];
}
