import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { signer } from '#contract/names.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { certificateSigningRequests, type Node, nodes } from '#kube/resources.ts';
import { agentHere, asks, csrBench, lists, node, recorded, stateOf } from '../../../test/kit/csr-bench.ts';
import { type Change, client, linux, name, serving } from '../../../test/kit/csr-facts.ts';
import { settle } from '../../../test/kit/manual-clock.ts';
import { refused } from '../../../test/kit/memory-api.ts';
import type { SourceBench } from '../../../test/kit/source-bench.ts';

const record = recorded(name, '10.0.0.1');

test('approves the first client certificate of a recorded host', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record);
  await asks(bench, client);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
  expect(bench.api.peek(certificateSigningRequests, 'csr-1')?.status?.conditions).toMatchObject([
    { status: 'True', message: 'This CSR was approved by the WMCO certificate Approver.' },
  ]);
  expect(bench.dialed).toEqual([]);
  expect(bench.events).toEqual([]);
});

test('a host that has got a kubelet certificate for one name gets none for another, whatever it calls itself', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record);
  await asks(bench, client);
  const { status } = bench.api.peek(windowsInstances, name, 'wmco') ?? {};
  expect(status?.certifiedName).toBe(name);
  await lists(bench, name, { ...record, ...status, host: { name: 'worker-7', addresses: ['10.0.0.1'] } });
  await asks(bench, { ...client, commonNames: ['system:node:worker-7'] }, 'csr-2');
  expect(stateOf(bench, 'csr-2')).toBe('pending');
});

test('a request is not approved when the host has got another name', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record);
  bench.api.before = async call => {
    if (call.verb !== 'patch') return;
    bench.api.before = () => undefined;
    bench.api.put(windowsInstances, {
      ...bench.api.peek(windowsInstances, name, 'wmco'),
      status: { ...record, certifiedName: 'worker-7' },
    } as WindowsInstance);
    throw refused(409, 'Conflict');
  };
  await asks(bench, client);
  expect(stateOf(bench)).toBe('pending');
});

test('approves the serving certificate of its Node', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record);
  await bench.put(nodes, node(name, '10.0.0.1'));
  await asks(bench, serving);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
});

test('approves the certificate of the agent of a recorded host, a Machine too', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record, { source: { kind: 'Machine', name: 'm' } });
  await bench.put(nodes, node(name, '10.0.0.1'));
  await asks(bench, agentHere);
  expect(stateOf(bench)).toBe('Approved WICDAutoApproved');
});

test('a token brings the host into the cluster that it was made for, and no other', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record);
  const win2 = { ...record, tokens: [], host: { name: 'win-2', addresses: ['10.0.0.2'] }, ipv4: '10.0.0.2' };
  await lists(bench, '10.0.0.2', win2);
  await asks(bench, client, 'own');
  await asks(bench, { ...client, commonNames: ['system:node:win-2'] }, 'of another');
  expect(['own', 'of another'].map(csr => stateOf(bench, csr))).toEqual(['Approved WMCOApprove', 'pending']);
  expect(bench.events).toEqual([expect.stringContaining('(token)')]);
});

test('a token without id is refused, unless the server is too old to write one', async () => {
  for (const [hasTokenIds, want] of [
    [true, 'pending'],
    [false, 'Approved WMCOApprove'],
  ] as const) {
    await using bench = await csrBench({ hasTokenIds });
    await lists(bench, name, record);
    await asks(bench, { ...client, credentialId: undefined });
    expect(stateOf(bench)).toBe(want);
  }
});

test('a request that comes before the key is recorded waits without an event', async () => {
  await using bench = await csrBench();
  await bench.put(nodes, node(name, '10.0.0.1'));
  const { agent, ...early } = record;
  await lists(bench, name, early);
  await asks(bench, agentHere);
  await settle();
  expect([stateOf(bench), bench.events]).toEqual(['pending', []]);
  await lists(bench, name, { ...early, ...(agent && { agent }) });
  await settle();
  expect([stateOf(bench), bench.events]).toEqual(['Approved WICDAutoApproved', []]);
});

