import { AppError, attempt } from '#base/errors.ts';
import type { InstanceObject } from '#cluster/windows-instances.ts';
import { configMapName, managedByLabel } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { marksPatch } from '#contract/node-marks.ts';
import type { HostKey } from '#host/host-key.ts';
import { parseAuthorizedKey } from '#host/keys/public-key.ts';
import { isAlreadyExists, isNotFound } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { configMaps, nodes } from '#kube/resources.ts';
import type { HostKeyStore } from '#node/lifecycle/world.ts';
import { findPinnedKey, forgetKey, type HostKeyChanges, rememberKey } from './decide.ts';

export interface HostKeyStoreParts {
  client: Pick<Client, 'get' | 'patch' | 'create'>;
  /** Of the operator. */
  namespace: string;
}

/** Host keys where the contract has them: given by the administrator, on the Node, or under the address in a ConfigMap. */
export function createHostKeyStore({ client, namespace }: HostKeyStoreParts): HostKeyStore {
  const name = configMapName.hostKeys;
  return { find, remember, forget };

  async function find(instance: InstanceObject, node: NodeView | undefined, signal: AbortSignal) {
    const given = suppliedKey(instance);
    if (given !== undefined) return given;
    // Asked of the server itself: a key that was stored a moment ago counts.
    return findPinnedKey({ node, address: instance.spec.address, entries: await entries(signal) });
  }

  async function remember(
    { spec }: InstanceObject,
    node: NodeView | undefined,
    key: HostKey,
    signal: AbortSignal,
  ): Promise<void> {
    await store(rememberKey({ node, address: spec.address, entries: await entries(signal) }, key), node, signal);
  }

  async function forget({ spec }: InstanceObject, signal: AbortSignal): Promise<void> {
    await store(forgetKey(spec.address, await entries(signal)), undefined, signal);
  }

  async function entries(signal: AbortSignal): Promise<Record<string, string>> {
    try {
      return (await client.get(configMaps, name, { namespace, signal })).data ?? {};
    } catch (error) {
      if (isNotFound(error)) return {};
      throw error;
    }
  }

  async function store(changes: HostKeyChanges, node: NodeView | undefined, signal: AbortSignal): Promise<void> {
    const { annotations, entries: data } = changes;
    if (node !== undefined && Object.keys(annotations).length > 0) {
      await client.patch(nodes, node.name, { type: 'merge', body: marksPatch({ annotations }) }, { signal });
    }
    if (Object.keys(data).length > 0) await patchEntries(data, signal);
  }

  async function patchEntries(data: HostKeyChanges['entries'], signal: AbortSignal): Promise<void> {
    const patch = () => client.patch(configMaps, name, { type: 'merge', body: { data } }, { namespace, signal });
    try {
      await patch();
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await create(data, signal).catch((failure: unknown) => {
        // Another host was the first, at the same moment.
        if (isAlreadyExists(failure)) return patch();
        throw failure;
      });
    }
  }

  async function create(data: HostKeyChanges['entries'], signal: AbortSignal): Promise<void> {
    const kept = Object.entries(data).filter((entry): entry is [string, string] => entry[1] !== null);
    const labels = { [managedByLabel.key]: managedByLabel.value };
    const metadata = { name, namespace, labels };
    await client.create(configMaps, { metadata, data: Object.fromEntries(kept) }, { namespace, signal });
  }
}

function suppliedKey({ metadata, spec }: InstanceObject): HostKey | undefined {
  const text = spec.hostKey?.trim() ?? '';
  if (text === '') return undefined;
  const read = attempt(() => parseAuthorizedKey(text));
  if (read.ok) return read.value;
  throw new AppError('HOST_KEY_UNREADABLE', `WindowsInstance ${metadata.name}: spec.hostKey: ${read.error.message}`, {
    remedy: 'Give `<type> <base64>` as `ssh-keyscan` prints it behind the name of the host.',
  });
}
