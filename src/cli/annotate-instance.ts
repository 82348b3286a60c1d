import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import type { Client } from '#kube/client.ts';

export interface AnnotateDeps {
  client: Pick<Client, 'patch'>;
  namespace: string;
  signal: AbortSignal;
}

/** Sets annotations, or deletes those that are null, and returns what was changed. */
export async function annotateInstance(
  { metadata }: WindowsInstance,
  annotations: Readonly<Record<string, string | null>>,
  { client, namespace, signal }: AnnotateDeps,
): Promise<string> {
  const { name = '', uid } = metadata;
  // With its UID, so that an instance that was created again is not changed.
  const body = { metadata: { annotations, ...(uid !== undefined && { uid }) } };
  await client.patch(windowsInstances, name, { type: 'merge', body }, { namespace, signal });
  const isDeletion = Object.values(annotations).every(value => value === null);
  const names = Object.keys(annotations).join(' and ');
  return isDeletion ? `Deleted ${names} from WindowsInstance ${name}.` : `Set ${names} on WindowsInstance ${name}.`;
}
