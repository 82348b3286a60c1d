import { createPrivateKey, createPublicKey, verify } from 'node:crypto';
import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { textFromBase64 } from '#base/bytes.ts';
import { parseCertificateRequest } from '#contract/csr-request.ts';
import { agentServiceAccountUser } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { decideCsr, readCsr } from '#controllers/csr/decide.ts';
import { recordFor } from '../../../test/kit/approve-requests.ts';
import { nodeOf } from '../../../test/kit/csr-facts.ts';
import { nodeName, showsKey } from '../../../test/kit/agent-certificates.ts';
import { prepareRequest } from './request.ts';

const hourMs = 3_600_000;
const prepare = (node = nodeName, durationMs = hourMs) => prepareRequest(node, durationMs);
const textOf = ({ object }: ReturnType<typeof prepare>) => textFromBase64(object.spec.request) ?? '';

test('asks for what the approver knows', () => {
  expect(prepare().object).toEqual({
    metadata: { generateName: 'csr-' },
    spec: {
      request: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      signerName: 'kubernetes.io/kube-apiserver-client',
      usages: ['digital signature', 'client auth', 'key encipherment'],
      expirationSeconds: 3600,
    },
  });
});

test('names the agent of the node, its group and nothing else', () => {
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

test('is signed by its own P-256 key, which is given beside it', () => {
  const prepared = prepare();
  const { signed, subjectPublicKeyInfo } = parseCertificateRequest(textOf(prepared));
  const publicKey = createPublicKey({ key: Buffer.from(subjectPublicKeyInfo), format: 'der', type: 'spki' });
  expect(publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  expect(signed.algorithm).toBe('1.2.840.10045.4.3.2');
  expect(verify('sha256', signed.content, publicKey, signed.signature)).toBe(true);
  expect(prepared.key.reveal()).toMatch(/^-----BEGIN EC PRIVATE KEY-----\n/);
  expect(createPublicKey(createPrivateKey(prepared.key.reveal())).equals(publicKey)).toBe(true);
});

test('makes a key for every request and shows none', () => {
  const prepared = [prepare(), prepare()];
  expect(new Set(prepared.map(({ key }) => key.reveal())).size).toBe(2);
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
  test(`asks for ${seconds} s where ${durationMs} ms are wanted`, () =>
    expect(prepare(nodeName, durationMs).object.spec.expirationSeconds).toBe(seconds));
}

const names = ['win1', 'win-1.example.com', `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`];
const requesters: [name: string, username: (node: string) => string][] = [
  ['the first time', () => agentServiceAccountUser('wmco')],
  ['to renew', node => `system:wicd-node:${node}`],
];
for (const node of names) {
  for (const [name, username] of requesters) {
    test(`is approved ${name} for a name of ${node.length} characters`, () => {
      const { object } = prepare(node);
      const spec = { ...object.spec, username: username(node), groups: ['system:authenticated'] };
      const csr = readCsr(
        readObject({
          apiVersion: 'certificates.k8s.io/v1',
          kind: 'CertificateSigningRequest',
          metadata: { name: 'csr-1' },
          spec,
        }),
      );
      const cluster = { operatorNamespace: 'wmco', hasTokenIds: false, reserved: undefined, taken: {}, ageMs: 60_000 };
      const facts = { ...cluster, csr, instance: recordFor(node, csr, { hosts: {} }) };
      expect(decideCsr({ ...facts, node: nodeOf(node, '10.0.0.1') })).toMatchObject({ do: 'approve' });
      expect(decideCsr({ ...facts, node: nodeOf('other', '10.0.0.1') })).toMatchObject({ do: 'refuse' });
    });
  }
}
