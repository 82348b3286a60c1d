import { expect, test } from 'vitest';
import { type InstanceObject, windowsInstances } from '#cluster/windows-instances.ts';
import { signer } from '#contract/names.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { certificateSigningRequests, type Node, nodes } from '#kube/resources.ts';
import { agentHere, asks, csrBench, holds, lists, node, stateOf } from '../../../test/kit/csr-bench.ts';
import { type Change, client, linux, name, serving } from '../../../test/kit/csr-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import { benchNamespace as namespace, type SourceBench, sourceBench } from '../../../test/kit/source-bench.ts';
import { csrController } from './controller.ts';

test('approves the client certificate of a listed host', async () => {
  await using bench = await csrBench();
  await lists(bench, name);
  await asks(bench, client);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
  expect(bench.api.peek(certificateSigningRequests, 'csr-1')?.status?.conditions).toMatchObject([
    { status: 'True', message: 'This CSR was approved by the WMCO certificate Approver.' },
  ]);
  expect(bench.asked).toEqual([]);
  expect(bench.events).toEqual([]);
});

test('approves the serving certificate of its Node', async () => {
  await using bench = await csrBench();
  await lists(bench, name);
  await bench.put(nodes, node(name, '10.0.0.1'));
  await asks(bench, serving);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
});

test('approves the certificate of an agent on any Windows node', async () => {
  await using bench = await csrBench();
  await bench.put(nodes, node(name, '10.0.0.1'));
  await asks(bench, agentHere);
  expect(stateOf(bench)).toBe('Approved WICDAutoApproved');
});

test('a token brings the host into the cluster that it was made for, and no other', async () => {
  await using bench = await csrBench();
  await bench.put(nodes, node(name, '10.0.0.1'));
  await bench.put(nodes, node('win-2', '10.0.0.2'));
  await holds(bench, '10.0.0.1', 'JTI=1');
  await holds(bench, '10.0.0.2', 'JTI=0,JTI=2', { source: { kind: 'Machine', name: 'm' } });
  const win2 = { ...agentHere, commonNames: ['system:wicd-node:win-2'] };
  await asks(bench, { ...agentHere, credentialId: 'JTI=1' }, 'own');
  await asks(bench, { ...win2, credentialId: 'JTI=1' }, 'of another');
  await asks(bench, { ...win2, credentialId: 'JTI=2' }, 'of a Machine');
  expect(['own', 'of another', 'of a Machine'].map(csr => stateOf(bench, csr))).toEqual([
    'Approved WICDAutoApproved',
    'pending',
    'Approved WICDAutoApproved',
  ]);
  expect(bench.events).toEqual([expect.stringContaining('(token)')]);
});

test('approves as soon as it is written down to whom the token was given', async () => {
  await using bench = await csrBench();
  await bench.put(nodes, node(name, '10.0.0.1'));
  await lists(bench, '10.0.0.1');
  await asks(bench, { ...agentHere, credentialId: 'JTI=1' });
  expect(stateOf(bench)).toBe('pending');
  await holds(bench, '10.0.0.1', 'JTI=1');
  await settle();
  expect(stateOf(bench)).toBe('Approved WICDAutoApproved');
});

test('approves what was there before it started', async () => {
  const bench = sourceBench();
  await lists(bench, name);
  await asks(bench, client);
  const none = { find: async () => undefined };
  const connect = () => Promise.reject(new Error('nobody'));
  await bench.start(csrController({ ...bench.parts, hostKeys: none, material: { keysFor: async () => [] }, connect }));
  await using _ = bench;
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
});

