import { agentServiceAccountUser, defaultNamespace, identity, signer } from '../../src/contract/names.ts';
import { credentialIdKey } from '../../src/contract/token-id.ts';
import type { WindowsInstanceStatus } from '../../src/contract/windows-instance/resource.ts';
import type { Row } from '../conformance/row.ts';
import { type CsrContent, makeCsr, requestKeyHash } from './csr.ts';

const host = 'winhost.example.com';
const addresses = [
  { type: 'Hostname', address: host },
  { type: 'InternalIP', address: '10.1.42.1' },
];
const [node, linuxNode] = ['windows', 'linux'].map(os => ({ name: host, os, addresses }));
const [kubeletToken, agentToken] = ['JTI=kubelet-1', 'JTI=agent-1'];
const someKey = { keyHash: requestKeyHash, installed: '2026-03-01T12:00:00Z' };
const expires = '2026-03-01T13:00:00Z';
const record: WindowsInstanceStatus = {
  host: { name: host, addresses: ['10.1.42.1'] },
  tokens: [
    { id: kubeletToken, use: 'kubelet', expires },
    { id: agentToken, use: 'agent', expires },
  ],
  agent: someKey,
  cloudNode: someKey,
};

interface Further extends CsrContent {
  usages?: string[];
  signerName?: string;
  username?: string;
  groups?: string[];
  /** Id of the token that the request is made with. */
  token?: string | undefined;
  nodes?: unknown[];
  /** Of the host; undefined for one without an instance. */
  record?: WindowsInstanceStatus | undefined;
}

const clientRequest: Further = {
  commonNames: [`system:node:${host}`],
  usages: ['digital signature', 'client auth'],
  signerName: signer.kubeletClient,
  username: identity.nodeBootstrapper,
  token: kubeletToken,
  record,
};
const servingRequest: Further = {
  ...clientRequest,
  dnsNames: [host],
  usages: ['digital signature', 'server auth'],
  signerName: signer.kubeletServing,
  username: `system:node:${host}`,
  token: undefined,
  groups: ['system:nodes', 'system:authenticated'],
  nodes: [node],
};
const agentRequest: Further = {
  commonNames: [`system:wicd-node:${host}`],
  organizations: ['system:wicd-nodes'],
  usages: ['digital signature', 'client auth'],
  signerName: signer.apiClient,
  username: agentServiceAccountUser(defaultNamespace),
  token: agentToken,
  nodes: [node],
  record,
};
const renewal = { username: `system:wicd-node:${host}`, groups: ['system:wicd-nodes'], token: undefined };
const cloudRequest: Further = {
  ...agentRequest,
  commonNames: [`system:wicd-cloud-node:${host}`],
  organizations: ['system:wicd-cloud-nodes'],
};
/** A Node that reports names of the cluster, and an address of another host, as its own. */
const lyingNode = {
  ...node,
  addresses: [
    ...addresses,
    ...['kubernetes.default.svc', '*.example.com', '10.1.42.9'].map(address => ({ type: 'ExternalDNS', address })),
  ],
};
const otherKey = { ...someKey, keyHash: '0'.repeat(64) };

