import { expect, test } from 'vitest';
import { parseCertificateRequest } from '#contract/csr-request.ts';
import { type CsrContent, makeCsr } from '../../../test/kit/csr.ts';
import type { CertificateKind } from './case.ts';
import { checkCertificateContent, rules } from './rules.ts';

const check = (kind: CertificateKind, content: CsrContent) => () =>
  checkCertificateContent(kind, parseCertificateRequest(makeCsr(content)), 'CSR csr-1');
const kubelet: CsrContent = { commonNames: ['system:node:win1'], organizations: ['system:nodes'] };
const agent: CsrContent = { commonNames: ['system:wicd-node:win1'], organizations: ['system:wicd-nodes'] };
const cloud: CsrContent = {
  commonNames: ['system:wicd-cloud-node:win1'],
  organizations: ['system:wicd-cloud-nodes'],
};
const name = { dnsNames: ['win1'] };

const good: [string, CertificateKind, CsrContent][] = [
  ['the agent’s group alone', 'agent', agent],
  ['the group of cloud-node-manager alone', 'cloud-node', cloud],
  ['the nodes’ group alone for a client', 'kubelet-client', kubelet],
  ['the nodes’ group alone for a server', 'kubelet-serving', kubelet],
  ['names for a server', 'kubelet-serving', { ...kubelet, ...name, ips: [[10, 0, 0, 1]] }],
];
for (const [title, kind, content] of good)
  test(`content: accepts ${title}`, () => expect(check(kind, content)).not.toThrow());

const organizations: [CertificateKind, CsrContent, string[], RegExp][] = [
  ['agent', agent, [], /invalid number of organizations in CSR content \[\]/],
  [
    'agent',
    agent,
    ['system:wicd-nodes', 'cluster-admin'],
    /invalid number of organizations in CSR content \["system:wicd-nodes","cluster-admin"\]/,
  ],
  ['agent', agent, ['cluster-admin', 'system:wicd-nodes'], /invalid number of organizations/],
  ['agent', agent, ['system:wicd-nodes', 'system:nodes'], /invalid number of organizations/],
  ['agent', agent, ['system:masters'], /invalid subject organization in CSR content \["system:masters"\]/],
  ['agent', agent, ['system:nodes'], /invalid subject organization/],
  ['agent', agent, ['System:wicd-nodes'], /invalid subject organization/],
  ['agent', agent, [''], /invalid subject organization/],
  ['cloud-node', cloud, ['system:wicd-nodes'], /invalid subject organization/],
  ['cloud-node', cloud, ['system:wicd-cloud-nodes', 'system:nodes'], /invalid number of organizations/],
  ['kubelet-client', kubelet, [], /invalid number of organizations/],
  ['kubelet-client', kubelet, ['system:wicd-nodes'], /invalid subject organization/],
  ['kubelet-serving', kubelet, ['system:nodes', 'system:masters'], /invalid number of organizations/],
  ['kubelet-serving', kubelet, ['system:masters'], /invalid subject organization/],
];
for (const [kind, content, list, message] of organizations) {
  test(`content: refuses ${kind} in [${list.join(', ')}]`, () =>
    refuses(kind, { ...content, organizations: list }, message));
}

const others: [string, CertificateKind, CsrContent, RegExp][] = [
  [
    'the subject of a node for the agent',
    'agent',
    { ...agent, commonNames: ['system:node:win1'] },
    /common name "system:node:win1" does not begin/,
  ],
  [
    'the subject of the agent for a node',
    'kubelet-client',
    { ...kubelet, commonNames: ['system:wicd-node:win1'] },
    /common name/,
  ],
  ['the prefix in the middle', 'kubelet-serving', { ...kubelet, commonNames: ['x system:node:win1'] }, /common name/],
  [
    'a further part of the subject',
    'kubelet-serving',
    { ...kubelet, attributes: [['2.5.4.11', 'x']] },
    /also has \["2.5.4.11"\]/,
  ],
  ['names for the agent', 'agent', { ...agent, ...name }, /not allowed: \["win1"\]/],
  ['names for cloud-node-manager', 'cloud-node', { ...cloud, ...name }, /not allowed: \["win1"\]/],
  [
    'the subject of the agent for cloud-node-manager',
    'cloud-node',
    { ...cloud, commonNames: ['system:wicd-node:win1'] },
    /common name/,
  ],
  ['names for a client', 'kubelet-client', { ...kubelet, uris: ['a:b'] }, /not allowed: \["a:b"\]/],
];
for (const [title, kind, content, message] of others)
  test(`content: refuses ${title}`, () => refuses(kind, content, message));

function refuses(kind: CertificateKind, content: CsrContent, message: RegExp): void {
  const wanted = { code: 'CSR_REFUSED', message: expect.stringMatching(message), remedy: expect.stringMatching(/\S/) };
  expect(check(kind, content)).toThrow(expect.objectContaining(wanted));
  expect(check(kind, content)).toThrow(/^CSR csr-1: /);
}

test('every rule has a name that can be printed, once per kind', () => {
  for (const list of Object.values(rules)) {
    const names = list.map(rule => rule.name);
    expect(new Set(names).size).toBe(names.length);
    for (const one of names) expect(one).toMatch(/^[a-z]+(-[a-z]+)*$/);
  }
});

test('every kind binds signer, requester, subject and usages', () => {
  for (const list of Object.values(rules)) {
    const names = list.map(rule => rule.name);
    expect(names).toEqual(
      expect.arrayContaining(['signer', 'requester', 'organization', 'common-name', 'subject', 'usages']),
    );
  }
});
