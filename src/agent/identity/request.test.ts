import { createPublicKey, verify } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { textFromBase64 } from '#base/bytes.ts';
import { sha256 } from '#base/sha256.ts';
import { parseCertificateRequest } from '#contract/csr-request.ts';
import { agentServiceAccountUser } from '#contract/names.ts';
import { AgentRecords } from '../../../test/kit/agent-records.ts';
import { nodeOf } from '../../../test/kit/csr-facts.ts';
import { nodeName, showsKey } from '../../../test/kit/agent-certificates.ts';
import { agentIdentity, cloudNodeIdentity } from './kept-identity.ts';
import { createKey } from './key.ts';
import { prepareRequest } from './request.ts';

const hourMs = 3_600_000;
const key = createKey();
const prepare = (node = nodeName, durationMs = hourMs) => prepareRequest(agentIdentity(node), key.key, durationMs);
const textOf = ({ spec }: ReturnType<typeof prepare>) => textFromBase64(spec.request) ?? '';

test('requests what the approver accepts', () => {
  expect(prepare()).toEqual({
    metadata: { generateName: 'csr-' },
    spec: {
      request: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['digital signature', 'client auth', 'key encipherment'],
      expirationSeconds: 3600,
    },
  });
});

test('names cloud-node-manager of the node, and its group', () => {
  const request = prepareRequest(cloudNodeIdentity(nodeName), key.key, hourMs);
  expect(parseCertificateRequest(textOf(request))).toMatchObject({
    commonName: 'system:wicd-cloud-node:win1',
    organizations: ['system:wicd-cloud-nodes'],
  });
});

test('contains only user and group of the agent', () => {
  expect(textOf(prepare())).toMatch(/^-----BEGIN CERTIFICATE REQUEST-----\n/);
  expect(parseCertificateRequest(textOf(prepare()))).toMatchObject({
    commonName: 'system:wicd-node:win1',
    organizations: ['system:wicd-nodes'],
    otherAttributes: [],
    dnsNames: [],
    ipAddresses: [],
    emailAddresses: [],
    uris: [],
    otherNames: 0,
  });
});

test('is signed by the given key, and does not contain it', () => {
  const prepared = prepare();
  const { signed, subjectPublicKeyInfo } = parseCertificateRequest(textOf(prepared));
  const publicKey = createPublicKey({ key: Buffer.from(subjectPublicKeyInfo), format: 'der', type: 'spki' });
  expect(signed.algorithm).toBe('1.2.840.10045.4.3.2');
  expect(verify('sha256', signed.content, publicKey, signed.signature)).toBe(true);
  expect(createPublicKey(key.key).equals(publicKey)).toBe(true);
  expect(sha256(subjectPublicKeyInfo)).toBe(key.hash);
  expect(showsKey(`${inspect(prepared, { depth: 9 })}${JSON.stringify(prepared)}`)).toBe(false);
});

const durations: [durationMs: number, seconds: number][] = [
  [0, 600],
  [120_000, 600],
  [599_999, 600],
  [600_000, 600],
  [600_999, 600],
  [601_000, 601],
  [hourMs, 3600],
  [24 * hourMs, 86_400],
];
for (const [durationMs, seconds] of durations) {
  test(`requests ${seconds} s for ${durationMs} ms`, () =>
    expect(prepare(nodeName, durationMs).spec.expirationSeconds).toBe(seconds));
}

const names = ['win1', 'win-1.example.com', `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`];
const requesters: [name: string, username: (node: string) => string][] = [
  ['the first time', () => agentServiceAccountUser('wmco')],
  ['to renew', node => `system:wicd-node:${node}`],
];
for (const node of names) {
  for (const [name, username] of requesters) {
    test(`is approved ${name} for a name of ${node.length} characters`, () => {
      const object = prepare(node);
      const records = new AgentRecords('wmco');
      records.recordHost(node);
      records.recordKeys(node, { keyHash: key.hash });
      const request = {
        ...object,
        spec: { ...object.spec, username: username(node), groups: ['system:authenticated'] },
      };
      expect(records.decide(request, nodeOf(node, '10.0.0.1'))).toMatchObject({ do: 'approve' });
      expect(records.decide(request, nodeOf('other', '10.0.0.1'))).toMatchObject({ do: 'refuse' });
    });
  }
}
