import { windowsInstances } from '../../src/cluster/windows-instance-resource.ts';
import type { WindowsInstanceSpec, WindowsInstanceStatus } from '../../src/contract/windows-instance/resource.ts';
import type { Client } from '../../src/kube/client.ts';

export interface RecordedHost {
  /** Of the instance and of its Node. */
  name: string;
  address: string;
  /** Of the agent's key. */
  keyHash?: string;
  spec?: Partial<WindowsInstanceSpec>;
  status?: WindowsInstanceStatus;
}

/** A host as the operator records it after its join; paused, so that the operator does not connect to it. */
export async function recordHost(admin: Client, namespace: string, host: RecordedHost): Promise<void> {
  const { name, address, keyHash, spec, status } = host;
  const record: WindowsInstanceStatus = {
    node: name,
    host: { name, addresses: [address] },
    ...(keyHash !== undefined && { agent: { keyHash, installed: '2026-01-01T00:00:00Z' } }),
    ...status,
  };
  await admin.create(windowsInstances, {
    metadata: { name, namespace },
    spec: { address, username: 'Administrator', paused: true, ...spec },
  });
  const body = { status: record };
  await admin.patch(windowsInstances, name, { type: 'merge', body }, { namespace, subresource: 'status' });
}
