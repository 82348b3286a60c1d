import { boundNode, type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { isNotFound, unless } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import { changeObject } from '#kube/patch/patch-helper.ts';
import { keyOf } from '#kube/resource.ts';

/**
 * Records that a kubelet certificate for this name is about to be approved, so that the host can never get one for another name:
 * the cluster itself renews kubelet certificates. False when the record has another name by now.
 */
export async function fixNodeName(
  instance: WindowsInstance,
  name: string,
  client: Pick<Client, 'get' | 'patch'>,
  signal: AbortSignal,
): Promise<boolean> {
  const isOurs = (current: WindowsInstance) =>
    current.metadata.uid === instance.metadata.uid && boundNode(current) === name;
  const change = (current: WindowsInstance): WindowsInstance =>
    isOurs(current) ? { ...current, status: { ...current.status, certifiedName: name } } : current;
  const task = { key: keyOf(instance), change };
  const written = await changeObject(client, windowsInstances, task, { signal, attempts: 10 }).catch(
    unless(isNotFound),
  );
  return written !== undefined && isOurs(written.after);
}
