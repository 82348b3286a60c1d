import { configMapName, nodeAnnotation } from '#contract/names.ts';
import { type NodeView, usableAddress } from '#contract/node.ts';
import { attempt } from '#base/errors.ts';
import { type ClusterView, emptyHost, type HostProblem, type HostView } from './host-view.ts';

/** Windows Nodes that no instance, entry or Machine describes. */
export function hostsOfNodes(view: ClusterView, described: readonly HostView[]): HostView[] {
  const known = new Set(described.flatMap(({ node }) => (node === undefined ? [] : [node.name])));
  return view.nodes.filter(({ name }) => !known.has(name)).map(node => hostOfNode(node, view));
}

function hostOfNode(node: NodeView, view: ClusterView): HostView {
  const address = attempt(() => usableAddress(node.addresses));
  const { name } = node;
  const wasConfigured = operatorAnnotations.some(annotation => Object.hasOwn(node.annotations, annotation));
  return {
    ...emptyHost,
    name,
    address: address.ok ? address.value : '',
    source: { kind: 'Node', name },
    phase: 'Unmanaged',
    tone: wasConfigured ? 'bad' : 'idle',
    node,
    nodeName: name,
    aliases: node.addresses.map(({ address: each }) => each),
    ...(wasConfigured
      ? { problem: abandonedNode(name, view) }
      : { note: `${readyText(node)}; this operator did not configure it` }),
  };
}

const operatorAnnotations = [nodeAnnotation.version, nodeAnnotation.desiredVersion, nodeAnnotation.pubKeyHash];

function readyText({ ready }: NodeView): string {
  return ready ? 'Ready' : 'not Ready';
}

/** Advises to delete a Node only if everything that could describe its host was read. */
function abandonedNode(name: string, { unread, namespace }: ClusterView): HostProblem {
  const message = `Node ${name} was configured by this operator, but no entry, Machine or WindowsInstance describes its host`;
  const restore = `To keep it, add its host to ConfigMap ${configMapName.instances} in namespace ${namespace} again`;
  const isComplete = !unread.includes('entries') && !unread.includes('machines');
  const remove =
    `to remove it, run \`kubectl drain ${name} --ignore-daemonsets --delete-emptydir-data\` and ` +
    `\`kubectl delete node ${name}\``;
  return { code: 'NodeUnmanaged', message, remedy: isComplete ? `${restore}; ${remove}.` : `${restore}.` };
}
