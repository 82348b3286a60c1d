import { toBase64 } from '#base/bytes.ts';
import { windowsInstances } from '#cluster/windows-instances.ts';
import { agentServiceAccountUser, nodeLabel } from '#contract/names.ts';
import { credentialIdKey, tokenIdsAnnotation } from '#contract/token-id.ts';
import type { WindowsInstanceSpec, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { csrController } from '#controllers/csr/controller.ts';
import type { HostConnection } from '#host/host.ts';
import { certificateSigningRequests, type Node } from '#kube/resources.ts';
import { HeardNames } from '#node/lifecycle/heard-names.ts';
import { agent, type Change, viewOf } from './csr-facts.ts';
import { benchNamespace as namespace, type SourceBench, sourceBench } from './source-bench.ts';

/** What hosts say over SSH, by address; a host that is not there does not answer, one that is `dead` never does. */
type Hosts = Map<string, string>;

export interface CsrBench extends SourceBench {
  hosts: Hosts;
  /** What journeys hear from hosts. */
  heardNames: HeardNames;
  /** Addresses that were connected to, in order. */
  asked: string[];
}

/** The controller of requests at work, with hosts that answer by SSH. */
export async function csrBench(hosts: Record<string, string> = {}): Promise<CsrBench> {
  const bench = sourceBench();
  const asked: string[] = [];
  const answers: Hosts = new Map(Object.entries(hosts));
  const heardNames = new HeardNames();
  const controller = csrController({
    ...bench.parts,
    heardNames,
    hostKeys: { find: async () => ({ type: 'ssh-ed25519', blob: new Uint8Array([1]) }) },
    material: { keysFor: async () => [] },
    connect: ({ address }, { signal } = {}) => {
      asked.push(address);
      const fqdn = answers.get(address);
      if (fqdn === undefined) return Promise.reject(new Error('refused'));
      if (fqdn === 'dead')
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      const os = { product: 'p', build: 'b', installationType: 'i' };
      const time = '2026-03-01T12:00:00Z';
      const told = { agentVersion: 'v', hostName: '', fqdn, os, bootId: '1', containersFeature: 'enabled', time };
      const exec = async () => ({ exitCode: 0, stdout: JSON.stringify(told), stderr: '' });
      return Promise.resolve({ exec, [Symbol.asyncDispose]: async () => undefined } as unknown as HostConnection);
    },
  });
  await bench.start(controller);
  return Object.assign(bench, { hosts: answers, asked, heardNames });
}

export const node = (nodeName: string, ip: string, os = 'windows'): Node => ({
  metadata: { name: nodeName, labels: { [nodeLabel.os]: os } },
  status: {
    addresses: [
      { type: 'Hostname', address: nodeName },
      { type: 'InternalIP', address: ip },
    ],
  },
});
export const lists = (
  bench: SourceBench,
  address: string,
  spec: Partial<WindowsInstanceSpec> = {},
  status?: WindowsInstanceStatus,
) =>
  bench.put(windowsInstances, {
    metadata: { name: address, namespace },
    spec: { address, username: 'core', ...spec },
    ...(status && { status }),
  });
/** A host that was given tokens. */
export const holds = (bench: SourceBench, address: string, tokenIds: string, spec: Partial<WindowsInstanceSpec> = {}) =>
  bench.put(windowsInstances, {
    metadata: { name: address, namespace, annotations: { [tokenIdsAnnotation]: tokenIds } },
    spec: { address, username: 'core', ...spec },
  });
export async function asks(bench: SourceBench, change: Change, csrName = 'csr-1'): Promise<void> {
  const { requestText, conditions, credentialId, ...spec } = viewOf(change);
  const extra = credentialId === undefined ? {} : { extra: { [credentialIdKey]: [credentialId] } };
  await bench.put(certificateSigningRequests, {
    metadata: { name: csrName },
    spec: { ...spec, ...extra, request: toBase64(requestText) },
    status: { conditions: conditions.map(type => ({ type, status: 'True' })) },
  });
}
export const stateOf = (bench: SourceBench, csrName = 'csr-1'): string => {
  const conditions = bench.api.peek(certificateSigningRequests, csrName)?.status?.conditions ?? [];
  return conditions.map(({ type, reason }) => [type, reason].filter(Boolean).join(' ')).join(', ') || 'pending';
};
export const agentHere: Change = { ...agent, username: agentServiceAccountUser(namespace) };
