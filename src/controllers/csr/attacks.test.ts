import { expect, test } from 'vitest';
import type { Reserved } from '#contract/reserved.ts';
import { requestKeyHash } from '../../../test/kit/csr.ts';
import {
  agent,
  agentToken,
  brief,
  type Change,
  client,
  cloudNode,
  decide,
  kubeletToken,
  name,
  nodeOf,
  record,
  recordOf,
  recordWith,
  serving,
  windows,
} from '../../../test/kit/csr-facts.ts';

// Each test is an attack that was shown on a real cluster, or one step beyond it.

const reserved: Reserved = {
  networks: ['172.30.0.0/16', '10.128.0.0/14'],
  addresses: ['10.0.0.2'],
  names: ['api.cluster.example.com', 'api-int.cluster.example.com'],
  domains: ['apps.cluster.example.com'],
};

/** Names of the cluster that a kubelet once got certificates for: its own Node said that they are its own. */
const clusterNames: [string, Change][] = [
  ['kubernetes.default.svc', { dnsNames: ['kubernetes.default.svc'] }],
  ['kubernetes', { dnsNames: ['kubernetes'] }],
  ['a wildcard', { dnsNames: ['*.example.com'] }],
  ['the name of the API server', { dnsNames: ['API.cluster.example.com'] }],
  ['the inner name of the API server', { dnsNames: ['api-int.cluster.example.com.'] }],
  ['the console', { dnsNames: ['console.apps.cluster.example.com'] }],
  ['another service', { dnsNames: ['prometheus.openshift-monitoring.svc'] }],
  ['the address of the API server', { ips: [[10, 0, 0, 2]] }],
  ['the API server in the service network', { ips: [[172, 30, 0, 1]] }],
  ['an address of the pod network', { ips: [[10, 130, 0, 9]] }],
  ['localhost', { ips: [[127, 0, 0, 1]] }],
  ['the metadata service', { ips: [[169, 254, 169, 254]] }],
];
for (const [title, asked] of clusterNames) {
  const names = [...(asked.dnsNames ?? []), ...(asked.ips ?? []).map(ip => ip.join('.'))];
  const reported = names.map(address => ({ type: 'InternalDNS', address }));
  const own = { dnsNames: [name], ips: [[10, 0, 0, 1]], reserved };
  const attack = { ...own, dnsNames: [name, ...(asked.dnsNames ?? [])], ips: [...own.ips, ...(asked.ips ?? [])] };

  test(`row 2: refuses a serving certificate for ${title} though the Node reports it`, () => {
    const node = nodeOf(name, '10.0.0.1', { addresses: [...windows.addresses, ...reported] });
    expect(brief(decide(serving, { ...attack, node }))).toBe('alternative-names');
  });

  test(`row 2: refuses a serving certificate for ${title} though the host has said so over SSH`, () => {
    const change = recordWith({ addresses: ['10.0.0.1', ...names] });
    expect(brief(decide(serving, { ...attack, ...change }))).toBe('alternative-names');
  });

  test(`row 2: refuses a serving certificate for ${title} though the spec has it`, () => {
    expect(brief(decide(serving, { ...attack, ...recordWith({ servingNames: names }) }))).toBe('alternative-names');
  });
}

test('row 2: refuses a serving certificate for any name that only the Node reports', () => {
  const addresses = [...windows.addresses, { type: 'InternalDNS', address: 'proxy.corp' }];
  const decision = decide(serving, { dnsNames: ['proxy.corp'], node: nodeOf(name, '10.0.0.1', { addresses }) });
  expect(decision).toMatchObject({ do: 'inspect', otherwise: { rule: 'recorded-names' } });
});

test('row 3: refuses a serving certificate for an address of another host, though the Node claims it', () => {
  const node = nodeOf(name, '10.0.0.2');
  const taken = { '10.0.0.2': 'WindowsInstance win-2' };
  expect(decide(serving, { ips: [[10, 0, 0, 2]], node, taken })).toMatchObject({
    rule: 'alternative-names',
    why: '"10.0.0.2" belongs to WindowsInstance win-2',
  });
});

test('row 3: a Node that claims the address of a host gets nothing by the record of that host', () => {
  const victim = recordOf('win-2', '10.0.0.2');
  expect(brief(decide(serving, { instance: victim, node: nodeOf(name, '10.0.0.2') }))).toBe('ignore');
  expect(brief(decide(agent, { instance: victim, node: nodeOf(name, '10.0.0.2') }))).toBe('instance');
});

