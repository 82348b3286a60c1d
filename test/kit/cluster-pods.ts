import { setTimeout as delay } from 'node:timers/promises';
import { isAlreadyExists } from '#kube/api-error.ts';
import type { Client } from '#kube/client.ts';
import type { Metadata } from '#kube/resource.ts';
import { namespaces, type Pod, pods, serviceAccounts } from '#kube/resources.ts';

/** A namespace with the service account that pods need, also without a controller manager. */
export async function makeNamespace(client: Client, name: string): Promise<void> {
  await client.create(namespaces, { metadata: { name } });
  try {
    await client.create(serviceAccounts, { metadata: { name: 'default', namespace: name } });
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}

/** A pod without a kubelet; the test writes its status. */
export async function makePod(client: Client, metadata: Metadata, spec: Pod['spec'] = {}): Promise<Pod> {
  const withoutToken = { automountServiceAccountToken: false };
  const containers = [{ name: 'main', image: 'none' }];
  const pod: Pod = { metadata, spec: { containers, ...withoutToken, terminationGracePeriodSeconds: 0, ...spec } };
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await client.create(pods, pod);
    } catch (error) {
      // The server learns of a new service account a moment later.
      if (attempt === 50 || !/service ?account/i.test(String(error))) throw error;
      await delay(100);
    }
  }
}

export async function setPodStatus(
  client: Client,
  { metadata }: Pod,
  status: NonNullable<Pod['status']>,
): Promise<void> {
  const { name = '', namespace = '' } = metadata;
  await client.patch(pods, name, { type: 'merge', body: { status } }, { namespace, subresource: 'status' });
}

export const running: NonNullable<Pod['status']> = {
  phase: 'Running',
  conditions: [{ type: 'Ready', status: 'True' }],
};