const refusals: [about: string, change: Change, rule: string][] = [
  ['another signer', { ...client, signerName: 'example.com/other' }, 'signer'],
  ['another requester', { ...client, username: 'system:admin' }, 'requester'],
  ['another organization', { ...client, organizations: ['system:masters'] }, 'organization'],
  ['a usage too few', { ...client, usages: ['client auth'] }, 'usages'],
  ['names in a client certificate', { ...client, dnsNames: [name] }, 'no-alternative-names'],
  ['a server without a Node', serving, 'windows-node'],
  ['an agent without a Node', agentHere, 'windows-node'],
  ['an agent of another node', { ...agentHere, username: 'system:wicd-node:other' }, 'requester'],
];
for (const [about, change, rule] of refusals) {
  test(`leaves a request with ${about} pending, and says why once`, async () => {
    await using bench = await csrBench();
    await lists(bench, name);
    await asks(bench, change);
    expect(stateOf(bench)).toBe('pending');
    expect(bench.events).toEqual([
      expect.stringMatching(new RegExp(`^CertificateSigningRequest/csr-1 CSRRefused Not approved \\(${rule}\\): `)),
    ]);
    await bench.put(nodes, node('other', '10.0.0.7'));
    await lists(bench, 'win7.example.com');
    await bench.clock.advance(300_000);
    expect(bench.events).toHaveLength(1);
  });
}

test('tells of a name that no Node can have', async () => {
  await using bench = await csrBench();
  await asks(bench, { ...client, commonNames: ['system:node:WIN_1'] });
  expect(bench.events).toEqual([
    'CertificateSigningRequest/csr-1 NodeNameValidationFailed node name WIN_1 does not comply with naming rules defined in RFC1123: Requirements for internet hosts',
  ]);
});

test('tells of a request that is no text, if it may be one of ours', async () => {
  await using bench = await csrBench();
  const binary = (signerName: string) => ({ signerName, username: 'x', usages: [], request: '/w==' });
  await bench.put(certificateSigningRequests, { metadata: { name: 'ours' }, spec: binary(signer.kubeletClient) });
  await bench.put(certificateSigningRequests, { metadata: { name: 'user' }, spec: binary(signer.apiClient) });
  await bench.put(certificateSigningRequests, { metadata: { name: 'foreign' }, spec: binary('example.com/other') });
  expect(bench.events).toEqual([expect.stringMatching(/^CertificateSigningRequest\/ours CSRRefused .*\(request\)/)]);
});

const ignored: [about: string, change: Change][] = [
  ['of a node that is not listed', { ...client, commonNames: ['system:node:linux-1'] }],
  ['by which a node renews its own certificate', { ...client, username: `system:node:${name}` }],
  ['of somebody else', { ...client, commonNames: ['system:ovn-node:x'], signerName: signer.apiClient, username: 'x' }],
  ['that is approved already', { ...client, conditions: ['Approved'] }],
  ['that is denied', { ...client, conditions: ['Denied'] }],
];
for (const [about, change] of ignored) {
  test(`says nothing of a request ${about}`, async () => {
    await using bench = await csrBench({ [name]: name });
    await lists(bench, name, {}, { node: 'other', ipv4: '10.0.0.1' });
    await bench.put(nodes, node('other', '10.0.0.1'));
    bench.api.calls.length = 0;
    await asks(bench, change);
    expect(bench.events).toEqual([]);
    expect(bench.api.calls).toEqual([]);
    expect(bench.asked).toEqual([]);
  });
}

test('approves a request whose signing has failed', async () => {
  await using bench = await csrBench();
  await lists(bench, name);
  await asks(bench, { ...client, conditions: ['Failed'] });
  expect(stateOf(bench)).toBe('Failed, Approved WMCOApprove');
});

test('leaves kubelets of Machines to the cluster, and those of instances that are refused', async () => {
  await using bench = await csrBench();
  await lists(bench, name, { source: { kind: 'Machine', name: 'm1' } });
  await asks(bench, client);
  expect(stateOf(bench)).toBe('pending');
  const conditions = [
    { type: instanceCondition.accepted, status: 'False', reason: 'X', message: '', lastTransitionTime: '' } as const,
  ];
  await bench.put(windowsInstances, { metadata: { name, namespace }, spec: { address: name }, status: { conditions } });
  expect(stateOf(bench)).toBe('pending');
  expect(bench.events).toEqual([]);
  await lists(bench, name, { source: { kind: 'ConfigMap', name } });
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
});

