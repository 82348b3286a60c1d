import { expect, test } from 'vitest';
import { bootstrapperUser, signer } from '#contract/names.ts';
import {
  bootstrapper,
  brief,
  type Change,
  client,
  decide,
  linux,
  name,
  nodeOf,
  recordOf,
  recordWith,
  serving,
  windows,
} from '../../../test/kit/csr-facts.ts';

const rsa = (purpose: string) => ['key encipherment', 'digital signature', purpose];
const bothIps = [
  [10, 0, 0, 1],
  [10, 0, 0, 9],
];
const ipv6 = [0xfd, 0, ...Array<number>(13).fill(0), 0xa];
const routed = recordWith({ addresses: ['10.0.0.1', '10.0.0.9'] });
const added = recordWith({ servingNames: ['Alias.corp', 'FD00::A'] });

const clientCases: [string, Change, string][] = [
  ['approves the first request of a listed host', {}, 'approve'],
  ['approves the usages of an RSA key', { usages: rsa('client auth') }, 'approve'],
  ['approves usages in any order', { usages: ['client auth', 'digital signature'] }, 'approve'],
  ['approves a request whose signing failed', { conditions: ['Failed'] }, 'approve'],
  ['approves while another Node exists', { node: nodeOf('win2', '10.0.0.2') }, 'approve'],
  ['ignores an approved request', { conditions: ['Approved'] }, 'ignore'],
  ['ignores a denied request', { conditions: ['Failed', 'Denied'] }, 'ignore'],
  ['ignores a node that no record has', { instance: undefined }, 'ignore'],
  ['ignores the node of a Machine', recordWith({ isMachine: true }), 'ignore'],
  ['ignores the renewal by the node itself', { username: `system:node:${name}`, node: windows }, 'ignore'],
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
  ['refuses server auth', { usages: rsa('server auth') }, 'usages'],
  ['refuses a usage too many', { usages: [...rsa('client auth'), 'server auth'] }, 'usages'],
  ['refuses a usage too few', { usages: ['client auth'] }, 'usages'],
  ['refuses usages without client auth', { usages: ['key encipherment', 'digital signature'] }, 'usages'],
  ['refuses a usage given twice', { usages: ['client auth', 'client auth'] }, 'usages'],
  ['refuses key encipherment given twice', { usages: ['key encipherment', ...rsa('client auth')] }, 'usages'],
  ['refuses no usages', { usages: [] }, 'usages'],
  ['refuses a Node that exists', { node: windows }, 'node-absent'],
  ['refuses a Node that exists and runs Linux', { node: linux }, 'node-absent'],
  ['refuses an empty node name', { commonNames: ['system:node:'] }, 'node-name'],
  ['refuses a node name with an underscore', { commonNames: ['system:node:win_1'] }, 'node-name'],
  ['refuses a node name in capitals', { commonNames: ['system:node:WIN1'] }, 'node-name'],
  ['refuses a node name that ends with a dot', { commonNames: [`system:node:${name}.`] }, 'node-name'],
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
  ['approves the recorded names', {}, 'approve'],
  ['approves the usages of an RSA key', { usages: rsa('server auth') }, 'approve'],
  ['approves further groups', { groups: ['x', 'system:authenticated', 'system:nodes'] }, 'approve'],
  ['approves an IP address alone', { dnsNames: [] }, 'approve'],
  ['approves a DNS name alone', { ips: [] }, 'approve'],
  ['approves a DNS name in another case', { dnsNames: ['WIN1.example.COM'] }, 'approve'],
  ['approves the address of the default route', { ips: [[10, 0, 0, 9]], ...routed }, 'approve'],
  ['approves both recorded addresses', { ips: bothIps, ...routed }, 'approve'],
  ['approves names that the administrator has added', { dnsNames: ['alias.corp'], ...added }, 'approve'],
  ['approves addresses that the administrator has added', { ips: [ipv6], ...added }, 'approve'],
  ['approves whatever the Node reports', { node: nodeOf(name, '8.8.8.8') }, 'approve'],
  ['looks at the host again for a foreign DNS name', { dnsNames: [name, 'evil.example'] }, 'inspect'],
  ['looks at the host again for a foreign IP address', { ips: [[8, 8, 8, 8]] }, 'inspect'],
  ['looks at the host again for the first label of the name', { dnsNames: ['win1'] }, 'inspect'],
  ['looks at the host again for an address written as DNS name', { dnsNames: ['10.0.0.1'] }, 'inspect'],
  ['looks at the host again for a name in another domain', { dnsNames: ['win1.evil.example'] }, 'inspect'],
  ['does not look at the host again when another rule is broken', { dnsNames: ['x'], usages: [] }, 'usages'],
  ['refuses a wildcard', { dnsNames: ['*.example.com'] }, 'alternative-names'],
  ['refuses a request without names', { dnsNames: [], ips: [] }, 'alternative-names'],
  ['refuses an e-mail address', { emails: ['a@b.c'] }, 'alternative-names'],
  ['refuses a URI', { uris: ['spiffe://x'] }, 'alternative-names'],
  ['refuses a requester that is another node', { username: 'system:node:win2' }, 'requester'],
  ['refuses the bootstrapper', { username: bootstrapper }, 'requester'],
  ['refuses a requester outside system:nodes', { groups: ['system:authenticated'] }, 'groups'],
  ['refuses a requester outside system:authenticated', { groups: ['system:nodes'] }, 'groups'],
  ['refuses client auth', { usages: rsa('client auth') }, 'usages'],
  ['refuses both purposes', { usages: [...rsa('client auth'), 'server auth'] }, 'usages'],
  ['refuses another organization', { organizations: ['system:masters'] }, 'organization'],
  ['refuses a second organization', { organizations: ['system:masters', 'system:nodes'] }, 'organization'],
  ['refuses a unit in the subject', { attributes: [['2.5.4.11', 'x']] }, 'subject'],
  ['refuses a missing Node', { node: undefined }, 'windows-node'],
  ['refuses a Linux node', { node: linux }, 'windows-node'],
  ['refuses a Node without labels', { node: nodeOf(name, '10.0.0.1', { labels: {} }) }, 'windows-node'],
  ['ignores a node that no record has', { instance: undefined }, 'ignore'],
  ['ignores a node whose record is of another node', { instance: recordOf('win2', '10.0.0.1') }, 'ignore'],
  ['ignores the node of a Machine', recordWith({ isMachine: true }), 'ignore'],
  ['ignores an approved request', { conditions: ['Approved'] }, 'ignore'],
];
for (const [title, change, want] of servingCases) {
  test(`kubelet serving: ${title}`, () => expect(brief(decide(serving, change))).toBe(want));
}

test('kubelet serving: a name that is not recorded is refused unless the host has it by now', () => {
  expect(decide(serving, { dnsNames: ['evil.example'] })).toMatchObject({
    do: 'inspect',
    otherwise: { do: 'refuse', rule: 'recorded-names', event: { message: expect.stringContaining('evil.example') } },
  });
});

const strange: [string, Change, Change][] = [
  ['a client of a node name with a line break', client, { commonNames: [`system:node:${name}\n`] }],
  ['a client with a name of another kind', client, { otherNames: [Uint8Array.of(0xa4, 2, 0x30, 0)] }],
  ['a server with an empty DNS name', serving, { dnsNames: [''] }],
  ['a server with a name of another kind', serving, { otherNames: [Uint8Array.of(0x88, 1, 0x2a)] }],
];
for (const [title, base, change] of strange) {
  test(`kubelet: does not approve ${title}`, () => expect(decide(base, change).do).not.toBe('approve'));
}
