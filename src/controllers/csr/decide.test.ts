import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { agentServiceAccountUser, bootstrapperUser, signer } from '#contract/names.ts';
import type { NodeView } from '#contract/node.ts';
import { readObject } from '#contract/object.ts';
import {
  agent,
  bootstrapper,
  brief,
  type Change,
  client,
  decide,
  linux,
  name,
  nodeOf,
  serving,
  viewOf,
  windows,
} from '../../../test/kit/csr-facts.ts';
import { type CsrDecision, readCsr, subjectOf } from './decide.ts';

const rsa = (purpose: string) => ['key encipherment', 'digital signature', purpose];

const clientCases: [string, Change, string][] = [
  ['approves the first request of a listed host', {}, 'approve'],
  ['approves the usages of an RSA key', { usages: rsa('client auth') }, 'approve'],
  ['approves usages in any order', { usages: ['client auth', 'digital signature'] }, 'approve'],
  ['approves a request whose signing failed', { conditions: ['Failed'] }, 'approve'],
  ['approves while another Node exists', { nodes: [nodeOf('win2', '10.0.0.2')] }, 'approve'],
  ['approves by the short name of a listed host', { commonNames: ['system:node:win1'] }, 'approve'],
  [
    'approves by the full name of a host listed in short',
    { instances: [{ address: 'win1', ipv4: undefined }] },
    'approve',
  ],
  [
    'approves whatever the case of the entry',
    { instances: [{ address: 'WIN1.Example.com.', ipv4: undefined }] },
    'approve',
  ],
  ['ignores an approved request', { conditions: ['Approved'] }, 'ignore'],
  ['ignores a denied request', { conditions: ['Failed', 'Denied'] }, 'ignore'],
  ['ignores a node that is not listed', { instances: [] }, 'ignore'],
  [
    'ignores a node whose name is part of a listed one',
    { commonNames: ['system:node:win'], hostNames: { [name]: name } },
    'ignore',
  ],
  ['ignores the renewal by the node itself', { username: `system:node:${name}`, nodes: [windows] }, 'ignore'],
  ['refuses another signer', { signerName: 'example.com/other' }, 'signer'],
  ['refuses the signer of the agent', { signerName: signer.apiClient }, 'signer'],
  ['refuses no signer', { signerName: '' }, 'signer'],
  ['refuses another requester', { username: 'system:admin' }, 'requester'],
  [
    'approves the bootstrapper that the operator makes itself',
    { username: bootstrapperUser('wmco'), operatorNamespace: 'wmco' },
    'approve',
  ],
  [
    'refuses a bootstrapper of another namespace',
    { username: 'system:serviceaccount:x:node-bootstrapper' },
    'requester',
  ],
  ['refuses another node as requester', { username: 'system:node:win2' }, 'requester'],
  ['refuses no organization', { organizations: [] }, 'organization'],
  ['refuses another organization', { organizations: ['system:masters'] }, 'organization'],
  ['refuses a second organization', { organizations: ['system:nodes', 'system:masters'] }, 'organization'],
  ['refuses an organization given twice', { organizations: ['system:nodes', 'system:nodes'] }, 'organization'],
  ['refuses a unit in the subject', { attributes: [['2.5.4.11', 'x']] }, 'subject'],
  ['refuses a user ID in the subject', { attributes: [['1.3.6.1.4.1.57683.2', '0']] }, 'subject'],
  ['refuses a DNS name', { dnsNames: [name] }, 'no-alternative-names'],
  ['refuses an IP address', { ips: [[10, 0, 0, 1]] }, 'no-alternative-names'],
  ['refuses an e-mail address', { emails: ['a@b.c'] }, 'no-alternative-names'],
  ['refuses a URI', { uris: ['spiffe://x'] }, 'no-alternative-names'],
  ['refuses a name of another kind', { otherNames: [Uint8Array.of(0xa4, 2, 0x30, 0)] }, 'request'],
  ['refuses server auth', { usages: rsa('server auth') }, 'usages'],
  ['refuses a usage too many', { usages: [...rsa('client auth'), 'server auth'] }, 'usages'],
  ['refuses a usage too few', { usages: ['client auth'] }, 'usages'],
  ['refuses usages without client auth', { usages: ['key encipherment', 'digital signature'] }, 'usages'],
  ['refuses a usage given twice', { usages: ['client auth', 'client auth'] }, 'usages'],
  ['refuses key encipherment given twice', { usages: ['key encipherment', ...rsa('client auth')] }, 'usages'],
  ['refuses no usages', { usages: [] }, 'usages'],
  ['refuses a Node that exists', { nodes: [windows] }, 'node-absent'],
  ['refuses a Node that exists and runs Linux', { nodes: [linux] }, 'node-absent'],
  ['refuses an empty node name', { commonNames: ['system:node:'] }, 'node-name'],
  ['refuses a node name with an underscore', { commonNames: ['system:node:win_1'] }, 'node-name'],
  ['refuses a node name in capitals', { commonNames: ['system:node:WIN1'] }, 'node-name'],
  ['refuses a node name that ends with a dot', { commonNames: [`system:node:${name}.`] }, 'node-name'],
  ['refuses a node name with a line break', { commonNames: [`system:node:${name}\n`] }, 'request'],
  ['refuses a request that cannot be read', { requestText: 'x' }, 'request'],
  [
    'ignores an unreadable request for a foreign signer',
    { requestText: 'x', signerName: 'example.com/other' },
    'ignore',
  ],
  ['ignores a subject that is not ours', { commonNames: ['system:ovn-node:win1'] }, 'ignore'],
  ['ignores a subject without the colon', { commonNames: ['system:nodewin1'] }, 'ignore'],
  ['ignores a subject in other case', { commonNames: ['System:node:win1'] }, 'ignore'],
  ['ignores a request without a common name', { commonNames: [] }, 'ignore'],
];
for (const [title, change, want] of clientCases) {
  test(`kubelet client: ${title}`, () => expect(brief(decide(client, change))).toBe(want));
}

