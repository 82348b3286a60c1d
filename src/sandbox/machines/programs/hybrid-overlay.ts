import { hnsNetwork, nodeAnnotation } from '#contract/names.ts';
import type { Client } from '#kube/client.ts';
import { nodes } from '#kube/resources.ts';
import type { Program, ProgramLife } from '../host/process.ts';
import type { HostState } from '../host/state.ts';
import { flagValue } from './command-line.ts';
import { connectFrom } from './connect.ts';
import { whenAborted } from '#base/waiting/deadline.ts';
import type { ProgramHost } from './program-host.ts';

const pollMs = 500;
const baseSubnet = '192.168.255.0/30';

/** hybrid-overlay-node.exe: creates the HNS networks when its Node has a subnet. */
export function hybridOverlayProgram(words: readonly string[], host: ProgramHost): Program {
  return async life => {
    const log = host.log.with({ program: 'hybrid-overlay-node' });
    const nodeName = flagValue(words, 'node');
    const kubeconfig = flagValue(words, 'bootstrap-kubeconfig');
    life.ready();
    try {
      const subnet = await findSubnet(nodeName, kubeconfig, host, life);
      await host.delays.sleep(host.times.overlayMs, life.signal);
      addNetworks(host.state, subnet);
      log.info('Created HNS networks', { subnet });
    } catch (error) {
      if (!life.signal.aborted) log.error('Failed to create HNS networks', { error });
      return life.signal.aborted ? 0 : 1;
    }
    await whenAborted(life.signal);
    return 0;
  };
}

async function findSubnet(
  nodeName: string,
  kubeconfig: string,
  host: ProgramHost,
  { signal }: ProgramLife,
): Promise<string> {
  const client = await connectFrom(host, kubeconfig, 'hybrid-overlay-node');
  try {
    for (;;) {
      const subnet = await subnetOf(nodeName, client, signal);
      if (subnet !== undefined) return subnet;
      await host.clock.sleep(pollMs, signal);
    }
  } finally {
    await client.close();
  }
}

async function subnetOf(nodeName: string, client: Client, signal: AbortSignal): Promise<string | undefined> {
  const node = await client.get(nodes, nodeName, { signal });
  return node.metadata.annotations?.[nodeAnnotation.hybridOverlaySubnet];
}

function addNetworks(state: HostState, subnet: string): void {
  const managementIp = state.adapters[0]?.addresses[0]?.split('/')[0] ?? '';
  for (const [name, prefix] of [
    [hnsNetwork.base, baseSubnet],
    [hnsNetwork.overlay, subnet],
  ] as const) {
    if (state.networks.some(network => network.name === name)) continue;
    state.networks.push({ id: `${state.id}-${name}`, name, subnets: [prefix], managementIp });
  }
}