test('a request whose key is not recorded in time is reported, and approved all the same once it is', async () => {
  await using bench = await csrBench();
  await bench.put(nodes, node(name, '10.0.0.1'));
  const { agent, ...early } = record;
  await lists(bench, name, early);
  await asks(bench, agentHere);
  await bench.clock.advance(31_000);
  expect(bench.events).toEqual([expect.stringContaining('(key)')]);
  await lists(bench, name, { ...early, ...(agent && { agent }) });
  expect(stateOf(bench)).toBe('Approved WICDAutoApproved');
});

test('a stolen certificate is not renewed once the instance is gone', async () => {
  await using bench = await csrBench();
  const renewal = { ...agentHere, username: `system:wicd-node:${name}`, credentialId: undefined };
  await bench.put(nodes, node(name, '10.0.0.1'));
  await lists(bench, name, record);
  await asks(bench, renewal);
  expect(stateOf(bench)).toBe('Approved WICDAutoApproved');
  bench.api.remove(windowsInstances, name, 'wmco');
  await asks(bench, renewal, 'csr-2');
  expect(stateOf(bench, 'csr-2')).toBe('pending');
  expect(bench.events).toEqual([expect.stringContaining('(instance)')]);
});

test('decides by the record that the server has now, not by an old picture', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record);
  bench.api.isPaused = true;
  await lists(bench, name, { ...record, tokens: [] });
  bench.api.isPaused = false;
  await asks(bench, client);
  expect([stateOf(bench), bench.events]).toEqual(['pending', [expect.stringContaining('(token)')]]);
});

test('approves what was there before it started', async () => {
  await using bench = await csrBench({ isStarted: false });
  await lists(bench, name, record);
  await asks(bench, client);
  await bench.startController();
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
    await lists(bench, name, record);
    await asks(bench, change);
    expect(stateOf(bench)).toBe('pending');
    expect(bench.events).toEqual([
      expect.stringMatching(new RegExp(`^CertificateSigningRequest/csr-1 CSRRefused Not approved \\(${rule}\\): `)),
    ]);
    await bench.put(nodes, node('other', '10.0.0.7'));
    await lists(bench, 'win7.example.com', recorded('win7', '10.0.0.8'));
    await bench.clock.advance(300_000);
    expect(bench.events).toHaveLength(1);
  });
}

test('reports a name that no Node can have', async () => {
  await using bench = await csrBench();
  await asks(bench, { ...client, commonNames: ['system:node:WIN_1'] });
  expect(bench.events).toEqual([
    'CertificateSigningRequest/csr-1 NodeNameValidationFailed node name WIN_1 does not comply with naming rules defined in RFC1123: Requirements for internet hosts',
  ]);
});

test('reports a request that is no text, if it may be one of the operator', async () => {
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
  test(`reports nothing of a request ${about}`, async () => {
    await using bench = await csrBench();
    await lists(bench, name, record);
    await bench.put(nodes, node('other', '10.0.0.1'));
    bench.api.calls.length = 0;
    await asks(bench, change);
    expect(bench.events).toEqual([]);
    expect(bench.api.calls).toEqual([]);
    expect(bench.dialed).toEqual([]);
  });
}

test('approves a request whose signing has failed', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record);
  await asks(bench, { ...client, conditions: ['Failed'] });
  expect(stateOf(bench)).toBe('Failed, Approved WMCOApprove');
});

test('leaves kubelets of Machines to the cluster, and those of instances that are not accepted', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record, { source: { kind: 'Machine', name: 'm1' } });
  await asks(bench, client);
  expect(stateOf(bench)).toBe('pending');
  const conditions = [
    { type: instanceCondition.accepted, status: 'False', reason: 'X', message: '', lastTransitionTime: '' } as const,
  ];
  await lists(bench, name, { ...record, conditions });
  expect(stateOf(bench)).toBe('pending');
  expect(bench.events).toEqual([]);
  await lists(bench, name, record, { source: { kind: 'ConfigMap', name } });
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
});

