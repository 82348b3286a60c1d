import { expect, test } from 'vitest';
import { createPublicKey } from 'node:crypto';
import { toBase64 } from '#base/bytes.ts';
import { sha256 } from '#base/sha256.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { signer } from '#contract/names.ts';
import { instanceCondition } from '#contract/windows-instance/resource.ts';
import { certificateSigningRequests, nodes } from '#kube/resources.ts';
import { TestCa } from '../../../../test/kit/certificates.ts';
import { asks, csrBench, inventoryText, lists, node, recorded, stateOf } from '../../../../test/kit/csr-bench.ts';
import { type Change, name, serving } from '../../../../test/kit/csr-facts.ts';
import { settle } from '../../../../test/kit/manual-clock.ts';

const record = recorded(name, '10.0.0.1');
const moved: Change = { ...serving, ips: [[10, 9, 0, 1]] };

async function servingBench() {
  const bench = await csrBench();
  await lists(bench, '10.0.0.1', record);
  await bench.put(nodes, node(name, '10.9.0.1'));
  return bench;
}

test('reads the host again when its kubelet asks for another address, and approves when the host has it', async () => {
  await using bench = await servingBench();
  bench.hosts.set('10.0.0.1', inventoryText(name, '10.9.0.1'));
  await asks(bench, moved);
  await settle();
  expect(bench.dialed).toEqual(['10.0.0.1']);
  expect(bench.instance('10.0.0.1')?.status?.host?.addresses).toEqual(['10.0.0.1', '10.9.0.1']);
  expect([stateOf(bench), bench.events]).toEqual(['Approved WMCOApprove', []]);
});

test('refuses an address that the host does not have, though its Node reports it', async () => {
  await using bench = await servingBench();
  bench.hosts.set('10.0.0.1', inventoryText(name, '10.0.0.1'));
  await asks(bench, moved);
  await bench.clock.advance(30_000);
  expect(stateOf(bench)).toBe('pending');
  expect(bench.events).toEqual([expect.stringMatching(/\(recorded-names\): .*10\.9\.0\.1/)]);
});

test('refuses another address while the host does not answer', async () => {
  await using bench = await servingBench();
  await asks(bench, moved);
  await bench.clock.advance(30_000);
  expect([stateOf(bench), bench.dialed]).toEqual(['pending', ['10.0.0.1']]);
  expect(bench.events).toEqual([expect.stringContaining('(recorded-names)')]);
});

test('reads no host for a request that could not be approved anyway', async () => {
  await using bench = await servingBench();
  await asks(bench, { ...moved, usages: [] });
  await asks(bench, { ...moved, dnsNames: ['kubernetes.default.svc'] }, 'csr-2');
  await settle();
  expect(bench.dialed).toEqual([]);
  expect(bench.events).toEqual([expect.stringContaining('(usages)'), expect.stringContaining('(alternative-names)')]);
});

test('reads a host once for many requests', async () => {
  await using bench = await servingBench();
  for (const csr of ['csr-1', 'csr-2', 'csr-3']) await asks(bench, moved, csr);
  await bench.clock.advance(60_000);
  expect(bench.dialed).toEqual(['10.0.0.1']);
});

test('does not approve a request of an instance that is rejected on the server but not yet in the cache', async () => {
  await using bench = await servingBench();
  const { metadata, spec } = bench.instance('10.0.0.1') ?? { metadata: {}, spec: { address: '', username: '' } };
  const rejection = {
    type: instanceCondition.accepted,
    status: 'False',
    reason: 'X',
    message: '',
    lastTransitionTime: '',
  };
  bench.api.put(windowsInstances, {
    metadata,
    spec,
    status: { ...record, conditions: [{ ...rejection, status: 'False' }] },
  });
  await asks(bench, serving);
  expect(stateOf(bench)).toBe('pending');
});

test('a hostile Node that reports the address of a host does not keep it from its certificate', async () => {
  await using bench = await servingBench();
  await bench.put(nodes, node('evil', '10.0.0.1'));
  await asks(bench, serving);
  expect(stateOf(bench)).toBe('Approved WMCOApprove');
});

test('a hostile host that says it has the address of another gets no certificate for it', async () => {
  await using bench = await servingBench();
  const host = { name: 'evil', addresses: ['10.0.0.66', '10.0.0.1'] };
  await lists(bench, '10.0.0.66', recorded('evil', '10.0.0.66', { host }));
  await bench.put(nodes, node('evil', '10.0.0.1'));
  const evil = { commonNames: ['system:node:evil'], username: 'system:node:evil', dnsNames: ['evil'] };
  await asks(bench, { ...serving, ...evil });
  expect(stateOf(bench)).toBe('pending');
  expect(bench.events).toEqual([expect.stringContaining('belongs to WindowsInstance 10.0.0.1')]);
});

const notAfter = Date.parse('2026-03-02T12:00:00Z');

async function issue(bench: Awaited<ReturnType<typeof csrBench>>, commonName: string) {
  const { cert, key } = new TestCa().issue({ commonName, notAfter });
  const keyHash = sha256(createPublicKey(key).export({ type: 'spki', format: 'der' }));
  const put = () =>
    bench.put(certificateSigningRequests, {
      metadata: { name: 'issued' },
      spec: { signerName: signer.apiClient, username: 'x', usages: [], request: '' },
      status: { conditions: [{ type: 'Approved', status: 'True' }], certificate: toBase64(cert) },
    });
  return { keyHash, put };
}

test('records until when the certificate of an agent is good, once', async () => {
  await using bench = await csrBench();
  const { keyHash, put } = await issue(bench, `system:wicd-node:${name}`);
  const agent = { keyHash, installed: '2026-03-01T12:00:00Z' };
  await lists(bench, '10.0.0.1', { ...record, agent });
  await put();
  await put();
  expect(bench.instance('10.0.0.1')?.status?.agent).toEqual({ ...agent, certificateEnds: '2026-03-02T12:00:00Z' });
  expect(bench.api.calls.filter(({ verb }) => verb === 'patch')).toHaveLength(1);
});

test('records no end of a certificate for another key', async () => {
  await using bench = await csrBench();
  const { put } = await issue(bench, `system:wicd-node:${name}`);
  await lists(bench, '10.0.0.1', record);
  await put();
  expect(bench.instance('10.0.0.1')?.status).toEqual(record);
});
