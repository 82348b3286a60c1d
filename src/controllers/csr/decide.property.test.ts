import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentServiceAccountUser, signer } from '#contract/names.ts';
import {
  agent,
  agentAccount,
  bootstrapper,
  brief,
  type Change,
  client,
  decide,
  name,
  nodeOf,
  serving,
  windows,
} from '../../../test/kit/csr-facts.ts';

const byIp = [
  { address: '10.0.0.1', ipv4: '10.0.0.1' },
  { address: '10.0.0.2', ipv4: '10.0.0.2' },
];
const someName = fc.constantFrom(name, 'win1', 'win', 'win2', 'win2.example.com', 'evil.example', '');
const someIp = fc.constantFrom([10, 0, 0, 1], [10, 0, 0, 2], [8, 8, 8, 8], Array<number>(16).fill(0));
const someUser = fc.constantFrom(
  bootstrapper,
  agentAccount,
  agentServiceAccountUser('default'),
  ...['system:node:', 'system:wicd-node:', 'system:wicd-node'].flatMap(prefix => [
    prefix + name,
    `${prefix}win2`,
    prefix,
  ]),
  'system:admin',
  '',
);
const someUsages = fc.subarray(['digital signature', 'client auth', 'server auth', 'key encipherment']);
const someInstances = fc.subarray([...byIp, { address: name, ipv4: undefined }, { address: 'win2', ipv4: undefined }]);
const base = fc.constantFrom(client, serving, agent);
const oneChange = {
  commonNames: fc.tuple(fc.constantFrom('system:node:', 'system:wicd-node:'), someName).map(parts => [parts.join('')]),
  organizations: fc.subarray(['system:nodes', 'system:wicd-nodes', 'system:masters']),
  dnsNames: fc.array(someName, { maxLength: 2 }),
  ips: fc.array(someIp, { maxLength: 2 }),
  emails: fc.subarray(['a@b.c']),
  uris: fc.subarray(['spiffe://x']),
  usages: someUsages,
  signerName: fc.constantFrom(...Object.values(signer), 'example.com/other'),
  username: someUser,
  groups: fc.subarray(['system:nodes', 'system:authenticated', 'system:masters']),
  nodes: fc.subarray([windows, nodeOf('win2', '10.0.0.2'), nodeOf('win', '10.0.0.3', { labels: {} })]),
  instances: someInstances,
  hostNames: fc.dictionary(fc.constantFrom('10.0.0.1', '10.0.0.2'), someName, { maxKeys: 2 }),
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
    { numRuns: 2000 },
  );
  expect(approved).toBeGreaterThan(50);
}

const subjectOf = (change: Change) => change.commonNames?.[0] ?? '';

test('nothing with a name outside the Node’s own addresses is ever approved', () => {
  forApproved(change => {
    const node = change.nodes?.find(one => subjectOf(change) === `system:node:${one.name}`);
    const own = [node?.name, ...(node?.addresses.map(item => item.address) ?? [])];
    const asked = [...(change.dnsNames ?? []), ...(change.ips ?? []).map(ip => ip.join('.'))];
    return asked.every(one => own.includes(one)) && !change.emails?.length && !change.uris?.length;
  });
});

test('nobody but the requesters we know is ever approved', () => {
  forApproved(({ username, ...change }) => {
    const isKubelet = subjectOf(change).startsWith('system:node:');
    return username === subjectOf(change) || username === (isKubelet ? bootstrapper : agentAccount);
  });
});

test('no other group than that of the certificate is ever approved', () => {
  forApproved(change => {
    const group = subjectOf(change).startsWith('system:node:') ? 'system:nodes' : 'system:wicd-nodes';
    return change.organizations?.join() === group;
  });
});

test('no kubelet is ever approved whose name is only part of a host’s name', () => {
  const label = fc.stringMatching(/^[a-z0-9]{1,8}$/);
  fc.assert(
    fc.property(label, label, label, (before, part, after) => {
      const instances = [{ address: '10.0.0.1', ipv4: '10.0.0.1' }];
      const host = `${before}${part}${after}.example.com`;
      const known = { instances, ptrAnswers: { '10.0.0.1': [host] }, hostNames: { '10.0.0.1': host } };
      return decide(client, { ...known, commonNames: [`system:node:${part}`] }).do !== 'approve';
    }),
    { numRuns: 500 },
  );
});

test('anything in the request text gives a decision', () => {
  const isRefused = (good: Change, requestText: string) => brief(decide(good, { requestText })) === 'request';
  fc.assert(fc.property(base, fc.string(), isRefused), { numRuns: 500 });
});