const changes: [
  about: string,
  change: Change,
  before: (bench: SourceBench) => unknown,
  cause: (bench: SourceBench) => unknown,
][] = [
  ['the host is recorded', client, bench => lists(bench, name), bench => lists(bench, name, record)],
  [
    'it is recorded that the token was handed out',
    client,
    bench => lists(bench, name, { ...record, tokens: [] }),
    bench => lists(bench, name, record),
  ],
  [
    'the Node is there',
    serving,
    bench => lists(bench, name, record),
    bench => bench.put(nodes, node(name, '10.0.0.1')),
  ],
  [
    'the address is recorded',
    serving,
    async bench => {
      await lists(bench, name, recorded(name, '10.0.0.9'));
      await bench.put(nodes, node(name, '10.0.0.1'));
    },
    bench => lists(bench, name, record),
  ],
  [
    'the administrator adds the name',
    { ...serving, dnsNames: ['alias.corp'] },
    async bench => {
      await lists(bench, name, record);
      await bench.put(nodes, node(name, '10.0.0.1'));
    },
    bench => lists(bench, name, record, { servingNames: ['alias.corp'] }),
  ],
  [
    'the Node is known to run Windows',
    agentHere,
    async bench => {
      await lists(bench, name, record);
      await bench.put(nodes, node(name, '10.0.0.1', 'linux'));
    },
    bench => bench.put(nodes, node(name, '10.0.0.1')),
  ],
  [
    'the old Node is gone',
    client,
    async bench => {
      await lists(bench, name, record);
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
  await lists(bench, name, record);
  bench.api.isPaused = true;
  bench.api.put(nodes, node(name, '10.0.0.1'));
  bench.api.isPaused = false;
  await asks(bench, client);
  expect(stateOf(bench)).toBe('pending');
  expect(bench.events).toEqual([expect.stringContaining('already exists')]);
  await asks(bench, serving, 'csr-2');
  expect(stateOf(bench, 'csr-2')).toBe('Approved WMCOApprove');
});

test('never approves a client certificate for a Linux node, whatever its name', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record);
  await bench.put(nodes, node(linux.name, '10.0.0.1', 'linux'));
  await asks(bench, client);
  expect(stateOf(bench)).toBe('pending');
});

test('retries when the server does not take the approval', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record);
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
  await lists(bench, name, record);
  await bench.put(nodes, node(name, '10.0.0.1'));
  await asks(bench, { ...serving, usages: [] });
  bench.api.calls.length = 0;
  const { metadata, status } = bench.api.peek(nodes, name) as Node;
  const conditions = [{ type: 'Ready', status: 'True' }];
  await bench.put(nodes, { metadata, status: { ...status, conditions } });
  const instance = bench.instance(name) as WindowsInstance;
  await bench.put(windowsInstances, { ...instance, status: { ...record, step: 'connect' } });
  expect(bench.api.calls).toEqual([]);
});

test('a Node that cannot be read stops no other', async () => {
  await using bench = await csrBench();
  await bench.put(nodes, { metadata: { name: 'odd' }, status: { addresses: 5 as unknown as [] } });
  await lists(bench, name, record);
  await asks(bench, client);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
});

test('waits with serving certificates until the names and addresses of the cluster are known', async () => {
  await using bench = await csrBench();
  bench.facts.become(undefined);
  await lists(bench, name, record);
  await bench.put(nodes, node(name, '10.0.0.1'));
  await asks(bench, serving);
  expect([stateOf(bench), bench.events]).toEqual(['pending', []]);
  bench.facts.become({});
  await bench.clock.advance(30_000);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
});

test('a request that is decided by others is left alone', async () => {
  await using bench = await csrBench();
  await lists(bench, name, record);
  await bench.put(certificateSigningRequests, {
    metadata: { name: 'csr-1' },
    spec: { signerName: signer.apiClient, username: 'x', usages: [], request: '' },
    status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: toBase64('no certificate') },
  });
  expect(bench.instance(name)?.status).toEqual(record);
});