const servingCases: [string, Change, string][] = [
  ['approves the names of the node', {}, 'approve'],
  ['approves the usages of an RSA key', { usages: rsa('server auth') }, 'approve'],
  ['approves further groups', { groups: ['x', 'system:authenticated', 'system:nodes'] }, 'approve'],
  ['approves an IP address alone', { dnsNames: [] }, 'approve'],
  ['approves a DNS name alone', { ips: [] }, 'approve'],
  ['approves a DNS name in another case', { dnsNames: ['WIN1.example.COM'] }, 'approve'],
  [
    'approves an IPv6 address of the node',
    { ips: [[0xfd, 0, ...Array(13).fill(0), 1]], nodes: [withAddress('fd00::1')] },
    'approve',
  ],
  [
    'approves an IPv6 address however the node writes its digits',
    { ips: [[0xfd, 0, ...Array(13).fill(0), 0xa]], nodes: [withAddress('FD00::A')] },
    'approve',
  ],
  [
    'approves the name of the Node though it reports none',
    { nodes: [nodeOf(name, '10.0.0.1', { addresses: [{ type: 'InternalIP', address: '10.0.0.1' }] })] },
    'approve',
  ],
  [
    'approves another DNS name the node reports',
    { dnsNames: ['alias.example.com'], nodes: [withAddress('alias.example.com')] },
    'approve',
  ],
  ['refuses a foreign DNS name', { dnsNames: [name, 'evil.example'] }, 'alternative-names'],
  [
    'refuses a foreign IP address',
    {
      ips: [
        [10, 0, 0, 1],
        [8, 8, 8, 8],
      ],
    },
    'alternative-names',
  ],
  [
    'refuses the address of another node',
    { ips: [[10, 0, 0, 2]], nodes: [windows, nodeOf('win2', '10.0.0.2')] },
    'alternative-names',
  ],
  ['refuses the first label of the name', { dnsNames: ['win1'] }, 'alternative-names'],
  ['refuses a wildcard', { dnsNames: ['*.example.com'] }, 'alternative-names'],
  ['refuses an address written as DNS name', { dnsNames: ['10.0.0.1'] }, 'alternative-names'],
  ['refuses an empty DNS name', { dnsNames: [''], nodes: [withAddress('')] }, 'request'],
  ['refuses a request without names', { dnsNames: [], ips: [] }, 'alternative-names'],
  ['refuses an e-mail address', { emails: ['a@b.c'] }, 'alternative-names'],
  ['refuses a URI', { uris: ['spiffe://x'] }, 'alternative-names'],
  ['refuses a name of another kind', { otherNames: [Uint8Array.of(0x88, 1, 0x2a)] }, 'request'],
  ['refuses a requester that is another node', { username: 'system:node:win2' }, 'requester'],
  ['refuses the bootstrapper', { username: bootstrapper }, 'requester'],
  ['refuses a requester outside system:nodes', { groups: ['system:authenticated'] }, 'groups'],
  ['refuses a requester outside system:authenticated', { groups: ['system:nodes'] }, 'groups'],
  ['refuses client auth', { usages: rsa('client auth') }, 'usages'],
  ['refuses both purposes', { usages: [...rsa('client auth'), 'server auth'] }, 'usages'],
  ['refuses another organization', { organizations: ['system:masters'] }, 'organization'],
  ['refuses a second organization', { organizations: ['system:masters', 'system:nodes'] }, 'organization'],
  ['refuses a unit in the subject', { attributes: [['2.5.4.11', 'x']] }, 'subject'],
  ['refuses a missing Node', { nodes: [] }, 'windows-node'],
  ['refuses a Linux node', { nodes: [linux] }, 'windows-node'],
  ['refuses a Node without labels', { nodes: [nodeOf(name, '10.0.0.1', { labels: {} })] }, 'windows-node'],
  ['ignores a node that is not listed', { instances: [] }, 'ignore'],
  [
    'ignores the node of a Machine beside hosts without DNS',
    { instances: [{ address: '10.9.9.9', ipv4: '10.9.9.9' }] },
    'ignore',
  ],
  ['ignores an approved request', { conditions: ['Approved'] }, 'ignore'],
];
for (const [title, change, want] of servingCases) {
  test(`kubelet serving: ${title}`, () => expect(brief(decide(serving, change))).toBe(want));
}

