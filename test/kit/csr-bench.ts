import { toBase64 } from '#base/bytes.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { lifetimeLimit } from '#contract/certificate-lifetime.ts';
import { agentServiceAccountUser, nodeLabel } from '#contract/names.ts';
import { credentialIdKey } from '#contract/token-id.ts';
import type { WindowsInstanceSpec, WindowsInstanceStatus } from '#contract/windows-instance/resource.ts';
import { csrController } from '#controllers/csr/controller.ts';
import type { HostConnection } from '#host/host.ts';
import { certificateSigningRequests, type Node } from '#kube/resources.ts';
import { requestKeyHash } from './csr.ts';
import { agent, agentToken, type Change, kubeletToken, textOf, viewOf } from './csr-facts.ts';
import { type FixedFacts, fixedFacts } from './fixed-facts.ts';
import { benchNamespace as namespace, type SourceBench, sourceBench } from './source-bench.ts';

/** Host key that is pinned on the instances of the bench. */
export const pinnedKey = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f';

export interface CsrBench extends SourceBench {
  facts: FixedFacts;
  /** What agents print, by the address of the host; a host that is not there does not answer. */
  hosts: Map<string, string>;
  /** Addresses that were connected to, in order. */
  dialed: string[];
  startController(): Promise<void>;
}

/** The controller of requests at work, with hosts that answer by SSH. */
export async function csrBench({ hasTokenIds = true, isStarted = true } = {}): Promise<CsrBench> {
  const bench = sourceBench();
  const facts = fixedFacts();
  const dialed: string[] = [];
  const hosts = new Map<string, string>();
  const controller = csrController({
    ...bench.parts,
    facts,
    hasTokenIds,
    lifetime: lifetimeLimit('24h', 'v1.36.0'),
    inputs: { loadKeys: async () => [] },
    payload: { agent: async () => ({ sha256: 'e'.repeat(64) }) as never },
    connect: async ({ address }) => {
      dialed.push(address);
      const stdout = hosts.get(address);
      if (stdout === undefined) throw new Error('refused');
      const exec = async () => ({ exitCode: 0, stdout, stderr: '' });
      return { exec, [Symbol.asyncDispose]: async () => undefined } as unknown as HostConnection;
    },
  });
  const startController = () => bench.start(controller);
  if (isStarted) await startController();
  return Object.assign(bench, { hosts, dialed, facts, startController });
}

/** What `inventory` prints on a host of this node name, with these addresses on its default route. */
export function inventoryText(nodeName: string, ...addresses: string[]): string {
  return JSON.stringify({
    agentVersion: 'v',
    hostName: nodeName,
    fqdn: nodeName,
    nodeName,
    os: { product: 'p', build: 'b', installationType: 'i' },
    bootId: '1',
    containersFeature: 'enabled',
    time: '2026-03-01T12:00:00Z',
    adapters: [
      { name: 'Ethernet', addresses: addresses.map(each => `${each}/24`), isUp: true, hasDefaultRoute: true },
      { name: 'vEthernet', addresses: ['10.132.0.1/24'], isUp: true, hasDefaultRoute: false },
    ],
  });
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

const expires = '2026-03-01T13:00:00Z';

/** What the operator has recorded of a host that was handed tokens and has installed its agent. */
export function recorded(nodeName: string, address: string, more: WindowsInstanceStatus = {}): WindowsInstanceStatus {
  return {
    hostKey: pinnedKey,
    ipv4: address,
    host: { name: nodeName, addresses: [address] },
    tokens: [
      { id: kubeletToken, use: 'kubelet', expires },
      { id: agentToken, use: 'agent', expires },
    ],
    agent: { keyHash: requestKeyHash, installed: '2026-03-01T12:00:00Z' },
    ...more,
  };
}

/** A listed host, with its record where it has one. */
export const lists = (
  bench: SourceBench,
  address: string,
  status?: WindowsInstanceStatus,
  spec: Partial<WindowsInstanceSpec> = {},
) => {
  const before = bench.instance(address);
  return bench.put(windowsInstances, {
    metadata: { ...before?.metadata, name: address, namespace },
    spec: { address, username: 'core', ...spec },
    ...(status && { status }),
  });
};

export async function asks(bench: SourceBench, change: Change, csrName = 'csr-1'): Promise<void> {
  const { label: _label, parsed: _parsed, conditions, credentialId, ...spec } = viewOf(change);
  const extra = credentialId === undefined ? {} : { extra: { [credentialIdKey]: [credentialId] } };
  await bench.put(certificateSigningRequests, {
    metadata: { name: csrName },
    spec: { ...spec, ...extra, request: toBase64(textOf(change)) },
    status: { conditions: conditions.map(type => ({ type, status: 'True' })) },
  });
}

export const stateOf = (bench: SourceBench, csrName = 'csr-1'): string => {
  const conditions = bench.api.peek(certificateSigningRequests, csrName)?.status?.conditions ?? [];
  return conditions.map(({ type, reason }) => [type, reason].filter(Boolean).join(' ')).join(', ') || 'pending';
};
export const agentHere: Change = { ...agent, username: agentServiceAccountUser(namespace) };