/** What a thief of a token or certificate would try, beyond those rows. */
const furtherRefusals: [name: string, request: Further][] = [
  ['a node asks for the client certificate of another', { ...clientRequest, username: 'system:node:other' }],
  ['an agent asks for the certificate of its kubelet', { ...clientRequest, ...renewal }],
  [
    'the account of the agent asks for the certificate of a kubelet',
    { ...clientRequest, username: agentServiceAccountUser(defaultNamespace) },
  ],
  [
    'a bootstrapper of another namespace',
    { ...clientRequest, username: 'system:serviceaccount:default:node-bootstrapper' },
  ],
  ['a client certificate with a URI', { ...clientRequest, uris: ['spiffe://cluster/ns'] }],
  [
    'a client certificate with a user ID in its subject',
    { ...clientRequest, attributes: [['0.9.2342.19200300.100.1.1', 'root']] },
  ],
  ['a client certificate for an existing Linux node', { ...clientRequest, nodes: [linuxNode] }],
  [
    'a client certificate with one more group',
    { ...clientRequest, organizations: ['system:nodes', 'system:wicd-nodes'] },
  ],
  ['a client certificate from the signer of API clients', { ...clientRequest, signerName: signer.apiClient }],
  ['a node name that no Node can have', { ...clientRequest, commonNames: ['system:node:WINHOST_1'] }],
  ['a node asks for the serving certificate of another', { ...servingRequest, username: 'system:node:other' }],
  ['a serving certificate for the API server', { ...servingRequest, dnsNames: [host, 'kubernetes.default.svc'] }],
  ['a serving certificate with a wildcard', { ...servingRequest, dnsNames: ['*.example.com'] }],
  [
    'a serving certificate for the API server, whose address the Node claims',
    { ...servingRequest, dnsNames: ['kubernetes.default.svc'], nodes: [lyingNode] },
  ],
  [
    'a serving certificate with a wildcard that the Node reports',
    { ...servingRequest, dnsNames: ['*.example.com'], nodes: [lyingNode] },
  ],
  [
    'a serving certificate for an address that only the Node reports',
    { ...servingRequest, ips: [[10, 1, 42, 9]], nodes: [lyingNode] },
  ],
  [
    'a serving certificate for an address that belongs to another Node',
    {
      ...servingRequest,
      ips: [[10, 1, 42, 9]],
      nodes: [node, { name: 'other', os: 'linux', addresses: [{ type: 'InternalIP', address: '10.1.42.9' }] }],
      record: { ...record, host: { name: host, addresses: ['10.1.42.1', '10.1.42.9'] } },
    },
  ],
  ['a serving certificate without names', { ...servingRequest, dnsNames: [] }],
  ['a serving certificate of a node that does not exist', { ...servingRequest, nodes: [] }],
  ['a serving certificate of a Linux node', { ...servingRequest, nodes: [linuxNode] }],
  [
    'a serving certificate that is for clients too',
    { ...servingRequest, usages: ['digital signature', 'server auth', 'client auth'] },
  ],
  [
    'the agent of one node asks for another',
    { ...agentRequest, username: 'system:wicd-node:other', groups: ['system:wicd-nodes'] },
  ],
  ['the agent asks for a node that does not exist', { ...agentRequest, nodes: [] }],
  ['the agent asks for a Linux node', { ...agentRequest, nodes: [linuxNode] }],
  [
    'the agent asks to be an administrator as well',
    { ...agentRequest, organizations: ['system:wicd-nodes', 'admins'] },
  ],
  ['the agent asks for a serving certificate', { ...agentRequest, usages: ['digital signature', 'server auth'] }],
  ['the token of another host asks for the first certificate', { ...clientRequest, token: 'JTI=kubelet-2' }],
  ['the token of the agent asks for the first certificate', { ...clientRequest, token: agentToken }],
  ['a token without id asks for the first certificate', { ...clientRequest, token: undefined }],
  ['a host that is listed and not recorded', { ...clientRequest, record: {} }],
  [
    'a host that is recorded under another name',
    { ...clientRequest, record: { host: { name: 'winhost', addresses: [] } } },
  ],
  ['the token of another host asks for the agent', { ...agentRequest, token: 'JTI=agent-2' }],
  ['a token without id asks for the agent', { ...agentRequest, token: undefined }],
  ['the agent asks with a key that is not recorded', { ...agentRequest, record: { ...record, agent: otherKey } }],
  [
    'the agent renews with a key that is not recorded',
    { ...agentRequest, ...renewal, record: { ...record, agent: otherKey } },
  ],
  ['the agent renews after its instance is gone', { ...agentRequest, ...renewal, record: undefined }],
  [
    'the agent asks for cloud-node-manager with another key',
    { ...cloudRequest, ...renewal, record: { ...record, cloudNode: otherKey } },
  ],
  [
    'the kubelet asks for cloud-node-manager',
    { ...cloudRequest, username: `system:node:${host}`, groups: ['system:nodes'] },
  ],
  ['another user asks for the agent', { ...agentRequest, username: 'eve' }],
];
const furtherApprovals: [name: string, request: Further][] = [
  ['the client certificate of a listed host', clientRequest],
  ['the serving certificate of its node', servingRequest],
  ['the certificate of its agent', agentRequest],
  ['the renewal by the agent itself', { ...agentRequest, ...renewal }],
  ['the certificate of cloud-node-manager', cloudRequest],
  ['the renewal for cloud-node-manager by the agent', { ...cloudRequest, ...renewal }],
  [
    'the renewal by an agent of the Go operator',
    { ...agentRequest, ...renewal, record: { host: { name: host, addresses: [] }, version: '10.0.0-go' } },
  ],
  ['a serving certificate for recorded name and address', { ...servingRequest, ips: [[10, 1, 42, 1]] }],
];

export const furtherRows: readonly Row[] = [
  ...furtherRefusals.map(([name, request]) => furtherRow(name, request, 'refuse')),
  ...furtherApprovals.map(([name, request]) => furtherRow(name, request, 'approve')),
];

function furtherRow(name: string, request: Further, decision: string): Row {
  const { usages, signerName, username, groups = [], nodes: existingNodes = [], token, record: status } = request;
  const extra = token === undefined ? {} : { extra: { [credentialIdKey]: [token] } };
  const csr = { usages, signerName, username, groups, conditions: [], request: { pem: makeCsr(request) }, ...extra };
  const listed = status === undefined ? {} : { [host]: 'username=core' };
  const input = { csr, windowsInstances: listed, records: { [host]: status }, existingNodes, serverVersion: 'v1.36.0' };
  return { id: `further/${name}`, name, op: 'kubeletApprover', input, expected: { decision } };
}
