import { createPublicKey } from 'node:crypto';
import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { sha256 } from '#base/sha256.ts';
import { type WindowsInstance, windowsInstances } from '#cluster/windows-instance-resource.ts';
import { signer } from '#contract/names.ts';
import type { CertificateSigningRequest } from '#kube/resources.ts';
import { TestCa } from '../../../test/kit/certificates.ts';
import { MemoryApi, refused } from '../../../test/kit/memory-api.ts';
import { recordEnd } from './act/record.ts';
import { isNewEnd, issuedIdentity } from './certificate-ends.ts';

const { signal } = new AbortController();
const endsMs = Date.parse('2026-03-02T12:00:00Z');
const later = endsMs + 3_600_000;
const known = { keyHash: 'a', installed: '2026-03-01T12:00:00Z' };

function issued(commonName: string, signerName: string = signer.apiClient) {
  const { cert, key } = new TestCa().issue({ commonName, notAfter: endsMs });
  const request: CertificateSigningRequest = {
    metadata: { name: 'csr-1' },
    spec: { request: '', signerName },
    status: { certificate: toBase64(cert) },
  };
  return { request, keyHash: sha256(createPublicKey(key).export({ type: 'spki', format: 'der' })) };
}

test('reads what was issued for an agent and for cloud-node-manager', () => {
  const agent = issued('system:wicd-node:win-1');
  expect(issuedIdentity(agent.request)).toEqual({ member: 'agent', node: 'win-1', keyHash: agent.keyHash, endsMs });
  const cloud = issued('system:wicd-cloud-node:win-1');
  expect(issuedIdentity(cloud.request)).toMatchObject({ member: 'cloudNode', node: 'win-1', keyHash: cloud.keyHash });
});

const others: [string, CertificateSigningRequest][] = [
  ['a kubelet', issued('system:node:win-1').request],
  ['a user', issued('alice').request],
  ['another signer', issued('system:wicd-node:win-1', 'example.com/other').request],
  ['a request without a certificate', { metadata: {}, spec: { request: '', signerName: signer.apiClient } }],
  [
    'a certificate that cannot be read',
    { metadata: {}, spec: { request: '', signerName: signer.apiClient }, status: { certificate: 'eA==' } },
  ],
];
for (const [title, request] of others) {
  test(`records nothing for ${title}`, () => expect(issuedIdentity(request)).toBeUndefined());
}

const news: [string, Parameters<typeof isNewEnd>[0], boolean][] = [
  ['the first certificate', known, true],
  ['a later one', { ...known, certificateEnds: '2026-03-02T11:59:59Z' }, true],
  ['one that is recorded', { ...known, certificateEnds: '2026-03-02T12:00:00Z' }, false],
  ['an earlier one', { ...known, certificateEnds: '2026-03-03T12:00:00Z' }, false],
  ['one after an end that cannot be read', { ...known, certificateEnds: 'x' }, true],
  ['one for another key', { ...known, keyHash: 'b' }, false],
  ['one for a host without a recorded key', undefined, false],
];
for (const [title, identity, want] of news) {
  test(`${title} is ${want ? '' : 'not '}news`, () =>
    expect(isNewEnd(identity, { member: 'agent', node: 'win-1', keyHash: 'a', endsMs })).toBe(want));
}

function bench(status: WindowsInstance['status']) {
  const api = new MemoryApi();
  const metadata = { name: 'win-1', namespace: 'wmco' };
  const instance = api.put(windowsInstances, {
    metadata,
    spec: { address: 'x', username: 'Administrator' },
    ...(status && { status }),
  });
  const now = () => api.peek(windowsInstances, 'win-1', 'wmco')?.status;
  const record = (over: object = {}, of = instance) =>
    recordEnd(of, { member: 'agent', node: 'win-1', keyHash: 'a', endsMs, ...over }, api, signal);
  return { api, instance, now, record };
}

test('records the end of a certificate beside what is known of the key', async () => {
  const { now, record, api } = bench({ agent: known, cloudNode: { ...known, keyHash: 'c' }, phase: 'Ready' });
  await record();
  const ends = '2026-03-02T12:00:00Z';
  expect(now()).toEqual({
    agent: { ...known, certificateEnds: ends },
    cloudNode: { ...known, keyHash: 'c' },
    phase: 'Ready',
  });
  await record({ member: 'cloudNode', keyHash: 'c', endsMs: later });
  expect(now()?.cloudNode).toEqual({ ...known, keyHash: 'c', certificateEnds: '2026-03-02T13:00:00Z' });
  expect(api.calls.filter(({ verb }) => verb === 'patch').map(({ resource }) => resource)).toEqual([
    'windowsinstances/status',
    'windowsinstances/status',
  ]);
});

test('records an end once, and no earlier one after it', async () => {
  const { api, now, record } = bench({ agent: known });
  await record({ endsMs: later });
  await record({ endsMs: later });
  await record();
  expect(now()?.agent?.certificateEnds).toBe('2026-03-02T13:00:00Z');
  expect(api.calls.filter(({ verb }) => verb === 'patch')).toHaveLength(1);
});

test('records nothing for another key, another instance of the name, or one that is gone', async () => {
  const { api, instance, now, record } = bench({ agent: known });
  await record({ keyHash: 'b' });
  await record({}, { ...instance, metadata: { ...instance.metadata, uid: 'of the one before' } });
  expect(now()).toEqual({ agent: known });
  api.remove(windowsInstances, 'win-1', 'wmco');
  await record();
  expect(api.calls.filter(({ verb }) => verb === 'patch')).toEqual([]);
});

test('fails when the server refuses', async () => {
  const { api, record } = bench({ agent: known });
  api.before = () => {
    throw refused(403, 'Forbidden');
  };
  await expect(record()).rejects.toThrow('Forbidden');
});
