import { timestamp } from '#base/clock.ts';
import { patchStatus } from '#cluster/patch-instance.ts';
import { boundNode, type WindowsInstance } from '#cluster/windows-instance-resource.ts';
import type { Client } from '#kube/client.ts';
import { type IssuedIdentity, isNewEnd } from '../certificate-ends.ts';

type StatusClient = Pick<Client, 'get' | 'patch'>;

/**
 * Records that a kubelet certificate for this name is about to be approved, so that the host can never get one for another name: the
 * cluster itself renews kubelet certificates. False when the record has another name by now.
 */
export async function recordCertifiedName(
  instance: WindowsInstance,
  name: string,
  client: StatusClient,
  signal: AbortSignal,
): Promise<boolean> {
  const change = (current: WindowsInstance) =>
    boundNode(current) === name ? { ...current.status, certifiedName: name } : undefined;
  const written = await patchStatus(instance, change, { client, signal });
  return written !== undefined && boundNode(written) === name;
}

/** Records when the certificate of an agent expires; without a renewal by then it has to be reconnected. */
export async function recordEnd(
  instance: WindowsInstance,
  issued: IssuedIdentity,
  client: StatusClient,
  signal: AbortSignal,
): Promise<void> {
  const change = ({ status }: WindowsInstance) => {
    const known = status?.[issued.member];
    if (known === undefined || !isNewEnd(known, issued)) return undefined;
    return { ...status, [issued.member]: { ...known, certificateEnds: timestamp(issued.endsMs) } };
  };
  await patchStatus(instance, change, { client, signal });
}
