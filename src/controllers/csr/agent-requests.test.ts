import { expect, test } from 'vitest';
import { lifetimeLimit } from '#contract/certificate-lifetime.ts';
import { agentServiceAccountUser, signer } from '#contract/names.ts';
import { requestKeyHash } from '../../../test/kit/csr.ts';
import {
  agent,
  agentToken,
  bootstrapper,
  brief,
  type Change,
  client,
  cloudNode,
  decide,
  kubeletToken,
  linux,
  name,
  nodeOf,
  recordOf,
  recordWith,
} from '../../../test/kit/csr-facts.ts';

const renewal: Change = {
  username: `system:wicd-node:${name}`,
  groups: ['system:wicd-nodes'],
  credentialId: undefined,
};
const silent: Change = { expirationSeconds: undefined };
const otherKey = 'b'.repeat(64);
const former = recordWith({ agentKeyHash: undefined, hasFormerAgent: true, tokens: [] });
const agentCases: [string, Change, string][] = [
  ['approves the first request of the agent', {}, 'approve'],
  ['approves its renewal', renewal, 'approve'],
  ['approves usages without key encipherment', { usages: ['client auth', 'digital signature'] }, 'approve'],
  ['approves a host of a Machine', recordWith({ isMachine: true }), 'approve'],
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
  ['refuses a missing Node', { node: undefined }, 'windows-node'],
  ['refuses a Linux node', { node: linux }, 'windows-node'],
  ['refuses a Node of another name', { node: nodeOf('win2', '10.0.0.1') }, 'windows-node'],
  ['refuses a node that no record has', { instance: undefined }, 'instance'],
  ['refuses a node whose record is of another node', { instance: recordOf('win2', '10.0.0.1') }, 'instance'],
  ['refuses a key that is not the recorded one', recordWith({ agentKeyHash: otherKey }), 'key'],
  ['refuses the key of cloud-node-manager', { instance: cloudNode.instance }, 'key'],
  ['waits a moment for the key to be recorded', { ...recordWith({ agentKeyHash: undefined }), ageMs: 1000 }, 'wait'],
  ['waits a moment for a new key to be recorded', { ...recordWith({ agentKeyHash: otherKey }), ageMs: 1000 }, 'wait'],
  ['refuses a key that is not recorded in time', recordWith({ agentKeyHash: undefined }), 'key'],
  ['does not wait when another rule is broken', { ...renewal, node: undefined, ageMs: 0 }, 'windows-node'],
  ['approves the renewal of a former agent', { ...renewal, ...former }, 'approve'],
  ['refuses the account of former agents', { ...former, credentialId: undefined, hasTokenIds: false }, 'key'],
  [
    'refuses a key that is not recorded once our agent is installed',
    { ...renewal, ...recordWith({ agentKeyHash: otherKey, hasFormerAgent: true }) },
    'key',
  ],
  ['approves a former agent that says nothing about its lifetime', { ...renewal, ...former, ...silent }, 'approve'],
  ['approves a shorter life', { expirationSeconds: 600 }, 'approve'],
  ['approves what was set', { expirationSeconds: 172_800, lifetime: lifetimeLimit('48h', 'v1.22.0') }, 'approve'],
  [
    'approves the shortest life there is',
    { expirationSeconds: 600, lifetime: lifetimeLimit('1s', 'v1.36.0') },
    'approve',
  ],
  ['refuses a longer life than was set', { expirationSeconds: 86_401 }, 'lifetime'],
  ['refuses a life of ten years when it renews', { ...renewal, expirationSeconds: 315_360_000 }, 'lifetime'],
  [
    'refuses a longer life at once',
    { ...recordWith({ agentKeyHash: otherKey }), ageMs: 0, expirationSeconds: 86_401 },
    'lifetime',
  ],
  ['refuses a life without end', silent, 'lifetime'],
  [
    'approves it where the server forgets what was asked',
    { ...silent, lifetime: lifetimeLimit('24h', 'v1.21.9') },
    'approve',
  ],
  ['refuses an empty node name', { commonNames: ['system:wicd-node:'] }, 'node-name'],
  ['refuses a node name that is none', { commonNames: ['system:wicd-node:-'] }, 'node-name'],
  ['ignores an approved request', { conditions: ['Approved'] }, 'ignore'],
  ['ignores a denied request', { conditions: ['Denied'] }, 'ignore'],
];
for (const [title, change, want] of agentCases) {
  test(`agent: ${title}`, () => expect(brief(decide(agent, change))).toBe(want));
}

