import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { type CsrContent, makeCsr } from '../../../../test/kit/csr.ts';
import { quiet, startLocalApi } from '../../../../test/kit/local-api.ts';
import { manualClock } from '../../../../test/kit/manual-clock.ts';
import { fromBase64, toBase64 } from '../../../base/bytes.ts';
import { certificateSigningRequests } from '../../../kube/resources.ts';
import { createAuthority } from '../auth/ca.ts';
import { listAt, textAt } from '../object.ts';
import type { LocalApi, StoredObject } from '../ports.ts';
import { createCertificateSigner } from './certificate-signer.ts';

const clock = manualClock(Date.UTC(2030, 0, 1));
const ca = createAuthority('signer', clock);
const authority = new X509Certificate(ca.certificate);
const start = () => startLocalApi([createCertificateSigner(ca)], clock);

const signer = (name: string) => `kubernetes.io/${name}`;
const client = ['digital signature', 'key encipherment', 'client auth'];
const serving = ['digital signature', 'key encipherment', 'server auth'];

const make = (
  api: LocalApi,
  spec: { signerName: string; usages: string[]; expirationSeconds?: number },
  content: CsrContent = {},
) =>
  api.create(certificateSigningRequests, {
    metadata: { name: 'r' },
    spec: { request: toBase64(makeCsr(content)), ...spec },
  } as never);
const find = (api: LocalApi) => api.get(certificateSigningRequests, { namespace: '', name: 'r' }) as StoredObject;
const judge = (api: LocalApi, type = 'Approved') => {
  const conditions = [...listAt(find(api), 'status.conditions'), { type, status: 'True', reason: 'Test' }];
  const judged = { ...find(api), status: { conditions } };
  api.replace(certificateSigningRequests, judged, { subresource: 'approval' });
};
const certificateOf = (api: LocalApi) => {
  const pem = fromBase64(textAt(find(api), 'status.certificate'));
  return pem === undefined || pem.length === 0 ? undefined : new X509Certificate(pem);
};
const conditionsOf = (api: LocalApi) =>
  listAt(find(api), 'status.conditions').map(condition => [
    textAt(condition, 'type'),
    textAt(condition, 'reason'),
    textAt(condition, 'message'),
  ]);

test('a request is signed once it is approved, and not before', async () => {
  await using api = await start();
  make(api, { signerName: signer('kube-apiserver-client-kubelet'), usages: client });
  await quiet(api);
  expect(certificateOf(api)).toBeUndefined();
  judge(api);
  await quiet(api);
  const certificate = certificateOf(api);
  expect(certificate?.subject).toBe('O=system:nodes\nCN=system:node:win1');
  expect(certificate?.verify(authority.publicKey)).toBe(true);
  expect(certificate?.keyUsage).toEqual(['1.3.6.1.5.5.7.3.2']);
  expect(certificate?.validToDate.getTime()).toBe(clock.now() + 365 * 24 * 3_600_000 - 300_000);
});

test('the requested lifetime is used', async () => {
  await using api = await start();
  make(api, { signerName: signer('kube-apiserver-client'), usages: ['client auth'], expirationSeconds: 3600 });
  judge(api);
  await quiet(api);
  expect(certificateOf(api)?.validToDate.getTime()).toBe(clock.now() + 3_600_000);
});

test('a denied request is not signed', async () => {
  await using api = await start();
  make(api, { signerName: signer('kube-apiserver-client'), usages: ['client auth'] });
  judge(api, 'Denied');
  await quiet(api);
  expect(certificateOf(api)).toBeUndefined();
});

test('a request for another signer is ignored', async () => {
  await using api = await start();
  make(api, { signerName: 'example.com/ours', usages: ['client auth'] });
  judge(api);
  await quiet(api);
  expect(certificateOf(api)).toBeUndefined();
  expect(conditionsOf(api)).toHaveLength(1);
});

test('an existing certificate is not replaced', async () => {
  await using api = await start();
  make(api, { signerName: signer('kube-apiserver-client'), usages: ['client auth'] });
  judge(api);
  await quiet(api);
  const { serialNumber } = certificateOf(api) ?? {};
  const labelled = { ...find(api), metadata: { ...find(api).metadata, labels: { a: 'b' } } };
  api.replace(certificateSigningRequests, labelled);
  await quiet(api);
  expect(certificateOf(api)?.serialNumber).toBe(serialNumber);
});

test('requests from before the start are signed', async () => {
  await using api = await startLocalApi([], clock);
  make(api, { signerName: signer('kube-apiserver-client'), usages: ['client auth'] });
  judge(api);
  const controller = createCertificateSigner(ca);
  controller.start(api);
  await quiet(api);
  controller.stop();
  expect(certificateOf(api)).toBeDefined();
});

