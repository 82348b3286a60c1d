import { hnsNetwork, vipEndpoint } from '#contract/names.ts';
import { dir } from '#contract/paths.ts';
import type { HostFiles, HostNetwork } from '../ports.ts';
import { checkCleanedUp, type CleanedUpPorts } from './cleaned-up.ts';
import { Remover } from './remover.ts';

export interface NetworkPorts extends CleanedUpPorts {
  files: HostFiles;
  network: HostNetwork;
}

export interface NetworkRemoval {
  /** Names of networks and endpoints, in order of their removal. */
  removed: string[];
  /** Files of the CNI plugins that could not be removed, each with its reason. */
  left: string[];
}

/** The overlay first, because it uses the adapter of the other. */
const networkNames = [hnsNetwork.overlay, hnsNetwork.base];

/** Removes the networks of the hybrid overlay with their endpoints, and the addresses that CNI has allocated in them. */
export async function removeNetworks(ports: NetworkPorts, signal: AbortSignal): Promise<NetworkRemoval> {
  const { network, files } = ports;
  await checkCleanedUp(ports);
  const networks = await network.networks();
  const own = networkNames.flatMap(name => networks.filter(each => each.name === name));
  const ids = new Set(own.map(({ id }) => id));
  const removed: string[] = [];
  for (const { id, name, networkId } of await network.endpoints()) {
    // kube-proxy's endpoint has lost its network when another program has removed that.
    if (!ids.has(networkId) && !(name === vipEndpoint && isLost(networkId, networks))) continue;
    signal.throwIfAborted();
    await network.removeEndpoint(id);
    removed.push(name);
  }
  for (const { id, name } of own) {
    signal.throwIfAborted();
    await network.removeNetwork(id);
    removed.push(name);
  }
  const remover = new Remover(files, signal);
  await remover.content(dir.cniState);
  return { removed, left: remover.left };
}

function isLost(networkId: string, networks: readonly { id: string }[]): boolean {
  return !networks.some(({ id }) => id === networkId);
}
