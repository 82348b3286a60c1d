import { resolveInstances, usernameForNode } from '../../../src/contract/instances.ts';
import type { NodeView } from '../../../src/contract/node.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  parseInstances: (input: Input) => {
    const { instances, failures } = resolveInstances(
      input.configMapData ?? {},
      input.dnsA ?? {},
      (input.nodes ?? []).map(toNode),
    );
    const [failure] = failures;
    // A row has one result for the whole ConfigMap; the product has one for each entry.
    if (failure !== undefined) throw failure.error;
    return {
      instances: instances.map(({ address, ipv4, username, node }) => ({
        address,
        ipv4,
        username,
        nodeName: node?.name ?? null,
      })),
    };
  },
  usernameForNode: (input: Input) => ({
    value: usernameForNode(input.configMapData ?? {}, input.node?.name, recordedNodes(input.records ?? {})),
  }),
};

function recordedNodes(records: Record<string, Input>): Record<string, string> {
  return Object.fromEntries(Object.entries(records).map(([address, { name }]) => [address, name]));
}

function toNode(node: Input): NodeView {
  return {
    name: node.name ?? '',
    uid: '',
    labels: node.labels ?? {},
    annotations: node.annotations ?? {},
    addresses: node.addresses ?? [],
    ready: true,
    unschedulable: false,
  };
}