const good: [string, string, string[], CsrContent][] = [
  ['a kubelet that serves', 'kubelet-serving', serving, { dnsNames: ['win1'], ips: [[10, 0, 0, 1]] }],
  ['a kubelet that serves under an address only', 'kubelet-serving', serving, { ips: [[10, 0, 0, 1]] }],
  ['usages in any order', 'kubelet-serving', serving.toReversed(), { dnsNames: ['win1'] }],
  ['a kubelet as a client', 'kube-apiserver-client-kubelet', client, {}],
  [
    'a user with the least usages',
    'kube-apiserver-client',
    ['client auth'],
    { commonNames: ['jane'], organizations: [] },
  ],
  ['a user with names', 'kube-apiserver-client', client, { commonNames: ['jane'], dnsNames: ['x'] }],
  [
    'anything under the old name',
    'legacy-unknown',
    ['server auth', 'code signing'],
    { commonNames: ['x'], uris: ['a://b'] },
  ],
];
test.each(good)('signs %s', async (_, name, usages, content) => {
  await using api = await start();
  make(api, { signerName: signer(name), usages }, content);
  judge(api);
  await quiet(api);
  expect(certificateOf(api)?.verify(authority.publicKey)).toBe(true);
  expect(conditionsOf(api).map(([type]) => type)).toEqual(['Approved']);
});

const dns = { dnsNames: ['win1'] };
const bad: [string, string, string[], CsrContent, string][] = [
  [
    'another organization',
    'kubelet-serving',
    serving,
    { ...dns, organizations: ['dev'] },
    'subject organization is not system:nodes',
  ],
  [
    'one organization more',
    'kubelet-serving',
    serving,
    { ...dns, organizations: ['system:nodes', 'x'] },
    'subject organization is not system:nodes',
  ],
  [
    'no organization',
    'kube-apiserver-client-kubelet',
    client,
    { organizations: [] },
    'subject organization is not system:nodes',
  ],
  ['a server without names', 'kubelet-serving', serving, {}, 'DNS or IP subjectAltName is required'],
  [
    'a server with mail',
    'kubelet-serving',
    serving,
    { ...dns, emails: ['a@b'] },
    'Email subjectAltNames are not allowed',
  ],
  [
    'a server with a URI',
    'kubelet-serving',
    serving,
    { ...dns, uris: ['a://b'] },
    'URI subjectAltNames are not allowed',
  ],
  [
    'a server with usages of a client',
    'kubelet-serving',
    client,
    dns,
    'usages did not match [digital signature key encipherment server auth]',
  ],
  [
    'a server with one usage less',
    'kubelet-serving',
    serving.slice(1),
    dns,
    'usages did not match [digital signature key encipherment server auth]',
  ],
  [
    'a server with one usage more',
    'kubelet-serving',
    [...serving, 'client auth'],
    dns,
    'usages did not match [digital signature key encipherment server auth]',
  ],
  [
    'a server that is no node',
    'kubelet-serving',
    serving,
    { ...dns, commonNames: ['jane'] },
    'subject common name does not begin with system:node:',
  ],
  ['a client with DNS names', 'kube-apiserver-client-kubelet', client, dns, 'DNS subjectAltNames are not allowed'],
  [
    'a client with mail',
    'kube-apiserver-client-kubelet',
    client,
    { emails: ['a@b'] },
    'Email subjectAltNames are not allowed',
  ],
  [
    'a client with addresses',
    'kube-apiserver-client-kubelet',
    client,
    { ips: [[1, 2, 3, 4]] },
    'IP subjectAltNames are not allowed',
  ],
  [
    'a client with a URI',
    'kube-apiserver-client-kubelet',
    client,
    { uris: ['a://b'] },
    'URI subjectAltNames are not allowed',
  ],
  [
    'a client that is no node',
    'kube-apiserver-client-kubelet',
    client,
    { commonNames: ['jane'] },
    'subject common name does not begin with system:node:',
  ],
  [
    'a client with usages of a server',
    'kube-apiserver-client-kubelet',
    serving,
    {},
    'usages did not match [client auth digital signature key encipherment]',
  ],
  [
    'a user as a server',
    'kube-apiserver-client',
    ['client auth', 'server auth'],
    {},
    'invalid usage for client certificate: server auth',
  ],
  [
    'a user who is no client',
    'kube-apiserver-client',
    ['digital signature'],
    {},
    'missing required usage for client certificate: client auth',
  ],
];
test.each(bad)('fails %s, for %s', async (...[, name, usages, content, message]) => {
  await using api = await start();
  make(api, { signerName: signer(name), usages }, content);
  judge(api);
  await quiet(api);
  expect(certificateOf(api)).toBeUndefined();
  expect(conditionsOf(api).slice(1)).toEqual([['Failed', 'SignerValidationFailure', message]]);
});

test('a request that failed is left alone', async () => {
  await using api = await start();
  make(api, { signerName: signer('kubelet-serving'), usages: serving });
  judge(api);
  await quiet(api);
  const { resourceVersion } = find(api).metadata;
  api.replace(certificateSigningRequests, find(api), { subresource: 'status' });
  await quiet(api);
  expect(find(api).metadata.resourceVersion).toBe(resourceVersion);
});