function withAddress(address: string): NodeView {
  return nodeOf(name, '10.0.0.1', { addresses: [...windows.addresses, { type: 'InternalDNS', address }] });
}

const renewal = { username: `system:wicd-node:${name}`, groups: ['system:wicd-nodes'] };
const agentCases: [string, Change, string][] = [
  ['approves the first request of the agent', {}, 'approve'],
  ['approves its renewal', renewal, 'approve'],
  ['approves usages without key encipherment', { usages: ['client auth', 'digital signature'] }, 'approve'],
  ['approves a host that is in no ConfigMap, as Machines are', { instances: [] }, 'approve'],
  [
    'approves in the namespace it runs in',
    { operatorNamespace: 'wmco', username: agentServiceAccountUser('wmco') },
    'approve',
  ],
  ['refuses the agent of another namespace', { username: agentServiceAccountUser('default') }, 'requester'],
  ['refuses the certificate of another node', { username: 'system:wicd-node:win2' }, 'requester'],
  ['refuses a user that merely begins alike', { username: `system:wicd-node:${name}x` }, 'requester'],
  ['refuses the prefix without colon', { username: 'system:wicd-nodeX' }, 'requester'],
  ['refuses the kubelet of the node', { username: `system:node:${name}` }, 'requester'],
  ['refuses an administrator', { username: 'system:admin', groups: ['system:masters'] }, 'requester'],
  ['refuses another signer', { signerName: signer.kubeletClient }, 'signer'],
  [
    'refuses a kubelet’s subject asked for by the agent',
    { commonNames: [`system:node:${name}`], organizations: ['system:nodes'] },
    'organization',
  ],
  ['refuses another subject asked for by the agent', { commonNames: ['kubernetes-admin'] }, 'common-name'],
  ['refuses another subject asked for with its certificate', { ...renewal, commonNames: ['x'] }, 'requester'],
  ['refuses another organization', { organizations: ['system:nodes'] }, 'organization'],
  ['refuses a second organization', { organizations: ['system:wicd-nodes', 'cluster-admin'] }, 'organization'],
  ['refuses a DNS name', { dnsNames: ['a.b'] }, 'no-alternative-names'],
  ['refuses an IP address', { ips: [[10, 0, 0, 1]] }, 'no-alternative-names'],
  ['refuses an e-mail address', { emails: ['a@b.c'] }, 'no-alternative-names'],
  ['refuses a URI', { uris: ['http://x'] }, 'no-alternative-names'],
  ['refuses a usage too few', { usages: ['digital signature', 'key encipherment'] }, 'usages'],
  ['refuses server auth', { usages: ['digital signature', 'server auth'] }, 'usages'],
  ['refuses a missing Node', { nodes: [nodeOf('win2', '10.0.0.1')] }, 'windows-node'],
  ['refuses a Linux node', { nodes: [linux] }, 'windows-node'],
  ['refuses an empty node name', { commonNames: ['system:wicd-node:'] }, 'node-name'],
  ['refuses a node name that is none', { commonNames: ['system:wicd-node:-'] }, 'node-name'],
  ['ignores an approved request', { conditions: ['Approved'] }, 'ignore'],
  ['ignores a denied request', { conditions: ['Denied'] }, 'ignore'],
];
const token = 'JTI=1';
const holder = (over: object = {}) => ({ label: 'win-a', ipv4: '10.0.0.1', node: name, tokenIds: [token], ...over });
const other = holder({ label: 'win-b', ipv4: '10.0.0.2', node: 'win2' });
const tokenCases: [string, Change, string][] = [
  ['approves the host that the token was made for', { tokenHolders: [holder()] }, 'approve'],
  [
    'finds it by its address while its Node is not written down',
    { tokenHolders: [holder({ node: undefined })] },
    'approve',
  ],
  ['finds it by its Node while its address is not known', { tokenHolders: [holder({ ipv4: undefined })] }, 'approve'],
  ['finds it among tokens and hosts', { tokenHolders: [other, holder({ tokenIds: ['JTI=0', token] })] }, 'approve'],
  ['refuses the token of another host', { tokenHolders: [other] }, 'token'],
  [
    'refuses the token of another host when this one has its own',
    { tokenHolders: [other, holder({ tokenIds: ['JTI=2'] })] },
    'token',
  ],
  ['refuses a token that nobody was given', { tokenHolders: [holder({ tokenIds: ['JTI=2'] })] }, 'token'],
  ['refuses a token when no host has any', {}, 'token'],
  [
    'refuses the token of a host of which neither Node nor address is known',
    { tokenHolders: [holder({ node: undefined, ipv4: undefined })] },
    'token',
  ],
  ['refuses a part of an id', { credentialId: 'JTI=', tokenHolders: [holder()] }, 'token'],
  ['says first that there is no Node', { nodes: [], tokenHolders: [other] }, 'windows-node'],
  ['lets an agent with a certificate renew it', { username: `system:wicd-node:${name}` }, 'approve'],
];
for (const [title, change, want] of tokenCases) {
  test(`token: ${title}`, () => expect(brief(decide(agent, { credentialId: token, ...change }))).toBe(want));
}