const changes: [
  about: string,
  change: Change,
  before: (bench: SourceBench) => unknown,
  cause: (bench: SourceBench) => unknown,
][] = [
  ['the host is listed', client, () => undefined, bench => lists(bench, name)],
  ['the Node is there', serving, bench => lists(bench, name), bench => bench.put(nodes, node(name, '10.0.0.1'))],
  [
    'the Node reports the address',
    serving,
    async bench => {
      await lists(bench, name);
      await bench.put(nodes, node(name, '10.0.0.9'));
    },
    bench => bench.put(nodes, node(name, '10.0.0.1')),
  ],
  [
    'the Node is known to run Windows',
    agentHere,
    bench => bench.put(nodes, node(name, '10.0.0.1', 'linux')),
    bench => bench.put(nodes, node(name, '10.0.0.1')),
  ],
  [
    'the old Node is gone',
    client,
    async bench => {
      await lists(bench, name);
      await bench.put(nodes, node(name, '10.0.0.1'));
    },
    bench => bench.api.remove(nodes, name),
  ],
];
for (const [about, change, before, cause] of changes) {
  test(`approves a pending request as soon as ${about}`, async () => {
    await using bench = await csrBench();
    await before(bench);
    await asks(bench, change);
    expect(stateOf(bench)).toBe('pending');
    await cause(bench);
    await settle();
    expect(stateOf(bench)).toContain('Approved');
  });
}

test('decides by the Node that the server has now, not by an old picture', async () => {
  await using bench = await csrBench();
  await lists(bench, name);
  bench.api.isSilent = true;
  bench.api.put(nodes, node(name, '10.0.0.1'));
  bench.api.isSilent = false;
  await asks(bench, client);
  expect(stateOf(bench)).toBe('pending');
  expect(bench.events).toEqual([expect.stringContaining('already exists')]);
  await asks(bench, serving, 'csr-2');
  expect(stateOf(bench, 'csr-2')).toBe('Approved WMCOApprove');
});

test('never approves a client certificate for a Linux node, whatever its name', async () => {
  await using bench = await csrBench();
  await lists(bench, name);
  await bench.put(nodes, node(linux.name, '10.0.0.1', 'linux'));
  await asks(bench, client);
  expect(stateOf(bench)).toBe('pending');
});

test('tries again when the server does not take the approval', async () => {
  await using bench = await csrBench();
  await lists(bench, name);
  bench.api.before = ({ verb }) => {
    if (verb === 'replace') throw refused(500, 'InternalError');
  };
  await asks(bench, client);
  expect(stateOf(bench)).toBe('pending');
  bench.api.before = () => undefined;
  await bench.clock.advance(60_000);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
});

test('heartbeats of Nodes and steps of instances cause no pass', async () => {
  await using bench = await csrBench();
  await lists(bench, name);
  await bench.put(nodes, node(name, '10.0.0.1'));
  await asks(bench, { ...serving, usages: [] });
  bench.api.calls.length = 0;
  const { metadata, status } = bench.api.peek(nodes, name) as Node;
  const conditions = [{ type: 'Ready', status: 'True' }];
  await bench.put(nodes, { metadata, status: { ...status, conditions } });
  const instance = bench.instance(name) as InstanceObject;
  await bench.put(windowsInstances, { ...instance, status: { step: 'connect' } });
  expect(bench.api.calls).toEqual([]);
});

test('a host that has told its name to a journey is not asked for it', async () => {
  await using bench = await csrBench({ '10.0.0.1': name });
  await lists(bench, '10.0.0.1');
  await lists(bench, '10.0.0.2');
  bench.heardNames.tell(bench.instance('10.0.0.1') as InstanceObject, name);
  await asks(bench, client);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
  expect(bench.asked).toEqual([]);
});

test('a host that was asked in vain is not waited for once it has told its name to a journey', async () => {
  await using bench = await csrBench();
  await lists(bench, '10.0.0.1');
  await asks(bench, client);
  await settle();
  expect([stateOf(bench), bench.asked]).toEqual(['pending', ['10.0.0.1']]);
  bench.heardNames.tell(bench.instance('10.0.0.1') as InstanceObject, name);
  await settle();
  expect([stateOf(bench), bench.asked]).toEqual(['Approved WMCOApprove', ['10.0.0.1']]);
});

test('a Node that cannot be read stops nobody', async () => {
  await using bench = await csrBench();
  await bench.put(nodes, { metadata: { name: 'odd' }, status: { addresses: 5 as unknown as [] } });
  await lists(bench, name);
  await asks(bench, client);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
});
