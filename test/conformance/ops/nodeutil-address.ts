import { findNodeName } from '../../../src/agent/node-name.ts';
import { boundNode, type WindowsInstance } from '../../../src/cluster/windows-instance-resource.ts';
import { machineLabel, managedDescription } from '../../../src/contract/names.ts';
import { findNodeByAddress, usableAddress } from '../../../src/contract/node.ts';
import { readObject } from '../../../src/contract/object.ts';
import { isSameHost } from '../../../src/controllers/instances/decide.ts';
import { recordedHost } from '../../../src/controllers/instances/observe.ts';
import { machineAccepted, readMachine } from '../../../src/controllers/machines/decide.ts';
import { ModelHost } from '../../kit/model-host.ts';
import type { Input, Operation } from '../row.ts';

export const ops: Record<string, Operation> = {
  findNodeByAddress: (input: Input) => ({
    nodeName: findNodeByAddress(input.address, nodesOf(input))?.name ?? null,
  }),
  usableAddress: (input: Input) => ({ value: usableAddress(input.addresses ?? []) }),
  machineAccepted: (input: Input) => ({ value: machineAccepted(readMachine(readObject(machineObject(input)))) }),
  nodeHasInstance: (input: Input) => ({
    value: (input.instances as Input[]).some(({ address, ipv4 }) =>
      isSameHost(recordedHost(instanceOf({ record: input.record })), {
        address,
        ipv4: ipv4 || undefined,
        node: undefined,
      }),
    ),
  }),
  nodeName: async (input: Input) => {
    const host = new ModelHost();
    host.state.hostName = input.computerName;
    host.hostValues = input.hostValues ?? {};
    if (input.kubelet !== undefined) {
      host.services.install('kubelet', { command: input.kubelet, description: managedDescription('kubelet') });
    }
    return { nodeName: await findNodeName(host, input.source, new AbortController().signal) };
  },
  nodeOfInstance: ({ instance, nodes }: Input) => {
    const name = boundNode(instanceOf(instance));
    return { nodeName: (nodes as Input[]).find(node => node.name === name)?.name ?? null };
  },
};

function instanceOf({ address = '', record }: Input): WindowsInstance {
  return { metadata: { name: 'row' }, spec: { address }, ...(record && { status: { host: record } }) };
}

function nodesOf(input: Input): { name: string; addresses: [] }[] {
  return (input.nodes ?? []).map((node: Input) => ({ name: node.name, addresses: node.addresses ?? [] }));
}

/** The rows omit the label that selects Windows Machines. */
function machineObject(input: Input): unknown {
  return {
    apiVersion: 'machine.openshift.io/v1beta1',
    kind: input.kind ?? '(none)',
    metadata: { name: input.name ?? 'x', labels: { [machineLabel.osId]: 'Windows', ...input.labels } },
    status: { phase: input.phase, addresses: input.addresses },
  };
}