test('token: the refusal names both hosts, and not the token', () => {
  const decision = decide(agent, { credentialId: token, tokenHolders: [other] });
  expect(decision).toMatchObject({ do: 'refuse', why: expect.stringMatching(/given to win-b, .* not Node win1/) });
  expect(JSON.stringify(decision)).not.toContain(token);
});

test('token: kubelets have rules of their own', () => {
  expect(brief(decide(client, { credentialId: token }))).toBe('approve');
});

for (const [title, change, want] of agentCases) {
  test(`agent: ${title}`, () => expect(brief(decide(agent, change))).toBe(want));
}

test('approves with the conditions that other components know', () => {
  const kubelet = { reason: 'WMCOApprove', message: 'This CSR was approved by the WMCO certificate Approver.' };
  const ours = { reason: 'WICDAutoApproved', message: 'This CSR was approved by the WICD certificate controller' };
  const approved = (more: object) => ({ do: 'approve', condition: { type: 'Approved', status: 'True', ...more } });
  expect(decide(client)).toEqual(approved(kubelet));
  expect(decide(serving)).toEqual(approved(kubelet));
  expect(decide(agent)).toEqual(approved(ours));
});

const events: [string, CsrDecision, string, RegExp][] = [
  [
    'an invalid node name',
    decide(client, { commonNames: ['system:node:win_1'] }),
    'NodeNameValidationFailed',
    /^node name win_1 does not comply.*RFC1123/,
  ],
  [
    'an endless node name',
    decide(client, { commonNames: [`system:node:${'x'.repeat(9000)}`] }),
    'NodeNameValidationFailed',
    /^node name x{253} does/,
  ],
  [
    'a broken rule',
    decide(serving, { dnsNames: ['evil.example'] }),
    'CSRRefused',
    /\(alternative-names\): .*evil\.example/,
  ],
  [
    'a wrong organization',
    decide(agent, { organizations: ['x'] }),
    'CSRRefused',
    /invalid subject organization in CSR content \["x"\]/,
  ],
  [
    'too many organizations',
    decide(agent, { organizations: ['x', 'y'] }),
    'CSRRefused',
    /invalid number of organizations in CSR content \["x","y"\]/,
  ],
  [
    'an unreadable request',
    decide(client, { requestText: '' }),
    'CSRRefused',
    /csr-1: CSR request spec should not be empty/,
  ],
];
for (const [title, decision, reason, message] of events) {
  test(`reports ${title} with an event`, () => {
    expect(decision).toMatchObject({ do: 'refuse', event: { type: 'Warning', reason } });
    expect((decision as { event: { message: string } }).event.message).toMatch(message);
    expect((decision as { event: { message: string } }).event.message.length).toBeLessThan(1024);
  });
}

