import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentServiceAccountUser, signer } from '#contract/names.ts';
import { type Reserved, reservedProblem } from '#contract/reserved.ts';
import { requestKeyHash } from '../../../test/kit/csr.ts';
import {
  agent,
  agentAccount,
  agentToken,
  bootstrapper,
  brief,
  type Change,
  client,
  cloudNode,
  decide,
  kubeletToken,
  name,
  nodeOf,
  recordOf,
  serving,
  windows,
} from '../../../test/kit/csr-facts.ts';

const reserved: Reserved = {
  networks: ['8.8.8.0/24'],
  addresses: ['10.0.0.9'],
  names: ['api.corp'],
  domains: ['apps.corp'],
};
const someName = fc.constantFrom(name, 'win1', 'win', 'win2', 'api.corp', '*.corp', 'x.apps.corp', 'evil.example');
const someIp = fc.constantFrom([10, 0, 0, 1], [10, 0, 0, 2], [10, 0, 0, 9], [8, 8, 8, 8], Array<number>(16).fill(0));
const prefixes = ['system:node:', 'system:wicd-node:', 'system:wicd-cloud-node:'];
const someUser = fc.constantFrom(
  bootstrapper,
  agentAccount,
  agentServiceAccountUser('default'),
  ...[...prefixes, 'system:wicd-node'].flatMap(prefix => [prefix + name, `${prefix}win2`, prefix]),
  'system:admin',
  '',
);
const someAddresses = fc.subarray(['10.0.0.1', '10.0.0.2', '10.0.0.9', '8.8.8.8']);
const someRecord = fc
  .record({
    node: fc.constantFrom(name, name, name, 'win2', ''),
    isMachine: fc.boolean(),
    addresses: someAddresses,
    servingNames: fc.subarray(['win1', 'api.corp', '*.corp', '10.0.0.2']),
    tokens: fc.subarray([
      { id: kubeletToken, use: 'kubelet' as const },
      { id: agentToken, use: 'agent' as const },
      { id: agentToken, use: 'kubelet' as const },
    ]),
    agentKeyHash: fc.constantFrom(requestKeyHash, 'b'.repeat(64), undefined),
    cloudKeyHash: fc.constantFrom(requestKeyHash, 'b'.repeat(64), undefined),
    hasFormerAgent: fc.boolean(),
  })
  .map(more => recordOf(name, '10.0.0.1', more));
const base = fc.constantFrom(client, serving, agent, cloudNode);
const oneChange = {
  commonNames: fc.tuple(fc.constantFrom(...prefixes), someName).map(parts => [parts.join('')]),
  organizations: fc.subarray(['system:nodes', 'system:wicd-nodes', 'system:wicd-cloud-nodes', 'system:masters']),
  dnsNames: fc.array(someName, { maxLength: 2 }),
  ips: fc.array(someIp, { maxLength: 2 }),
  emails: fc.subarray(['a@b.c']),
  uris: fc.subarray(['spiffe://x']),
  usages: fc.subarray(['digital signature', 'client auth', 'server auth', 'key encipherment']),
  signerName: fc.constantFrom(...Object.values(signer), 'example.com/other'),
  username: someUser,
  credentialId: fc.constantFrom(kubeletToken, agentToken, 'JTI=of-another', undefined),
  hasTokenIds: fc.boolean(),
  groups: fc.subarray(['system:nodes', 'system:authenticated', 'system:masters']),
  node: fc.constantFrom(windows, nodeOf(name, '8.8.8.8'), nodeOf('win2', '10.0.0.2'), undefined),
  instance: fc.option(someRecord, { nil: undefined }),
  taken: fc.constantFrom({}, { '10.0.0.2': 'Node win2' }),
  reserved: fc.constant(reserved),
  ageMs: fc.constantFrom(0, 60_000),
};
const anyChange = fc.record(oneChange);

/** Good requests with up to three members changed, so that many of them are still approved. */
const fewChanges = fc
  .tuple(anyChange, fc.subarray(Object.keys(oneChange), { maxLength: 3 }))
  .map(([change, kept]) => Object.fromEntries(Object.entries(change).filter(([key]) => kept.includes(key))) as Change);

