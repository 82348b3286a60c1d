import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { configMapName } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import type { Client } from '#kube/client.ts';
import { configMaps } from '#kube/resources.ts';
import type { HostKeyStore } from '../lifecycle/deps.ts';
import { findPinnedKey, forgetKey, knownKey } from './host-key-annotation.ts';

export interface HostKeyStoreParts {
  client: Pick<Client, 'find' | 'patch'>;
  /** Of the operator. */
  namespace: string;
}

/** Finds host keys in this order: spec, record, where earlier operators stored them. */
export function createHostKeyStore({ client, namespace }: HostKeyStoreParts): HostKeyStore {
  const name = configMapName.hostKeys;
  return { find, forget };

  async function find(instance: WindowsInstance, node: NodeView | undefined, signal: AbortSignal) {
    const known = knownKey(instance);
    if (known !== undefined) return known;
    return findPinnedKey({ node, address: instance.spec.address, entries: await entries(signal) });
  }

  async function forget({ spec }: WindowsInstance, signal: AbortSignal): Promise<void> {
    const data = forgetKey(spec.address, await entries(signal));
    if (Object.keys(data).length === 0) return;
    await client.patch(configMaps, name, { type: 'merge', body: { data } }, { namespace, signal });
  }

  async function entries(signal: AbortSignal): Promise<Record<string, string>> {
    return (await client.find(configMaps, name, { namespace, signal }))?.data ?? {};
  }
}
