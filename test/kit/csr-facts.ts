import { agentServiceAccountUser, identity, nodeLabel, signer } from '../../src/contract/names.ts';
import type { NodeView } from '../../src/contract/node.ts';
import { type CsrDecision, type CsrFacts, decideCsr } from '../../src/controllers/csr/decide.ts';
import { type CsrContent, makeCsr } from './csr.ts';

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

export interface Change extends CsrContent, Partial<Omit<CsrFacts, 'csr'>> {
  usages?: string[];
  signerName?: string;
  username?: string;
  groups?: string[];
  conditions?: string[];
  credentialId?: string;
  requestText?: string;
}

/** The three kinds of good requests; a test changes what it is about. */
export const client: Change = {
  commonNames: [`system:node:${name}`],
  organizations: ['system:nodes'],
  usages: ['digital signature', 'client auth'],
  signerName: signer.kubeletClient,
  username: bootstrapper,
  instances: [{ address: name, ipv4: '10.0.0.1' }],
};
export const serving: Change = {
  ...client,
  dnsNames: [name],
  ips: [[10, 0, 0, 1]],
  usages: ['digital signature', 'server auth'],
  signerName: signer.kubeletServing,
  username: `system:node:${name}`,
  groups: ['system:nodes', 'system:authenticated'],
  nodes: [windows],
};
export const agent: Change = {
  commonNames: [`system:wicd-node:${name}`],
  organizations: ['system:wicd-nodes'],
  usages: ['digital signature', 'client auth', 'key encipherment'],
  signerName: signer.apiClient,
  username: agentAccount,
  nodes: [windows],
};

export function viewOf(change: Change): CsrFacts['csr'] {
  return {
    label: 'CertificateSigningRequest csr-1',
    requestText: change.requestText ?? makeCsr(change),
    usages: change.usages ?? [],
    signerName: change.signerName ?? '',
    username: change.username ?? '',
    groups: change.groups ?? [],
    conditions: change.conditions ?? [],
    ...(change.credentialId !== undefined && { credentialId: change.credentialId }),
  };
}

function factsOf(change: Change): CsrFacts {
  return {
    csr: viewOf(change),
    operatorNamespace: change.operatorNamespace ?? namespace,
    instances: change.instances ?? [],
    nodes: change.nodes ?? [],
    tokenHolders: change.tokenHolders ?? [],
    ptrAnswers: change.ptrAnswers ?? {},
    hostNames: change.hostNames ?? {},
  };
}

export const decide = (base: Change, change: Change = {}) => decideCsr(factsOf({ ...base, ...change }));
/** `approve`, `ignore`, `ask <addresses>` or the name of the rule that refused. */
export function brief(decision: CsrDecision): string {
  if (decision.do === 'refuse') return decision.rule;
  return decision.do === 'ask' ? `ask ${decision.addresses.join(' ')}` : decision.do;
}
