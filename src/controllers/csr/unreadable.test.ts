import { expect, test } from 'vitest';
import { toBase64 } from '#base/bytes.ts';
import { parseCertificateRequest } from '#contract/csr-request.ts';
import { signer } from '#contract/names.ts';
import { readObject } from '#contract/object.ts';
import { makeCsr } from '../../../test/kit/csr.ts';
import { agent, agentAccount, brief, type Change, client, decide, serving } from '../../../test/kit/csr-facts.ts';
import { knownAttacks } from '../../../test/kit/hostile-requests.ts';
import { readCsr } from './decide.ts';

const read = (request: string) =>
  readCsr(
    readObject({
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: 'csr-1' },
      spec: { request },
    }),
  );
const text = makeCsr();
const plain = toBase64(text);

test('takes the bytes that the signer takes', () => {
  expect(read(plain).parsed).toEqual({ ok: true, value: parseCertificateRequest(text) });
});

const encodings: [string, string][] = [
  ['with line breaks', plain.replaceAll(/(.{76})/g, '$1\n')],
  ['with a line break at the end', `${plain}\n`],
  ['with stray bits at the end', 'eHh='],
  ['without its padding', 'eHg'],
  ['in the alphabet of URLs', '-_-_'],
];
for (const [name, request] of encodings) {
  test(`refuses base64 ${name}`, () =>
    expect(() => read(request)).toThrow(expect.objectContaining({ code: 'CSR_MALFORMED' })));
}

const kinds: Record<string, Change> = { 'kubelet-client': client, 'kubelet-serving': serving, agent };
const attacks = knownAttacks().filter(({ evil }) => evil !== undefined);
test.each(attacks)('refuses $name', ({ name, bytes }) => {
  const base = kinds[name.split(':')[0] ?? ''] ?? client;
  expect(brief(decide(base, { requestText: Buffer.from(bytes).toString() }))).toBe('request');
});

const strangers: [string, Change, string][] = [
  ['refuses what a kubelet asks for', client, 'request'],
  ['refuses what a kubelet that has joined asks for', serving, 'request'],
  ['refuses what the account of the agents asks for', { ...agent, username: agentAccount }, 'request'],
  ['refuses what an agent asks for', { ...agent, username: 'system:wicd-node:win1' }, 'request'],
  ['ignores what users ask for in ways of their own', { ...agent, username: 'alice' }, 'ignore'],
  ['ignores what is asked of other signers', { ...client, signerName: 'example.com/other' }, 'ignore'],
  ['ignores what was decided already', { ...client, conditions: ['Denied'] }, 'ignore'],
];
for (const [title, base, want] of strangers) {
  test(`of what cannot be read ${title}`, () => expect(brief(decide(base, { requestText: 'x' }))).toBe(want));
}

test('a user who asks with an extension that we do not read is ignored', () => {
  const foreign = { ...agent, username: 'alice', signerName: signer.apiClient };
  expect(brief(decide(foreign, { ips: [[1, 2, 3, 4, 5]] }))).toBe('ignore');
});
