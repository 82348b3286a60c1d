import { attempt } from '../../src/base/errors.ts';
import { lifetimeLimit } from '../../src/contract/certificate-lifetime.ts';
import { parseCertificateRequest } from '../../src/contract/csr-request.ts';
import { agentServiceAccountUser, identity, nodeLabel, signer } from '../../src/contract/names.ts';
import type { NodeView } from '../../src/contract/node.ts';
import { noReservations } from '../../src/contract/reserved.ts';
import { type CsrDecision, type CsrFacts, decideCsr } from '../../src/controllers/csr/decide.ts';
import type { CsrInstance } from '../../src/controllers/csr/case.ts';
import { type CsrContent, makeCsr, requestKeyHash } from './csr.ts';

const namespace = 'openshift-windows-machine-config-operator';
export const bootstrapper = identity.nodeBootstrapper;
export const agentAccount = agentServiceAccountUser(namespace);
export const name = 'win1.example.com';

export function nodeOf(nodeName: string, ip: string, more: Partial<NodeView> = {}): NodeView {
  const addresses = [
    { type: 'Hostname', address: nodeName },
    { type: 'InternalIP', address: ip },
  ];
  const labels = { [nodeLabel.os]: 'windows' };
  return { name: nodeName, uid: '', labels, annotations: {}, addresses, ready: true, unschedulable: false, ...more };
}

export const windows = nodeOf(name, '10.0.0.1');
export const linux = nodeOf(name, '10.0.0.1', { labels: { [nodeLabel.os]: 'linux' } });

/** Ids of the tokens that were handed to the host. */
export const kubeletToken = 'JTI=kubelet-1';
export const agentToken = 'JTI=agent-1';

/** The record of a host that has joined. */
export function recordOf(nodeName: string, ip: string, more: Partial<CsrInstance> = {}): CsrInstance {
  return {
    label: `WindowsInstance ${namespace}/${nodeName}`,
    isMachine: false,
    node: nodeName,
    addresses: [ip],
    servingNames: [],
    tokens: [
      { id: kubeletToken, use: 'kubelet' },
      { id: agentToken, use: 'agent' },
    ],
    agentKeyHash: requestKeyHash,
    cloudKeyHash: undefined,
    hasFormerAgent: false,
    ...more,
  };
}

export const record = recordOf(name, '10.0.0.1');
export const recordWith = (more: Partial<CsrInstance>): Change => ({ instance: { ...record, ...more } });

export interface Change extends CsrContent, Partial<Omit<CsrFacts, 'csr'>> {
  usages?: string[];
  signerName?: string;
  username?: string;
  groups?: string[];
  conditions?: string[];
  credentialId?: string | undefined;
  requestText?: string;
  expirationSeconds?: number | undefined;
}

/** The kinds of good requests, on a server that writes ids of tokens; a test changes what it is about. */
export const client: Change = {
  commonNames: [`system:node:${name}`],
  organizations: ['system:nodes'],
  usages: ['digital signature', 'client auth'],
  signerName: signer.kubeletClient,
  username: bootstrapper,
  credentialId: kubeletToken,
  instance: record,
};
export const serving: Change = {
  ...client,
  dnsNames: [name],
  ips: [[10, 0, 0, 1]],
  usages: ['digital signature', 'server auth'],
  signerName: signer.kubeletServing,
  username: `system:node:${name}`,
  credentialId: undefined,
  groups: ['system:nodes', 'system:authenticated'],
  node: windows,
};
export const agent: Change = {
  commonNames: [`system:wicd-node:${name}`],
  organizations: ['system:wicd-nodes'],
  usages: ['digital signature', 'client auth', 'key encipherment'],
  signerName: signer.apiClient,
  username: agentAccount,
  expirationSeconds: 86_400,
  credentialId: agentToken,
  instance: record,
  node: windows,
};
export const cloudNode: Change = {
  ...agent,
  commonNames: [`system:wicd-cloud-node:${name}`],
  organizations: ['system:wicd-cloud-nodes'],
  instance: { ...record, agentKeyHash: 'a'.repeat(64), cloudKeyHash: requestKeyHash },
};

const label = 'CertificateSigningRequest csr-1';

/** `spec.request`, decoded from base64. */
export function textOf(change: Change): string {
  return change.requestText ?? makeCsr(change);
}

export function viewOf(change: Change): CsrFacts['csr'] {
  return {
    label,
    parsed: attempt(() => parseCertificateRequest(textOf(change), label)),
    usages: change.usages ?? [],
    signerName: change.signerName ?? '',
    username: change.username ?? '',
    groups: change.groups ?? [],
    conditions: change.conditions ?? [],
    ...(change.credentialId !== undefined && { credentialId: change.credentialId }),
    ...(change.expirationSeconds !== undefined && { expirationSeconds: change.expirationSeconds }),
  };
}

function factsOf(change: Change): CsrFacts {
  return {
    csr: viewOf(change),
    operatorNamespace: change.operatorNamespace ?? namespace,
    instance: change.instance,
    node: change.node,
    hasTokenIds: change.hasTokenIds ?? true,
    lifetime: change.lifetime ?? lifetimeLimit('24h', 'v1.36.0'),
    reserved: 'reserved' in change ? change.reserved : noReservations,
    taken: change.taken ?? {},
    ageMs: change.ageMs ?? 3_600_000,
  };
}

export const decide = (base: Change, change: Change = {}) => decideCsr(factsOf({ ...base, ...change }));
/** What was decided, or the name of the rule that refused. */
export function brief(decision: CsrDecision): string {
  return decision.do === 'refuse' ? decision.rule : decision.do;
}