const cloudCases: [string, Change, string][] = [
  ['approves the first request', {}, 'approve'],
  ['approves what the agent renews with its certificate', renewal, 'approve'],
  ['refuses the agent of another node', { ...renewal, username: 'system:wicd-node:win2' }, 'requester'],
  ['refuses cloud-node-manager itself', { ...renewal, username: `system:wicd-cloud-node:${name}` }, 'requester'],
  ['refuses the kubelet', { ...renewal, username: `system:node:${name}` }, 'requester'],
  ['refuses the bootstrapper of kubelets', { username: bootstrapper }, 'requester'],
  ['refuses the group of agents', { organizations: ['system:wicd-nodes'] }, 'organization'],
  ['refuses the group of nodes', { organizations: ['system:nodes'] }, 'organization'],
  ['refuses another signer', { signerName: signer.kubeletClient }, 'signer'],
  ['refuses a DNS name', { dnsNames: [name] }, 'no-alternative-names'],
  ['refuses server auth', { usages: ['digital signature', 'server auth'] }, 'usages'],
  ['refuses a missing Node', { node: undefined }, 'windows-node'],
  ['refuses a node that no record has', { instance: undefined }, 'instance'],
  ['refuses the key of the agent', recordWith({ cloudKeyHash: otherKey }), 'key'],
  ['refuses a host that has no such key', recordWith({}), 'key'],
  ['refuses a host with a former agent, which never asks for it', { ...renewal, ...former }, 'key'],
  ['waits a moment for the key to be recorded', { ...recordWith({}), ageMs: 1000 }, 'wait'],
  ['refuses a longer life than was set', { expirationSeconds: 86_401 }, 'lifetime'],
  ['refuses a life without end', silent, 'lifetime'],
  ['refuses a token for kubelets', { credentialId: kubeletToken }, 'token'],
  ['refuses a token without id', { credentialId: undefined }, 'token'],
  ['refuses a node name that is none', { commonNames: ['system:wicd-cloud-node:-'] }, 'node-name'],
];
for (const [title, change, want] of cloudCases) {
  test(`cloud node: ${title}`, () => expect(brief(decide(cloudNode, change))).toBe(want));
}

const both: Change = recordWith({ agentKeyHash: requestKeyHash, cloudKeyHash: requestKeyHash });
const tokenCases: [string, Change, string, string][] = [
  ['approves the token that was handed to the host', {}, kubeletToken, agentToken],
  ['refuses a token that no host was handed', recordWith({ tokens: [] }), '', ''],
  ['refuses a part of an id', {}, 'JTI=', 'JTI='],
];
for (const [title, change, kubelet, ofAgent] of tokenCases) {
  test(`token: ${title}`, () => {
    const want = kubelet === kubeletToken ? 'approve' : 'token';
    expect(brief(decide(client, { ...both, ...change, credentialId: kubelet || kubeletToken }))).toBe(want);
    expect(brief(decide(agent, { ...both, ...change, credentialId: ofAgent || agentToken }))).toBe(want);
    expect(brief(decide(cloudNode, { ...both, ...change, credentialId: ofAgent || agentToken }))).toBe(want);
  });
}

test('token: is good for one use', () => {
  expect(brief(decide(client, { credentialId: agentToken }))).toBe('token');
  expect(brief(decide(agent, { credentialId: kubeletToken }))).toBe('token');
});

test('token: the refusal names the Node, and not the token', () => {
  const decision = decide(agent, { credentialId: 'JTI=of-another' });
  expect(decision).toMatchObject({ do: 'refuse', why: expect.stringContaining(`host of Node ${name}`) });
  expect(JSON.stringify(decision)).not.toContain('of-another');
});
