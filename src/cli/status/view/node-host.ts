import { normalHostName } from '#base/dns-name.ts';
import { attempt } from '#base/errors.ts';
import { isIpv4 } from '#base/ipv4.ts';
import { configMapName, machineLabel, operatorAnnotations } from '#contract/names.ts';
import { type NodeView, usableAddress } from '#contract/node.ts';
import { type ClusterView, emptyHost, type HostProblem, type HostView } from './host-view.ts';

/** Windows Nodes that are not the recorded Node of an instance or Machine. */
export function hostsOfNodes(view: ClusterView, described: readonly HostView[]): HostView[] {
  const bound = new Set(described.flatMap(({ node }) => (node === undefined ? [] : [node.name])));
  const others = view.nodes.filter(({ name }) => !bound.has(name));
  // Most clusters have none, and the rows are computed several times a second.
  if (others.length === 0) return [];
  const related = relations(view, described);
  const isRemovable = isEvidenceComplete(view, described);
  return others.map(node => {
    const relation = [node.name, ...node.addresses.map(({ address }) => address)]
      .map(name => related.get(normalHostName(name)))
      .find(found => found !== undefined);
    return { ...rowOf(node), ...stateOf(node, relation, { view, isRemovable }) };
  });
}

/** Everything that could describe the host of a Node was read, and every known host has another Node. */
function isEvidenceComplete({ isOperatorRunning, unread }: ClusterView, described: readonly HostView[]): boolean {
  const isRead = !unread.includes('entries') && !unread.includes('machines');
  return isOperatorRunning && isRead && described.every(({ node }) => node !== undefined);
}

/** Names and addresses that belong to a known host, and how to name that host. They are no evidence, only a reason not to advise removal. */
function relations({ machines }: ClusterView, described: readonly HostView[]): ReadonlyMap<string, string> {
  const ofHosts = described.flatMap(({ name, address, aliases }) =>
    [name, address, ...aliases].map((each): [string, string] => [normalHostName(each), `host ${name}`]),
  );
  const ofIgnored = machines
    .filter(({ metadata }) => metadata.labels?.[machineLabel.ignore] === 'true')
    .flatMap(({ metadata, status }) =>
      [status?.nodeRef?.name ?? '', ...(status?.addresses ?? []).map(({ address }) => address)].map(
        (each): [string, string] => [normalHostName(each), `Machine ${metadata.name}, which the operator ignores`],
      ),
    );
  return new Map([...ofIgnored, ...ofHosts].filter(([name]) => name !== ''));
}

function rowOf(node: NodeView): Omit<HostView, 'phase' | 'tone'> {
  const address = attempt(() => usableAddress(node.addresses));
  const { name } = node;
  return {
    ...emptyHost,
    name,
    address: address.ok ? address.value : '',
    source: { kind: 'Node', name },
    node,
    nodeName: name,
    aliases: node.addresses.map(({ address: each }) => each),
  };
}

function stateOf(
  node: NodeView,
  relation: string | undefined,
  { view, isRemovable }: { view: ClusterView; isRemovable: boolean },
): Pick<HostView, 'phase' | 'tone' | 'note' | 'problem'> {
  const phase = 'Unmanaged';
  const ready = node.ready ? 'Ready' : 'not Ready';
  const removed = view.removedHosts.find(note => note.node === node.name);
  if (removed !== undefined) {
    const problem = returnedNode(node.name, removed.removed, view.namespace);
    return { phase: 'RemovedByForce', tone: 'bad', note: ready, problem };
  }
  if (relation !== undefined) {
    return { phase, tone: 'idle', note: `${ready}; has a name or an address of ${relation}`, problem: undefined };
  }
  if (!operatorAnnotations.some(annotation => Object.hasOwn(node.annotations, annotation))) {
    return { phase, tone: 'idle', note: `${ready}; this operator did not configure it`, problem: undefined };
  }
  return { phase, tone: 'bad', note: ready, problem: abandonedNode(node, view.namespace, isRemovable) };
}

function abandonedNode(node: NodeView, namespace: string, isRemovable: boolean): HostProblem {
  const { name, ready } = node;
  const message =
    `Node ${name} (${ready ? 'Ready' : 'not Ready'}) was configured by this operator, ` +
    'but no entry, Machine or WindowsInstance describes its host';
  const address = attempt(() => usableAddress(node.addresses));
  const key = address.ok && isIpv4(address.value) ? address.value : 'ADDRESS';
  const restore =
    `To keep it, add the entry \`${key}: username=NAME\` to ConfigMap ${configMapName.instances} ` +
    `in namespace ${namespace} again`;
  const remove = `to remove it, run \`wmco remove ${name} --username NAME\``;
  return {
    code: 'NodeUnmanaged',
    message,
    remedy: isRemovable ? `${restore}; ${remove}.` : `${restore}.`,
  };
}

function returnedNode(name: string, removed: string, namespace: string): HostProblem {
  return {
    code: 'NodeRemovedByForce',
    message: `Node ${name} registered again after its host was removed by force on ${removed.slice(0, 10)}`,
    remedy:
      `To clean its host, run \`wmco remove ${name} --username NAME\`; to use the host again, add its entry to ` +
      `ConfigMap ${configMapName.instances} in namespace ${namespace}; to keep the Node as it is, run ` +
      `\`wmco remove --forget ${name}\`.`,
  };
}