/** Counts the approvals, so that a property cannot hold because nothing is ever approved. */
function forApproved(holds: (change: Change) => boolean): void {
  let approved = 0;
  fc.assert(
    fc.property(base, fewChanges, (good, change) => {
      const all = { ...good, ...change };
      if (decide(all).do !== 'approve') return true;
      approved += 1;
      return holds(all);
    }),
    { numRuns: 1000 },
  );
  expect(approved).toBeGreaterThan(50);
}

const subjectOf = (change: Change) => change.commonNames?.[0] ?? '';
const isKubelet = (change: Change) => subjectOf(change).startsWith('system:node:');
const nodeOfSubject = (change: Change) => subjectOf(change).split(':').at(-1) ?? '';
const askedNames = (change: Change) => [...(change.dnsNames ?? []), ...(change.ips ?? []).map(ip => ip.join('.'))];

test('no name outside the record is ever approved, whatever the Node reports', () => {
  forApproved(change => {
    const { addresses = [], servingNames = [] } = change.instance ?? {};
    const own = [nodeOfSubject(change), ...addresses, ...servingNames];
    return askedNames(change).every(one => own.includes(one)) && !change.emails?.length && !change.uris?.length;
  });
});

test('no name of the cluster or of another host is ever approved, whatever the record has', () => {
  forApproved(change =>
    askedNames(change).every(
      one => (change.reserved && reservedProblem(one, change.reserved)) === undefined && !change.taken?.[one],
    ),
  );
});

test('no request is ever approved for a Node that the record does not have', () => {
  forApproved(change => change.instance?.node === nodeOfSubject(change));
});

test('no unknown requester is ever approved', () => {
  forApproved(change => {
    const agentOfNode = `system:wicd-node:${nodeOfSubject(change)}`;
    const allowed = isKubelet(change) ? [bootstrapper, subjectOf(change)] : [agentAccount, agentOfNode];
    return allowed.includes(change.username ?? '');
  });
});

test('no token is ever good for another host or use', () => {
  forApproved(({ username = '', credentialId, hasTokenIds = true, ...change }) => {
    if (!username.startsWith('system:serviceaccount:')) return true;
    if (credentialId === undefined) return !hasTokenIds;
    const use = isKubelet(change) ? 'kubelet' : 'agent';
    return change.instance?.tokens.some(token => token.id === credentialId && token.use === use) === true;
  });
});

test('no key of an agent is ever approved but the recorded one, unless an agent of the Go operator runs', () => {
  forApproved(change => {
    const { instance } = change;
    if (isKubelet(change)) return true;
    if (subjectOf(change).startsWith('system:wicd-cloud-node:')) return instance?.cloudKeyHash === requestKeyHash;
    const isFormer = instance?.hasFormerAgent === true && instance.agentKeyHash === undefined;
    return isFormer || instance?.agentKeyHash === requestKeyHash;
  });
});

test('no other group than that of the certificate is ever approved', () => {
  const groups = ['system:nodes', 'system:wicd-nodes', 'system:wicd-cloud-nodes'];
  forApproved(change => {
    const prefix = prefixes.findIndex(each => subjectOf(change).startsWith(each));
    return change.organizations?.join() === groups[prefix];
  });
});

test('no kubelet is ever approved whose name is only part of a host’s name', () => {
  const label = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  fc.assert(
    fc.property(label, label, label, (before, part, after) => {
      const instance = recordOf(`${before}${part}${after}.example.com`, '10.0.0.1');
      return decide(client, { instance, commonNames: [`system:node:${part}`] }).do !== 'approve';
    }),
    { numRuns: 500 },
  );
});

test('anything in the request text gives a decision', () => {
  const isRefused = (good: Change, requestText: string) => brief(decide(good, { requestText })) === 'request';
  fc.assert(fc.property(base, fc.string(), isRefused), { numRuns: 500 });
});
