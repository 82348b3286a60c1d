import type { Client } from '#kube/client.ts';
import { type Node, nodes } from '#kube/resources.ts';
import type { Program } from '../host/process.ts';
import { flagValue } from './command-line.ts';
import { connectFrom } from './connect.ts';
import type { ProgramHost } from './program-host.ts';

const pollMs = 1000;
const uninitialized = 'node.cloudprovider.kubernetes.io/uninitialized';

/** azure-cloud-node-manager.exe: initializes its Node, using only the kubeconfig that it is given. */
export function cloudNodeManagerProgram(words: readonly string[], host: ProgramHost): Program {
  return async life => {
    const log = host.log.with({ program: 'cloud-node-manager' });
    const [name, kubeconfig] = [flagValue(words, 'node-name'), flagValue(words, 'kubeconfig')];
    life.ready();
    let client: Client | undefined;
    try {
      while (!life.signal.aborted) {
        try {
          client ??= await connectFrom(host, kubeconfig, 'cloud-node-manager');
          await initialize(await client.get(nodes, name, { signal: life.signal }), client, life.signal);
        } catch (error) {
          if (!life.signal.aborted) log.error('Failed to update node', { error });
        }
        await host.clock.sleep(pollMs, life.signal).catch(() => undefined);
      }
      return 0;
    } finally {
      await client?.close();
    }
  };
}

/** Sends the resourceVersion so that taints of others are not lost. */
async function initialize({ metadata, spec, status }: Node, client: Client, signal: AbortSignal): Promise<void> {
  const { name = '', resourceVersion } = metadata;
  const taints = spec?.taints ?? [];
  if (!taints.some(({ key }) => key === uninitialized)) return;
  const labels = { 'topology.kubernetes.io/zone': 'sandbox-1', 'node.kubernetes.io/instance-type': 'Standard_D4s_v5' };
  const body = {
    metadata: { labels, resourceVersion },
    spec: { providerID: `azure:///sandbox/${name}`, taints: taints.filter(({ key }) => key !== uninitialized) },
  };
  await client.patch(nodes, name, { type: 'merge', body }, { signal });
  const addresses = { status: { addresses: status?.addresses ?? [] } };
  await client.patch(nodes, name, { type: 'merge', body: addresses }, { subresource: 'status', signal });
}