test('says why it ignores a request', () => {
  expect(decide(client, { conditions: ['Denied'] })).toEqual({ do: 'ignore', why: 'CSR is already approved/denied' });
  expect(decide(client, { commonNames: ['x'] })).toMatchObject({ why: 'common name "x" is not ours' });
  expect(decide(client, { instances: [] })).toMatchObject({ why: expect.stringContaining(`known as ${name}`) });
  expect(decide(client, { instances: [{ address: '10.0.0.1', ipv4: '10.0.0.1' }], nodes: [windows] })).toMatchObject({
    why: expect.stringMatching(/already exists/),
  });
});

function csrObject(spec: object, status?: object): ReturnType<typeof readObject> {
  const metadata = { name: 'csr-1' };
  return readObject({
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    metadata,
    spec,
    status,
  });
}

test('reads a CertificateSigningRequest', () => {
  const spec = { request: toBase64('text'), usages: ['a'], signerName: 's', username: 'u', groups: ['g'] };
  expect(readCsr(csrObject(spec, { conditions: [{ type: 'Failed', status: 'True' }, {}] }))).toEqual({
    label: 'CertificateSigningRequest csr-1',
    requestText: 'text',
    usages: ['a'],
    signerName: 's',
    username: 'u',
    groups: ['g'],
    conditions: ['Failed', ''],
  });
});

test('reads a CertificateSigningRequest that holds nothing', () => {
  const empty = { requestText: '', usages: [], signerName: '', username: '', groups: [], conditions: [] };
  expect(readCsr(csrObject({}))).toMatchObject(empty);
});

const unreadable: [string, object, string][] = [
  ['a request that is no base64', { request: '-----BEGIN' }, 'CSR_MALFORMED'],
  ['a request that is no text', { request: '/w==' }, 'CSR_MALFORMED'],
  ['a request that is a number', { request: 5 }, 'FIELD_INVALID'],
  ['usages that are no list', { usages: 'client auth' }, 'FIELD_INVALID'],
  ['groups that are no texts', { groups: [1] }, 'FIELD_INVALID'],
];
for (const [title, spec, code] of unreadable) {
  test(`reports ${title}`, () => {
    const wanted = { code, message: expect.stringContaining('csr-1'), remedy: expect.stringMatching(/\S/) };
    expect(() => readCsr(csrObject(spec))).toThrow(expect.objectContaining(wanted));
  });
}

const subjectCases: [string, Change, ReturnType<typeof subjectOf>][] = [
  ['of a new kubelet', client, { node: name, isNewKubelet: true }],
  ['of a server', serving, { node: name, isNewKubelet: true }],
  ['of an agent', agent, { node: name, isNewKubelet: false }],
  ['of a renewal', { ...client, username: `system:node:${name}` }, { node: name, isNewKubelet: false }],
  ['of nobody', { ...client, commonNames: ['admin'] }, undefined],
  ['of a name that no Node can have', { ...client, commonNames: ['system:node:WIN_1'] }, undefined],
  ['of an empty name', { ...agent, commonNames: ['system:wicd-node:'] }, undefined],
  ['of something that cannot be read', { ...client, requestText: 'x' }, undefined],
];
for (const [about, change, want] of subjectCases) {
  test(`knows the subject ${about}`, () => expect(subjectOf(viewOf(change))).toEqual(want));
}