/** What once was enough for the first certificate of a kubelet. */
const firstCertificates: [string, Change, string][] = [
  ['the bootstrap token of another host', { credentialId: 'JTI=kubelet-2' }, 'token'],
  ['the token of the agent', { credentialId: agentToken }, 'token'],
  ['a bootstrap token before any was handed out', recordWith({ tokens: [] }), 'token'],
  ['any absent name', { commonNames: ['system:node:win-9'] }, 'ignore'],
  ['the short name of a recorded host', { commonNames: ['system:node:win1'] }, 'ignore'],
  ['the full name of a host recorded in short', { instance: { ...record, node: 'win1' } }, 'ignore'],
  ['the name in another domain', { commonNames: ['system:node:win1.evil.example'] }, 'ignore'],
  ['a name that DNS has for the address of a host', { commonNames: ['system:node:ptr.evil.example'] }, 'ignore'],
  ['the name of a host that is listed and not recorded', { instance: { ...record, node: '' } }, 'ignore'],
];
for (const [title, change, want] of firstCertificates) {
  test(`row 6: no first certificate with ${title}`, () => expect(brief(decide(client, change))).toBe(want));
}

const withoutId = { credentialId: undefined };
const lasting: [string, Change][] = [
  ['a kubelet', client],
  ['an agent', agent],
  ['cloud-node-manager', cloudNode],
];
for (const [title, base] of lasting) {
  test(`row 7: a token without id is refused to ${title} from 1.30 on, and not before`, () => {
    expect(decide(base, withoutId)).toMatchObject({ rule: 'token', why: expect.stringContaining('never expires') });
    expect(brief(decide(base, { ...withoutId, hasTokenIds: false }))).toBe('approve');
  });
}

test('row 7: before 1.30 a token is still bound to its host where the server writes its id', () => {
  expect(brief(decide(client, { credentialId: 'JTI=kubelet-2', hasTokenIds: false }))).toBe('token');
});

const renewal: Change = {
  username: `system:wicd-node:${name}`,
  groups: ['system:wicd-nodes'],
  credentialId: undefined,
};
const cloudRenewal: Change = { ...cloudNode, ...renewal };
const ends: [string, Change, string][] = [
  ['the instance is gone', { instance: undefined }, 'instance'],
  ['the host has another name by now', { instance: recordOf('win-9', '10.0.0.1') }, 'instance'],
  ['the Node is gone', { node: undefined }, 'windows-node'],
];
for (const [title, change, want] of ends) {
  test(`row 15: a stolen certificate is not renewed once ${title}`, () => {
    expect(brief(decide({ ...agent, ...renewal }))).toBe('approve');
    expect(brief(decide({ ...agent, ...renewal }, change))).toBe(want);
    expect(brief(decide(cloudRenewal, change))).toBe(want);
  });
}

test('row 15: a stolen certificate is not renewed once the host has a new key', () => {
  const keys = { agentKeyHash: 'c'.repeat(64), cloudKeyHash: 'd'.repeat(64) };
  expect(brief(decide({ ...agent, ...renewal }, recordWith(keys)))).toBe('key');
  expect(brief(decide(cloudRenewal, recordWith(keys)))).toBe('key');
});

test('Azure: the identity of cloud-node-manager is no way to another one', () => {
  const other = { username: `system:wicd-cloud-node:${name}`, credentialId: undefined };
  expect(brief(decide(agent, other))).toBe('requester');
  expect(brief(decide(client, other))).toBe('requester');
  expect(brief(decide(serving, other))).toBe('requester');
  const asAdmin = { ...cloudNode, organizations: ['system:wicd-cloud-nodes', 'system:masters'] };
  expect(brief(decide(asAdmin))).toBe('organization');
});

test('a former agent of the Go operator is approved for its recorded node only', () => {
  const former = { ...agent, ...renewal, ...recordWith({ agentKeyHash: undefined, hasFormerAgent: true }) };
  expect(brief(decide(former))).toBe('approve');
  expect(brief(decide(former, { username: 'system:wicd-node:win-2' }))).toBe('requester');
  expect(brief(decide(former, { instance: undefined }))).toBe('instance');
  const elsewhere = recordOf('win-2', '10.0.0.2', { agentKeyHash: undefined, hasFormerAgent: true });
  expect(brief(decide(former, { instance: elsewhere }))).toBe('instance');
});

test('the key of the agent is not that of the kubelet: a record of both changes nothing', () => {
  const tokens = [{ id: kubeletToken, use: 'kubelet' as const }];
  const change = recordWith({ agentKeyHash: requestKeyHash, tokens });
  expect(brief(decide(client, change))).toBe('approve');
  expect(brief(decide(agent, { ...change, credentialId: kubeletToken }))).toBe('token');
});
